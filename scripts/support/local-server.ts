/** The backend of `npm start`: `wrangler dev` in its own process group, which builds `src` again whenever it changes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { Failure } from "./output.ts";
import { ROOT } from "./paths.ts";
import { HOST } from "./port.ts";
import { readSecrets } from "./secrets.ts";

export interface LocalServerOptions {
  readonly port: number;
  /** Directory of the data of the objects and of D1. */
  readonly state: string;
  /** File with secrets, in `.dev.vars` format. */
  readonly secrets: string;
  /** File for all output of the runtime. It is emptied first, unless it is to be kept. */
  readonly log: string;
  readonly keepLog?: boolean;
}

export interface LocalServer {
  readonly url: string;
  readonly log: string;
  /** Id of the process group of all its processes. Absent when none was started. */
  readonly group?: number;
  /** Resolves when the server's processes were told to end, by this script or by themselves. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
  /** Sends SIGKILL to all its processes at once, as a power failure would end them. */
  kill(): Promise<void>;
}

/** Maximum duration of a start in milliseconds. It is generous, because a cold machine builds the Worker first. */
export const START_LIMIT = 60_000;
const POLL = 50;
const HEALTH_LIMIT = 5_000;

/** The server's processes, which may not answer yet. */
export function spawnLocalServer(options: LocalServerOptions): LocalServer {
  const log = openSync(options.log, options.keepLog ? "a" : "w");
  // Wrangler would keep every request's URL beside the data. A URL can hold what a client looks for, and no erasure finds it there.
  const env = { ...process.env, X_LOCAL_OBSERVABILITY: "false" };
  const child = spawn(process.execPath, supervisorArguments(options), { cwd: ROOT, detached: true, env, stdio: ["pipe", log, log] });
  closeSync(log);
  const exited = once(child, "exit").then(() => undefined);
  return {
    url: `http://${HOST}:${options.port}`,
    log: options.log,
    ...(child.pid === undefined ? {} : { group: child.pid }),
    exited,
    stop: () => {
      child.stdin?.end();
      return exited;
    },
    kill: () => {
      killGroup(child.pid);
      return exited;
    },
  };
}

/**
 * Resolves when the server answers `GET /healthz`. Throws a `Failure` when it does not: with the server's report of its
 * invalid configuration as soon as there is one, otherwise with the end of its log.
 */
export async function waitUntilReady(server: LocalServer): Promise<void> {
  let gone = false;
  void server.exited.then(() => {
    gone = true;
  });
  const deadline = Date.now() + START_LIMIT;
  while (!gone && Date.now() < deadline) {
    const health = await readHealth(server.url, HEALTH_LIMIT);
    if (health.up) return;
    if (health.cause !== null) throw new Failure(`The server's configuration is wrong. ${health.cause}`);
    await delay(POLL);
  }
  throw new Failure(`The server did not start. The end of ${server.log}:\n${readTail(server.log)}`);
}

function supervisorArguments(options: LocalServerOptions): string[] {
  const supervisor = ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "supervisor.ts")];
  // The file is named explicitly, because Wrangler searches for it beside the bundle.
  const config = ["--config", join(ROOT, "wrangler.toml")];
  const where = ["--ip", HOST, "--port", String(options.port), "--inspector-port", "0", "--persist-to", options.state];
  const how = ["--env-file", options.secrets, "--show-interactive-dev-session=false"];
  // A file that was written by hand may name no environment. The default must not apply, because a server on this machine never creates production keys.
  const environment = readSecrets(options.secrets).ENVIRONMENT === undefined ? ["--var", "ENVIRONMENT:dev"] : [];
  return [...supervisor, "dev", ...config, ...where, ...how, ...environment];
}

/** Sends SIGKILL to all processes of a group. `leader`: the child's id. Undefined: it was never started. */
export function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

interface Health {
  readonly up: boolean;
  /** The server's report of its invalid configuration. Null when there is none. */
  readonly cause: string | null;
}

const misconfigured = z.object({ type: z.literal("urn:longhand:problem:misconfigured"), detail: z.string() });

const DOWN: Health = { up: false, cause: null };

/** Never waits longer than `limit`. It has its own timer, because a signal of `AbortSignal.timeout` did not end every request. */
async function readHealth(url: string, limit: number): Promise<Health> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(() => resolve(DOWN), limit);
  });
  try {
    return await Promise.race([askHealth(url, controller.signal), late]);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

async function askHealth(url: string, signal: AbortSignal): Promise<Health> {
  try {
    const response = await fetch(`${url}/healthz`, { signal });
    const text = await response.text();
    if (response.ok) return { up: true, cause: null };
    const said = misconfigured.safeParse(JSON.parse(text));
    return { up: false, cause: said.success ? said.data.detail : null };
  } catch {
    return DOWN;
  }
}

/** Whether a Longhand server answers at `url` within `limit` milliseconds. */
export async function isHealthy(url: string, limit = HEALTH_LIMIT): Promise<boolean> {
  return (await readHealth(url, Math.ceil(limit))).up;
}

export function readTail(path: string, lines = 20): string {
  return readFileSync(path, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
}
