/** A built Worker on this machine: Node and workerd in a process group of their own, which ends with the process that started it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { killGroup, type LocalServer, START_LIMIT, waitUntilReady } from "./local-server.ts";
import { ROOT } from "./paths.ts";
import { HOST } from "./port.ts";

export interface BuiltServer {
  /** Resolves when the server answers. Rejects when it ends before. */
  readonly ready: Promise<LocalServer>;
  /** Sends SIGKILL to all its processes at once, as a power failure would end them. */
  kill(): Promise<void>;
}

const report = z.object({ port: z.int() });

/** `directory` holds `index.js`, `worker.json`, `secrets.env` and `state`, and gets the server's log. `port` 0: any free one. */
export function spawnBuiltServer(directory: string, port: number): BuiltServer {
  const log = join(directory, "server.log");
  const output = openSync(log, "w");
  const host = ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "worker-host.ts"), directory, String(port)];
  // Miniflare's temporary files are in the same directory, so that they are removed with it after a kill.
  const env = { ...process.env, TMPDIR: directory };
  const child = spawn(process.execPath, host, { cwd: ROOT, detached: true, env, stdio: ["ignore", output, output, "ipc"] });
  closeSync(output);
  const exited = once(child, "exit").then(() => undefined);
  const kill = (): Promise<void> => {
    killGroup(child.pid);
    return exited;
  };
  const open = (taken: number): LocalServer => {
    const group = child.pid === undefined ? {} : { group: child.pid };
    return { url: `http://${HOST}:${taken}`, log, ...group, exited, stop: kill, kill };
  };
  return { ready: awaitReport(), kill };

  async function awaitReport(): Promise<LocalServer> {
    const late = delay(START_LIMIT, [null], { ref: false });
    const [message] = await Promise.race([once(child, "message"), exited.then(() => [null]), late]);
    const server = open(report.safeParse(message).data?.port ?? port);
    await waitUntilReady(server);
    return server;
  }
}
