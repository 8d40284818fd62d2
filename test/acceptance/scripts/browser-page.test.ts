/**
 * The page and the server of docs/api/browser-page.md in a real browser, against a running backend: `EventSource`, `fetch`, preflights
 * and refusals as a browser sees them. Skipped where Chromium is not installed.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callApi } from "../../../scripts/support/api-client";
import { writeConnection } from "../../../scripts/support/connection";
import { findFreePort } from "../../../scripts/support/port";
import { openTenant } from "../../support/shared-server";

const MINUTES = 60_000;
const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];
const browser = BROWSERS.find((name) => spawnSync(name, ["--version"]).status === 0);
const text = readFileSync(join(import.meta.dirname, "..", "..", "..", "docs", "api", "browser-page.md"), "utf8");
const readBlock = (language: string): string => new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(text)?.[1] ?? "";

let site: Site;

/** What a page sends about itself: the texts of its reports, in order. */
class Reports {
  readonly #server: Server;
  readonly #seen: string[] = [];
  #wake: () => void = () => undefined;

  constructor() {
    this.#server = createServer(async (request, response) => {
      let report = "";
      for await (const chunk of request) report += String(chunk);
      this.#seen.push(report);
      this.#wake();
      response.end();
    });
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  async until(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = this.#seen.find((report) => pattern.test(report));
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

class Site {
  readonly folder = mkdtempSync(join(tmpdir(), "longhand-site-"));
  readonly reports = new Reports();
  readonly #children: ChildProcess[] = [];
  port = 0;

  /** Serves the documented page with `driver`, which does what a person would, added at its end. */
  async start(driver: string): Promise<void> {
    const [port, reportPort] = [await findFreePort(), await findFreePort()];
    this.port = port;
    await this.reports.listen(reportPort);
    const connection = await openTenant();
    const body = { allowed_origins: [`http://localhost:${port}`] };
    await callApi(connection, { method: "PATCH", path: "/v1/tenant", body });
    writeConnection(connection, join(this.folder, ".longhand", "dev.json"));
    writeFileSync(join(this.folder, "chat.mjs"), readBlock("js"));
    const report = `const report = (body) => fetch("http://127.0.0.1:${reportPort}/", { method: "POST", mode: "no-cors", body });`;
    writeFileSync(join(this.folder, "chat.html"), `${readBlock("html")}<script type="module">${report}\n${driver}</script>`);
    const server = this.#spawn(process.execPath, ["chat.mjs"], { PORT: String(port) });
    await waitForServer(server, port);
  }

  open(host: string): void {
    const profile = join(this.folder, `profile-${host}`);
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", `--user-data-dir=${profile}`];
    this.#spawn(browser ?? "", [...flags, `http://${host}:${this.port}/`]);
  }

  #spawn(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const child = spawn(command, args, { cwd: this.folder, env: { ...process.env, ...env }, stdio: "ignore", detached: true });
    this.#children.push(child);
    return child;
  }

  async close(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.pid === undefined) continue;
      process.kill(-child.pid, "SIGKILL");
      await once(child, "close");
    }
    this.reports.close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function waitForServer(server: ChildProcess, port: number): Promise<void> {
  while (server.exitCode === null) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
    if (answer?.ok) return;
  }
  throw new Error("The documented server ended");
}

const DRIVER = `
  const form = document.querySelector("form");
  const chat = document.querySelector("#chat");
  form.text.value = "旅行: what is 2 + 2?";
  new MutationObserver(() => report("chat: " + chat.textContent)).observe(chat, { childList: true, characterData: true, subtree: true });
  form.requestSubmit();
  const access = await (await fetch("/token", { method: "POST" })).json();
  const path = access.url + "/v1/sessions/" + access.session;
  const headers = { authorization: "Bearer " + access.token, "if-match": "x" };
  const say = async (name, answer) => {
    const { status = 200, type = "none", title } = await answer.json();
    report([name, status, type.split(":").at(-1), answer.headers.get("x-request-id") ? "with its id" : "without its id"].join(" "));
  };
  await say("own:", await fetch(path, { headers }));
  await say("settings:", await fetch(path, { method: "PATCH", headers: { ...headers, "content-type": "application/json" }, body: "{}" }));
  await say("forged:", await fetch(path, { headers: { authorization: "Bearer " + access.token + "x" } }));
  const refused = new EventSource(path + "/stream?token=forged.to.ken");
  refused.onerror = () => report("refused stream: " + (refused.readyState === EventSource.CLOSED ? "closed" : "tries again"));
`;

beforeAll(async () => {
  if (browser === undefined) return;
  site = new Site();
  await site.start(DRIVER);
  site.open("localhost");
}, 2 * MINUTES);

afterAll(() => site?.close());

describe.skipIf(browser === undefined)("the page of docs/api/browser-page.md in a browser", () => {
  test(
    "sends a message and shows its streamed answer",
    async () => {
      const answered = await site.reports.until(/^chat: .+\n.+\n$/s);

      expect(answered).toMatch(/^chat: > 旅行: what is 2 \+ 2\?\n[^>]+\n$/);
    },
    MINUTES,
  );

  test(
    "reads its session, and reads why it is refused what is beyond its token",
    async () => {
      expect(await site.reports.until(/own:/)).toBe("own: 200 none with its id");
      expect(await site.reports.until(/settings:/)).toBe("settings: 403 key_required with its id");
      expect(await site.reports.until(/forged:/)).toBe("forged: 401 unauthorized with its id");
    },
    MINUTES,
  );

  test(
    "whose stream is refused does not try for ever",
    async () => {
      expect(await site.reports.until(/refused stream:/)).toBe("refused stream: closed");
    },
    MINUTES,
  );

  test(
    "on another origin is refused, and reads why",
    async () => {
      site.open("127.0.0.1");

      expect(await site.reports.until(/origin_not_allowed/)).toBe("own: 403 origin_not_allowed with its id");
    },
    MINUTES,
  );
});
