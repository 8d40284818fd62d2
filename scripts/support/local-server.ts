/** The backend on this machine, in workerd, in a process group of its own. */
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
  /** Directory of the objects' and D1's data. */
  readonly state: string;
  /** File of secrets, in `.dev.vars` format. */
  readonly secrets: string;
  /** File that gets everything the runtime says; emptied first, unless it is to be kept. */
  readonly log: string;
  readonly keepLog?: boolean;
  /** A built Worker, run as it is; absent: `src` is built, and again whenever it changes. */
  readonly bundle?: string;
}

export interface LocalServer {
  readonly url: string;
  readonly log: string;
  /** Id of the process group that all its processes are in; absent: none was started. */
  readonly group?: number;
  /** Resolves when every process of it has been told to end, by us or by itself. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
  /** Kill -9 of every process of it at once: what a power cut does. */
  kill(): Promise<void>;
}

/** Milliseconds that a start may take: generous, because a cold machine builds the Worker first. */
const START_LIMIT = 60_000;
const POLL = 50;
const HEALTH_LIMIT = 5_000;

/** The server's processes, which may not answer yet. */
export function spawnLocalServer(options: LocalServerOptions): LocalServer {
  const log = openSync(options.log, options.keepLog ? "a" : "w");
  const child = spawn(process.execPath, supervisorArguments(options), { cwd: ROOT, detached: true, stdio: ["pipe", log, log] });
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
      if (child.pid !== undefined) killGroup(child.pid);
      return exited;
    },
  };
}

/**
 * Resolves when the server answers `GET /healthz`. Throws a `Failure` when it does not: with what it says is wrong with its
 * configuration as soon as it says so, else with the end of its log.
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
  const source = options.bundle === undefined ? [] : [options.bundle, "--no-bundle"];
  // Named, because Wrangler looks for it beside the bundle.
  const config = ["--config", join(ROOT, "wrangler.toml")];
  const where = ["--ip", HOST, "--port", String(options.port), "--inspector-port", "0", "--persist-to", options.state];
  const how = ["--env-file", options.secrets, "--show-interactive-dev-session=false"];
  // A file from before it named one: no server on this machine makes production's keys.
  const environment = readSecrets(options.secrets).ENVIRONMENT === undefined ? ["--var", "ENVIRONMENT:dev"] : [];
  return [...supervisor, "dev", ...source, ...config, ...where, ...how, ...environment];
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

interface Health {
  readonly up: boolean;
  /** What the server says is wrong with its configuration; null: it does not say that. */
  readonly cause: string | null;
}

const misconfigured = z.object({ type: z.literal("urn:longhand:problem:misconfigured"), detail: z.string() });

const DOWN: Health = { up: false, cause: null };

/** Never waits longer than `limit`: a timer of its own decides, since a signal made by `AbortSignal.timeout` did not end every request. */
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

/** Whether a Longhand server answers at `url`, within so many milliseconds. */
export async function isHealthy(url: string, limit = HEALTH_LIMIT): Promise<boolean> {
  return (await readHealth(url, Math.ceil(limit))).up;
}

export function readTail(path: string, lines = 20): string {
  return readFileSync(path, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
}
