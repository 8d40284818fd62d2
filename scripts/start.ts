/**
 * `npm start`: the backend on this machine, with its data in .wrangler/state. Ctrl-C and SIGTERM stop all of it, and so
 * does SIGKILL of this process (scripts/support/supervisor.ts). A lost server is started again.
 */
import { mkdirSync } from "node:fs";
import { relative } from "node:path";
import { z } from "zod";
import type { Connection } from "./support/api-client.ts";
import { readCommandLine } from "./support/command-line.ts";
import { ensureDevelopmentKey, readConnection, writeConnection } from "./support/connection.ts";
import { describeLittleRoom, explainFullDisk, explainReadOnly } from "./support/disk-room.ts";
import { type LocalServer, type LocalServerOptions, readTail, spawnLocalServer, waitUntilReady } from "./support/local-server.ts";
import { applyMigrations } from "./support/migrations.ts";
import { Failure, print, runScript, say } from "./support/output.ts";
import { CONNECTION, LONGHAND, ROOT, SECRETS, SERVER_LOCK, SERVER_LOG, STATE } from "./support/paths.ts";
import { findFreeBeside, HOST, portError } from "./support/port.ts";
import { ensureSecrets, readAdminKey } from "./support/secrets.ts";
import { takeServerLock } from "./support/server-lock.ts";
import { type Loss, RESTARTS, RestartBudget, untilLost } from "./support/server-watch.ts";
import { stopRequested } from "./support/stop-signal.ts";

const DEFAULT_PORT = "8787";

const LOST_DATABASE =
  "The database of the lists was missing and is made anew, without rows. Conversations are not affected; npm run rebuild -- --tenant ID brings a tenant's rows back.";

const USAGE = `Usage: npm start
  PORT=9000 npm start   another port (${DEFAULT_PORT})
Secrets and settings are read from .dev.vars, which the first start makes.`;

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new Failure(`PORT must be a whole number from 1 to 65535, not ${JSON.stringify(text)}.`);
}

async function requireFree(port: number): Promise<void> {
  const code = await portError(port);
  if (code === null) return;
  const other = await findFreeBeside(port);
  const why = code === "EADDRINUSE" ? "is busy" : `cannot be used (${code})`;
  throw new Failure(`Port ${port} ${why}; choose another: PORT=${other} npm start`);
}

/** One line for any POSIX shell that needs only curl, grep and head: creates a session and sends a message. */
function exampleCall({ url, key }: Connection): string {
  const headers = `-H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json'`;
  const session = `$(curl -s ${headers} -d '{}' ${url}/v1/sessions | grep -o 'ses_[0-9A-Z]*' | head -n 1)`;
  return `curl -sN ${headers} -H 'Accept: text/event-stream' -d '{"content": "Hello! What are you?"}' ${url}/v1/sessions/${session}/messages`;
}

function greeting(connection: Connection): string {
  return `
  Longhand is ready at ${connection.url}

  key   ${connection.key}
  files ${relative(ROOT, CONNECTION)} (this URL and key), ${relative(ROOT, SERVER_LOG)} (what the server says)

  Try it:

${exampleCall(connection)}

  Stop it with Ctrl-C; the next start keeps all data.
`;
}

/** Throws a `Failure` when the server does not become ready. Returns false when this process was asked to stop. */
const isReady = (server: LocalServer, stop: Promise<void>): Promise<boolean> =>
  Promise.race([waitUntilReady(server).then(() => true), stop.then(() => false)]);

async function greet(server: LocalServer): Promise<void> {
  const connection = await ensureDevelopmentKey(server.url, readConnection(), readAdminKey(SECRETS));
  writeConnection(connection);
  print(greeting(connection));
}

const LOSSES: Readonly<Record<Loss, string>> = { ended: "The server ended by itself", silent: "The server answers no more" };

/** Resolves with the exit code when the process was asked to stop, or when a lost server is not to be started again. */
async function keepRunning(options: LocalServerOptions, stop: Promise<void>): Promise<number> {
  const budget = new RestartBudget();
  let server = spawnLocalServer(options);
  try {
    if (!(await isReady(server, stop))) return 0;
    await greet(server);
    for (;;) {
      const loss = await Promise.race([stop.then(() => null), untilLost(server)]);
      if (loss === null) return 0;
      if (!budget.take(performance.now())) {
        say(`${LOSSES[loss]}, after ${RESTARTS.most} starts within ${RESTARTS.within / 1000} s: given up.`);
        say(`The end of ${relative(ROOT, SERVER_LOG)}:\n${readTail(SERVER_LOG)}`);
        return 1;
      }
      say(`${LOSSES[loss]}; starting it again (${relative(ROOT, SERVER_LOG)} has what it said) …`);
      await server.kill();
      server = spawnLocalServer({ ...options, keepLog: true });
      if (!(await isReady(server, stop))) return 0;
      say(`Longhand is ready again at ${server.url}`);
    }
  } finally {
    await server.stop();
  }
}

/** This process holds the port and the data, so no other server of this checkout is running. */
async function run(port: number): Promise<number> {
  const stop = stopRequested();
  await requireFree(port);
  mkdirSync(LONGHAND, { recursive: true });
  ensureSecrets(SECRETS);
  const littleRoom = describeLittleRoom(ROOT);
  if (littleRoom !== null) say(littleRoom);
  say("Starting Longhand …");
  const { isLost } = await applyMigrations(STATE);
  if (isLost) say(LOST_DATABASE);
  return keepRunning({ port, state: STATE, secrets: SECRETS, log: SERVER_LOG }, stop);
}

async function main(): Promise<number> {
  readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {},
    schema: z.object({ files: z.array(z.string()).length(0, "npm start takes no arguments.") }),
  });
  const port = parsePort(process.env.PORT || DEFAULT_PORT);
  const lock = takeServerLock(SERVER_LOCK, { pid: process.pid, url: `http://${HOST}:${port}` });
  if (!lock.taken) {
    const { url, pid } = lock.holder ?? {};
    throw new Failure(url ? `Longhand is already running at ${url} (process ${pid}).` : "Longhand is being started here already.");
  }
  try {
    return await run(port);
  } catch (error) {
    throw explainFullDisk(error, ROOT);
  } finally {
    lock.release();
  }
}

await runScript(() =>
  main().catch((error: unknown) => {
    throw explainReadOnly(error, ROOT);
  }),
);
