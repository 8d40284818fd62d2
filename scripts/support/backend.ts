/** The backend that a script talks to: one that runs, or one of its own for the time of the run. */
import type { Connection } from "./api-client.ts";
import { createTenant, readConnection } from "./connection.ts";
import { isHealthy } from "./local-server.ts";
import { Failure, say } from "./output.ts";
import { createSandbox } from "./sandbox.ts";

export interface Backend {
  readonly connection: Connection;
  /** Stops what was started for this run; a server that ran before keeps running. */
  close(): Promise<void>;
}

export interface BackendChoice {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  /** One of its own, whatever runs. */
  readonly sandbox: boolean;
}

/** `url` and `key` win over `.longhand/dev.json`; without a server that answers there, one is started in a sandbox. */
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

/** One of its own, with `variables` beside what a local server has anyway. */
export async function startBackend(variables: Readonly<Record<string, string>> = {}): Promise<Backend> {
  say("Starting a server for this run …");
  const sandbox = await createSandbox(variables);
  try {
    const server = await sandbox.start();
    return { connection: await createTenant(server.url, sandbox.adminKey), close: () => sandbox.close() };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}
