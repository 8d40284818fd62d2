/** The same program with the client's bundle in each JavaScript runtime, against a running backend whose streams are cut behind every event. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { z } from "zod";
import { behindEvent, CuttingProxy } from "../../test/client/cutting-proxy.ts";
import { callApi } from "../support/api-client.ts";
import { type Backend, startBackend } from "../support/backend.ts";
import { Failure } from "../support/output.ts";
import { HOST } from "../support/port.ts";
import { bundleClient } from "./build.ts";

export const RUNTIMES = ["node", "deno", "bun", "browser", "worker"] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** Where each program is, for those that are not on the PATH. */
export type Commands = Readonly<Partial<Record<Runtime, string>>>;

const DEFAULTS: Readonly<Record<"node" | "deno" | "bun", string>> = { node: process.execPath, deno: "deno", bun: "bun" };
const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];
const COMPATIBILITY_DATE = "2026-10-23";

/** The command that starts a runtime on this machine. Null: it is not installed. Workers need none, because workerd is a dependency. */
export function findRuntime(runtime: Runtime, commands: Commands = {}): string | null {
  if (runtime === "worker") return "workerd";
  const given = commands[runtime];
  const names = given !== undefined ? [given] : runtime === "browser" ? BROWSERS : [DEFAULTS[runtime]];
  return names.find((name) => spawnSync(name, ["--version"]).status === 0) ?? null;
}

const outcome = z.object({
  offsets: z.array(z.number()),
  text: z.string(),
  output: z.string(),
  status: z.string(),
  results: z.array(z.string()),
  roles: z.array(z.string()),
});
type Outcome = z.infer<typeof outcome>;

export interface Report extends Outcome {
  /** How many connections were cut. */
  readonly cuts: number;
  readonly ms: number;
}

interface Input {
  readonly url: string;
  readonly key: string;
  readonly session: string;
}

const MAIN = `import { Longhand } from "./client.js";
import { talk } from "./program.js";
`;
const COMMAND = `${MAIN}const args = globalThis.Deno ? Deno.args : process.argv.slice(2);
console.log(JSON.stringify(await talk({ Longhand, ...JSON.parse(args[0]) })));
`;
const WORKER = `${MAIN}export default {
  async fetch(request) {
    return Response.json(await talk({ Longhand, ...(await request.json()) }));
  },
};
`;
const PAGE = `<!doctype html><script type="module">
${MAIN}const input = await (await fetch("/input")).json();
const report = await talk({ Longhand, ...input }).catch((error) => ({ failed: String(error) }));
await fetch("/report", { method: "POST", body: JSON.stringify(report) });
</script>`;

/** A backend, a proxy in front of it that cuts, and a folder with the client and the program. */
export class RuntimeBench {
  readonly #backend: Backend;
  readonly #proxy: CuttingProxy;
  readonly #folder: string;

  private constructor(parts: { backend: Backend; proxy: CuttingProxy; folder: string }) {
    this.#backend = parts.backend;
    this.#proxy = parts.proxy;
    this.#folder = parts.folder;
  }

  static async open(): Promise<RuntimeBench> {
    const folder = mkdtempSync(join(tmpdir(), "longhand-runtimes-"));
    const program = readFileSync(join(import.meta.dirname, "program.js"), "utf8");
    const files = { "client.js": await bundleClient(), "program.js": program, "main.js": COMMAND, "package.json": '{"type": "module"}' };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const backend = await startBackend();
    const proxy = await CuttingProxy.start(backend.connection.url);
    return new RuntimeBench({ backend, proxy, folder });
  }

