/** The backend on this machine, in workerd, in a process group of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "./output.ts";
import { ROOT } from "./paths.ts";
import { HOST } from "./port.ts";

export interface LocalServerOptions {
  readonly port: number;
  /** Directory of the objects' and D1's data. */
  readonly state: string;
  /** File of secrets, in `.dev.vars` format. */
  readonly secrets: string;
  /** File that gets everything the runtime says; emptied first. */
  readonly log: string;
  /** A built Worker, run as it is; absent: `src` is built, and again whenever it changes. */
  readonly bundle?: string;
}

export interface LocalServer {
  readonly url: string;
  readonly log: string;
  /** Resolves when every process of it has been told to end, by us or by itself. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
  /** Kill -9 of every process of it at once: what a power cut does. */
  kill(): Promise<void>;
}

/** Milliseconds that a start may take: generous, because a cold machine builds the Worker first. */
const START_LIMIT = 60_000;
const POLL = 50;

/** The server's processes, which may not answer yet. */
export function spawnLocalServer(options: LocalServerOptions): LocalServer {
  const log = openSync(options.log, "w");
  const child = spawn(process.execPath, supervisorArguments(options), { cwd: ROOT, detached: true, stdio: ["pipe", log, log] });
  closeSync(log);
  const exited = once(child, "exit").then(() => undefined);
  return {
    url: `http://${HOST}:${options.port}`,
    log: options.log,
    exited,
    stop: () => {
      child.stdin?.end();
      return exited;
    },
    kill: () => {
      if (child.pid !== undefined) killGroup(child.pid);
      return exited;
    },
  };
}

/** Resolves when the server answers `GET /healthz`. Throws a `Failure` with the end of its log when it does not. */
export async function waitUntilReady(server: LocalServer): Promise<void> {
  let gone = false;
  void server.exited.then(() => {
    gone = true;
  });
  const deadline = Date.now() + START_LIMIT;
  while (!gone && Date.now() < deadline) {
    if (await isHealthy(server.url)) return;
    await delay(POLL);
  }
  throw new Failure(`The server did not start. The end of ${server.log}:\n${readTail(server.log)}`);
}

function supervisorArguments(options: LocalServerOptions): string[] {
  const supervisor = ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "supervisor.ts")];
  const source = options.bundle === undefined ? [] : [options.bundle, "--no-bundle"];
  // Named, because Wrangler looks for it beside the bundle.
  const config = ["--config", join(ROOT, "wrangler.toml")];
  const where = ["--ip", HOST, "--port", String(options.port), "--inspector-port", "0", "--persist-to", options.state];
  const how = ["--env-file", options.secrets, "--show-interactive-dev-session=false"];
  return [...supervisor, "dev", ...source, ...config, ...where, ...how];
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Whether a Longhand server answers at `url`. */
export async function isHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

export function readTail(path: string, lines = 20): string {
  return readFileSync(path, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
}
