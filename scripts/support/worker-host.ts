/**
 * Runs a built Worker by Miniflare's own API, which starts one workerd. `wrangler dev` would start another workerd as a proxy before it, and
 * a server of esbuild, which takes twice the CPU time. Started as the leader of its own process group by scripts/support/built-server.ts;
 * arguments: the server's directory and its port. It reports the port when the Worker is ready, and ends with its parent.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptionsShape } from "miniflare";
import { HOST } from "./port.ts";
import { readSecrets } from "./secrets.ts";

/** Maximum time for Miniflare to stop by itself, in milliseconds. */
const GRACE = 3000;

const [directory = "", port = "0"] = process.argv.slice(2);
const inDirectory = (...names: readonly string[]): string => join(directory, ...names);

const worker: V4WorkerOptionsShape = JSON.parse(readFileSync(inDirectory("worker.json"), "utf8"));
const bindings = Object.fromEntries(Object.entries(readSecrets(inDirectory("secrets.env"))).map(([name, value = ""]) => [name, value]));

const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    host: HOST,
    port: Number(port),
    cf: false,
    logRequests: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.WARN),
    handleStructuredLogs: ({ message }) => process.stdout.write(`${message}\n`),
    resourcePersistencePath: inDirectory("state", "v3"),
    resourceTmpPath: inDirectory("tmp"),
    workers: [
      { ...worker, name: "longhand", bindings, modulesRoot: directory, modules: [{ type: "ESModule", path: inDirectory("index.js") }] },
    ],
  }),
);

let isEnding = false;

/** The parent has ended, so nothing else removes the directory. */
async function end(): Promise<void> {
  isEnding = true;
  setTimeout(endGroup, GRACE);
  await miniflare.dispose();
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  endGroup();
}

function endGroup(): void {
  process.kill(-process.pid, "SIGKILL");
}

process.on("disconnect", () => void end().catch(endGroup));
try {
  const { port: taken } = await miniflare.ready;
  process.send?.({ port: Number(taken) });
} catch (error) {
  // A parent that ends during the start disposes of Miniflare, whose start then fails. `end` still removes the directory.
  if (!isEnding) {
    process.stderr.write(`${error}\n`);
    endGroup();
  }
}
