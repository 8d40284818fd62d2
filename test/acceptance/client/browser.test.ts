/** The built client in a page of another origin, in a real browser. Skipped where Chromium is not installed. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Longhand } from "../../../packages/client/src/client.ts";
import { bundleClient } from "../../../scripts/client/build";
import { openTenant } from "../../support/shared-server";

const MINUTES = 60_000;
const browser = ["chromium", "chromium-browser", "google-chrome"].find((name) => spawnSync(name, ["--version"]).status === 0);

let folder: string;
let site: Server;
let child: ChildProcess | null = null;
const report = Promise.withResolvers<string>();

/** What a page does with a token for one session. Its report is one line for each step. */
const buildPage = (url: string, key: string, session: string): string => `<!doctype html><meta charset="utf-8"><script type="module">
  import { Longhand, LonghandError } from "/client.js";
  const said = [];
  try {
    const longhand = new Longhand({ url: ${JSON.stringify(url)}, key: ${JSON.stringify(key)} });
    const path = { session_id: ${JSON.stringify(session)} };
    const turn = await longhand.send(path.session_id, "你好: my dog is called Rex.");
    said.push(turn.status);
    for await (const { role } of longhand.list("/v1/sessions/{session_id}/messages", { path, query: { limit: 1 } })) said.push(role);
    const { etag } = await longhand.request("GET", "/v1/sessions/{session_id}", { path });
    said.push(etag === null ? "without an etag" : "with an etag");
    const error = await longhand.patch("/v1/sessions/{session_id}", { path, body: {}, ifMatch: etag }).catch((thrown) => thrown);
    said.push(error instanceof LonghandError ? error.code : String(error), error.requestId ? "with its id" : "without its id");
  } catch (error) {
    said.push(String(error));
  }
  await fetch("/report", { method: "POST", body: said.join("\\n") });
</script>`;

beforeAll(async () => {
  if (browser === undefined) return;
  folder = mkdtempSync(join(tmpdir(), "longhand-page-"));
  const { url, key } = await openTenant();
  const longhand = new Longhand({ url, key });
  const { id } = await longhand.post("/v1/sessions");
  const { token } = await longhand.post("/v1/tokens", { body: { session_id: id } });
  const code = await bundleClient();
  const page = buildPage(url, token, id);
  site = createServer(async (request, response) => {
    if (request.url === "/report") report.resolve(await text(request));
    const isScript = request.url === "/client.js";
    response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" }).end(isScript ? code : page);
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  const address = site.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  await longhand.patch("/v1/tenant", { body: { allowed_origins: [`http://127.0.0.1:${port}`] } });
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", `--user-data-dir=${folder}`];
  child = spawn(browser, [...flags, `http://127.0.0.1:${port}/`], { stdio: "ignore", detached: true });
}, 2 * MINUTES);

afterAll(async () => {
  if (child?.pid !== undefined && child.exitCode === null) {
    process.kill(-child.pid, "SIGKILL");
    await once(child, "close");
  }
  site?.close();
  site?.closeAllConnections();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

test.skipIf(browser === undefined)(
  "a page of another origin talks with a token, and reads etags and why it is refused",
  async () => {
    expect((await report.promise).split("\n")).toEqual(["completed", "user", "assistant", "with an etag", "key_required", "with its id"]);
  },
  2 * MINUTES,
);
