/** The backend that a script uses: a running server, or its own server for the duration of the run. */
import type { Connection } from "./api-client.ts";
import { createTenant, readConnection } from "./connection.ts";
import { isHealthy } from "./local-server.ts";
import { Failure, say } from "./output.ts";
import { createSandbox } from "./sandbox.ts";

export interface Backend {
  readonly connection: Connection;
  /** Stops a server that was started for this run. A server that was already running continues. */
  close(): Promise<void>;
}

export interface BackendChoice {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  /** Starts its own server, whether or not another one is running. */
  readonly sandbox: boolean;
}

/** `url` and `key` take precedence over `.longhand/dev.json`. If no server answers there, one is started in a sandbox. */
export async function openBackend(given: BackendChoice): Promise<Backend> {
  if (given.sandbox) return startBackend();
  const known = readConnection();
  const url = given.url ?? known?.url;
  if (url !== undefined && (await isHealthy(url))) {
    const key = given.key ?? known?.key;
    if (key === undefined) throw new Failure(`A server answers at ${url}, but there is no key for it: give one with --key`);
    return { connection: { url, key }, close: async () => undefined };
  }
  if (given.url !== undefined) throw new Failure(`No server answers at ${given.url}`);
  return startBackend();
}

/** Starts a server in a sandbox, with `variables` in addition to those of a local server. */
export async function startBackend(variables: Readonly<Record<string, string>> = {}): Promise<Backend> {
  say("Starting a server for this run …");
  const sandbox = await createSandbox({ variables });
  try {
    const server = await sandbox.start();
    return { connection: await createTenant(server.url, sandbox.adminKey), close: () => sandbox.close() };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}
