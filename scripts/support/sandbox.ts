/** A separate backend for one run of a script, with its own copy of the built Worker, data, secrets and port. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BuiltServer, type Host, spawnBuiltServer } from "./built-server.ts";
import { findBuiltWorker } from "./built-worker.ts";
import type { LocalServer } from "./local-server.ts";
import { findFreePort } from "./port.ts";
import { appendSecrets, ensureSecrets, readAdminKey, readSecrets } from "./secrets.ts";
import { PLAIN_VARIABLES } from "./variables.ts";

export interface Sandbox {
  readonly adminKey: string;
  /** The directory of its data. */
  readonly state: string;
  /** Starts the server on the same port and data each time, and resolves when it is ready. One that does not become ready is killed. The previous one must have ended. */
  start(): Promise<LocalServer>;
  /** Stops the server and removes all of it. */
  close(): Promise<void>;
}

export interface SandboxOptions {
  /** Further configuration of the Worker, including secrets. They are in a file that only this user may read, and that is removed with the sandbox. */
  readonly variables?: Readonly<Record<string, string>>;
  /** 0: any free port, a new one at each start. Default: a port that stays the same. */
  readonly port?: number;
  /** The bytes of a file system of its own for its data, which ends with the server. Absent: the data outlive it. */
  readonly room?: number;
}

export async function createSandbox({ variables = {}, port, room }: SandboxOptions = {}): Promise<Sandbox> {
  const directory = mkdtempSync(join(tmpdir(), "longhand-"));
  try {
    const secrets = join(directory, "secrets.env");
    ensureSecrets(secrets);
    // All variables. The last of a name counts, so none of wrangler.toml's `[vars]` remains.
    appendSecrets(secrets, { ...PLAIN_VARIABLES, ...readSecrets(secrets), ...variables });
    const built = await findBuiltWorker();
    // Copies, so that a start needs no build and later edits have no effect.
    cpSync(join(built.bundle, "index.js"), join(directory, "index.js"));
    cpSync(built.worker, join(directory, "worker.json"));
    cpSync(built.state, join(directory, "state"), { recursive: true });
    const host = { directory, port: port ?? (await findFreePort()), ...(room !== undefined && { room }) };
    return openSandbox(host, readAdminKey(secrets));
  } catch (error) {
    remove(directory);
    throw error;
  }
}

const remove = (directory: string): void => rmSync(directory, { recursive: true, force: true, maxRetries: 3 });

function openSandbox(host: Host, adminKey: string): Sandbox {
  const { directory } = host;
  let server: BuiltServer | null = null;
  return {
    adminKey,
    state: join(directory, "state"),
    async start() {
      const spawned = spawnBuiltServer(host);
      server = spawned;
      return spawned.ready.catch(async (error: unknown) => {
        await spawned.kill();
        throw error;
      });
    },
    async close() {
      await server?.kill();
      remove(directory);
    },
  };
}