  /** Runs the program in `runtime`, which `command` starts, with an access token of a session of its own. */
  async run(runtime: Runtime, command: string): Promise<Report> {
    const { connection } = this.#backend;
    const tools = [{ name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } }];
    const opened = await callApi(connection, { method: "POST", path: "/v1/sessions", body: { tools } });
    const { id: session } = z.object({ id: z.string() }).parse(opened);
    const made = await callApi(connection, { method: "POST", path: "/v1/tokens", body: { session_id: session } });
    const { token } = z.object({ token: z.string() }).parse(made);
    this.#proxy.plan(() => behindEvent(1));
    const began = performance.now();
    const input = { url: this.#proxy.url, key: token, session };
    const done = await this.#start(runtime, command, input);
    return { ...outcome.parse(done), cuts: this.#proxy.cuts, ms: Math.round(performance.now() - began) };
  }

  #start(runtime: Runtime, command: string, input: Input): Promise<unknown> {
    switch (runtime) {
      case "worker":
        return this.#runWorker(input);
      case "browser":
        return this.#runBrowser(command, input);
      case "deno":
        return this.#runCommand(command, ["run", "--allow-net", "main.js"], input);
      case "node":
      case "bun":
        return this.#runCommand(command, ["main.js"], input);
    }
  }

  async #runCommand(command: string, args: readonly string[], input: Input): Promise<unknown> {
    const child = spawn(command, [...args, JSON.stringify(input)], { cwd: this.#folder, stdio: ["ignore", "pipe", "pipe"] });
    const [output, faults] = await Promise.all([readAll(child.stdout), readAll(child.stderr), once(child, "close")]);
    if (child.exitCode !== 0) throw new Failure(`${command} ended with ${child.exitCode}:\n${faults}`);
    return JSON.parse(output);
  }

  async #runWorker(input: Input): Promise<unknown> {
    const files = ["client.js", "program.js"].map((path) => ({
      type: "ESModule" as const,
      path,
      contents: readFileSync(join(this.#folder, path), "utf8"),
    }));
    const modules = [{ type: "ESModule" as const, path: "main.js", contents: WORKER }, ...files];
    const options = { log: new Log(LogLevel.NONE), cf: false as const, compatibilityDate: COMPATIBILITY_DATE, modules };
    const miniflare = new Miniflare(convertV4MiniflareOptions(options));
    try {
      const response = await miniflare.dispatchFetch("http://worker/", { method: "POST", body: JSON.stringify(input) });
      if (!response.ok) throw new Failure(`The Worker answered ${response.status}: ${await response.text()}`);
      return await response.json();
    } finally {
      await miniflare.dispose();
    }
  }

  async #runBrowser(command: string, input: Input): Promise<unknown> {
    const reported = Promise.withResolvers<string>();
    const server = createServer(async (request, response) => {
      const name = (request.url ?? "/").slice(1);
      if (name === "report") {
        reported.resolve(await readAll(request));
        response.end();
      } else if (name === "input") response.end(JSON.stringify(input));
      else if (name === "") response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(PAGE);
      else if (name === "client.js" || name === "program.js") {
        response.writeHead(200, { "content-type": "text/javascript; charset=utf-8" }).end(readFileSync(join(this.#folder, name)));
      } else response.writeHead(404).end();
    });
    server.listen(0, HOST);
    await once(server, "listening");
    const origin = `http://${HOST}:${(server.address() as AddressInfo).port}`;
    await callApi(this.#backend.connection, { method: "PATCH", path: "/v1/tenant", body: { allowed_origins: [origin] } });
    const browser = openBrowser(command, { origin, profile: join(this.#folder, "profile") });
    try {
      return JSON.parse(await reported.promise);
    } finally {
      await endGroup(browser);
      server.close();
      server.closeAllConnections();
    }
  }

  async close(): Promise<void> {
    this.#proxy.close();
    await this.#backend.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function openBrowser(command: string, { origin, profile }: { readonly origin: string; readonly profile: string }): ChildProcess {
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", `--user-data-dir=${profile}`];
  return spawn(command, [...flags, `${origin}/`], { stdio: "ignore", detached: true });
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  process.kill(-child.pid, "SIGKILL");
  await once(child, "close");
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
