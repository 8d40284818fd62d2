/** A separate backend for one run of a script, with its own copy of the built Worker, data, secrets and port. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBuiltWorker } from "./built-worker.ts";
import { type LocalServer, type LocalServerOptions, spawnLocalServer, waitUntilReady } from "./local-server.ts";
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

/**
 * `variables`: further configuration of the Worker, including secrets. They are in a file that only this user may read,
 * and that is removed with the sandbox.
 */
export async function createSandbox(variables: Readonly<Record<string, string>> = {}): Promise<Sandbox> {
  const directory = mkdtempSync(join(tmpdir(), "longhand-"));
  try {
    const secrets = join(directory, "secrets.env");
    const state = join(directory, "state");
    ensureSecrets(secrets);
    // All variables. The last of a name counts, so none of wrangler.toml's `[vars]` remains.
    appendSecrets(secrets, { ...PLAIN_VARIABLES, ...readSecrets(secrets), ...variables });
    const bundle = join(directory, "bundle");
    const built = await findBuiltWorker();
    // Copies, so that a start needs no build and later edits have no effect.
    cpSync(built.bundle, bundle, { recursive: true });
    cpSync(built.state, state, { recursive: true });
    const options = { port: await findFreePort(), state, secrets, log: join(directory, "server.log"), bundle: join(bundle, "index.js") };
    return openSandbox(directory, options, readAdminKey(secrets));
  } catch (error) {
    remove(directory);
    throw error;
  }
}

const remove = (directory: string): void => rmSync(directory, { recursive: true, force: true, maxRetries: 3 });

function openSandbox(directory: string, options: LocalServerOptions, adminKey: string): Sandbox {
  let server: LocalServer | null = null;
  return {
    adminKey,
    state: options.state,
    async start() {
      const started = spawnLocalServer(options);
      server = started;
      await waitUntilReady(started).catch(async (error: unknown) => {
        await started.kill();
        throw error;
      });
      return started;
    },
    async close() {
      await server?.stop();
      remove(directory);
    },
  };
}
