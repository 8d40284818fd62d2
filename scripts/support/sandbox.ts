/** A backend of its own for one run of a script: built once, with data, secrets and port that nobody else uses. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalServer, type LocalServerOptions, spawnLocalServer, waitUntilReady } from "./local-server.ts";
import { applyMigrations } from "./migrations.ts";
import { Failure } from "./output.ts";
import { findFreePort } from "./port.ts";
import { ensureSecrets, readAdminKey } from "./secrets.ts";
import { runWrangler } from "./wrangler.ts";

export interface Sandbox {
  readonly adminKey: string;
  readonly log: string;
  /** Ready when it resolves; on the same port and data each time. */
  start(): Promise<LocalServer>;
  /** Removes all of it. The server must have ended. */
  remove(): void;
}

export async function createSandbox(): Promise<Sandbox> {
  const directory = mkdtempSync(join(tmpdir(), "longhand-"));
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  try {
    const secrets = join(directory, "secrets.env");
    const state = join(directory, "state");
    ensureSecrets(secrets);
    const bundle = await build(join(directory, "bundle"));
    await applyMigrations(state);
    const options = { port: await findFreePort(), state, secrets, log: join(directory, "server.log"), bundle };
    return { adminKey: readAdminKey(secrets), log: options.log, start: () => start(options), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

async function start(options: LocalServerOptions): Promise<LocalServer> {
  const server = spawnLocalServer(options);
  try {
    await waitUntilReady(server);
    return server;
  } catch (error) {
    await server.kill();
    throw error;
  }
}

/** The Worker as it would be deployed: a start then need not build, and an edit meanwhile changes nothing. */
async function build(directory: string): Promise<string> {
  const { code, output } = await runWrangler(["deploy", "--dry-run", "--outdir", directory]);
  if (code !== 0) throw new Failure(`The Worker could not be built:\n${output}`);
  return join(directory, "index.js");
}
