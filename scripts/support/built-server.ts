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

export interface Host {
  /** Holds `index.js`, `worker.json`, `secrets.env` and `state`, and gets the server's log. */
  readonly directory: string;
  /** 0: any free one. */
  readonly port: number;
  /** The bytes of a file system of its own for its data, which ends with the server, in a namespace where its user may mount. Absent: none. */
  readonly room?: number;
}

/** Copies the data to a file system of so many bytes (`$2`) that is mounted in its place (`$1`), and becomes the server. */
const IN_ROOM = `cp -a "$1" "$1.kept" && mount -t tmpfs -o "size=$2" tmpfs "$1" && cp -a "$1.kept/." "$1" && shift 2 && exec "$@"`;

function toCommand({ directory, room }: Host, args: readonly string[]): readonly [string, readonly string[]] {
  if (room === undefined) return [process.execPath, args];
  return ["unshare", ["-rm", "sh", "-c", IN_ROOM, "sh", join(directory, "state"), String(room), process.execPath, ...args]];
}

export function spawnBuiltServer(given: Host): BuiltServer {
  const { directory, port } = given;
  const log = join(directory, "server.log");
  const output = openSync(log, "w");
  const host = ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "worker-host.ts"), directory, String(port)];
  // Miniflare's temporary files are in the same directory, so that they are removed with it after a kill.
  const env = { ...process.env, TMPDIR: directory };
  const [command, args] = toCommand(given, host);
  const child = spawn(command, args, { cwd: ROOT, detached: true, env, stdio: ["ignore", output, output, "ipc"] });
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
