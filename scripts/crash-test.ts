/**
 * `npm run crash-test`: clients talk without pause while the whole server is killed (kill -9, every process of it) at
 * random moments and started again. Acknowledged is what a client read `message.accepted` of; each such message must
 * be there exactly once, in its client's order.
 */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type StandIn, startStandIn } from "../test/support/stand-in/stand-in.ts";
import { type ClientRecord, talk } from "./crash-test/client.ts";
import { faultsOf, type Verdict, verify } from "./crash-test/verify.ts";
import { openSession } from "./replay/player.ts";
import { readItems } from "./replay/read-back.ts";
import { type Connection, callApi } from "./support/api-client.ts";
import { readCommandLine, wholeNumber } from "./support/command-line.ts";
import { createTenant } from "./support/connection.ts";
import type { LocalServer } from "./support/local-server.ts";
import { print, runScript, say } from "./support/output.ts";
import { startProgress } from "./support/progress.ts";
import { createRandom, type Random } from "./support/random.ts";
import { createSandbox, type Sandbox } from "./support/sandbox.ts";
import { untilStopped } from "./support/stop-signal.ts";

const USAGE = `Usage: npm run crash-test -- [options]
  --kills N    how often the server is killed (30)
  --clients N  how many talk at the same time (4)
  --seed N     draws the moments of the kills as the run with this seed did (a new one)`;

/** Two clients to a session: their turns then queue up behind each other. */
const CLIENTS_PER_SESSION = 2;
/** How long a server may live after it was ready, in milliseconds: from the first request to several turns. */
const LIFE = { least: 50, most: 1500 };

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      kills: { type: "string", default: "30" },
      clients: { type: "string", default: "4" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
    },
    schema: z.object({
      files: z.array(z.string()).length(0, "Everything is said by options."),
      kills: wholeNumber(1, 10_000),
      clients: wholeNumber(1, 64),
      seed: wholeNumber(0, 2 ** 32 - 1),
    }),
  });
}

/** A reply that takes its time, so that kills fall into the middle of one. */
async function* speak(): AsyncGenerator<string> {
  for (let word = 1; word <= 12; word++) {
    await delay(20);
    yield `word${word} `;
  }
}

async function openSessions(connection: Connection, provider: StandIn, count: number): Promise<readonly string[]> {
  const body = { provider: "openai-compatible", base_url: provider.baseUrl, context_window: 16_000, max_output: 1024 };
  await callApi(connection, { method: "PUT", path: "/v1/models/crash-test", body });
  const sessions: string[] = [];
  for (let index = 0; index < count; index++)
    sessions.push(await openSession(connection, { model: "crash-test", system: null, tools: [] }));
  return sessions;
}

/** Kills and restarts; the server stands at the end. */
async function rage(sandbox: Sandbox, first: LocalServer, by: { readonly kills: number; readonly random: Random }): Promise<void> {
  const progress = startProgress("kills", by.kills);
  let server = first;
  for (let kill = 1; kill <= by.kills; kill++) {
    await delay(by.random.between(LIFE.least, LIFE.most));
    await server.kill();
    server = await sandbox.start();
    progress.show(kill);
  }
  progress.end();
}

async function readUserMessages(connection: Connection, sessions: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const stored = new Map<string, readonly string[]>();
  for (const session of sessions) {
    const items = (await readItems(connection, session)).filter(({ kind }) => kind === "user");
    stored.set(
      session,
      items.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join("")),
    );
  }
  return stored;
}

function report(
  verdict: Verdict,
  run: { readonly clients: readonly ClientRecord[]; readonly kills: number; readonly wall: number },
): boolean {
  const resent = run.clients.reduce((sum, client) => sum + client.resent, 0);
  print(
    [
      `kills         ${run.kills}`,
      `acknowledged  ${verdict.acknowledged}`,
      `sent again    ${resent}`,
      `lost          ${verdict.lost.length}`,
      `doubled       ${verdict.doubled.length}`,
      `out of order  ${verdict.reordered.length}`,
      `wall time     ${(run.wall / 1000).toFixed(1)} s`,
    ].join("\n"),
  );
  const faults = faultsOf(verdict, resent);
  for (const fault of faults) say(`wrong: ${fault}`);
  return faults.length === 0;
}

interface Stage {
  readonly sandbox: Sandbox;
  readonly provider: StandIn;
}

async function perform({ sandbox, provider }: Stage, options: ReturnType<typeof readOptions>): Promise<boolean> {
  const startedAt = performance.now();
  const server = await sandbox.start();
  const connection = await createTenant(server.url, sandbox.adminKey);
  const sessions = await openSessions(connection, provider, Math.ceil(options.clients / CLIENTS_PER_SESSION));
  let isOver = false;
  const talking = Array.from({ length: options.clients }, (_, index) => {
    const session = sessions[index % sessions.length] ?? "";
    return talk({ name: `client-${index + 1}`, connection, session, isOver: () => isOver });
  });
  const raging = rage(sandbox, server, { kills: options.kills, random: createRandom(options.seed) }).finally(() => {
    isOver = true;
  });
  const [clients] = await Promise.all([Promise.all(talking), raging]);
  const verdict = verify(clients, await readUserMessages(connection, sessions));
  return report(verdict, { clients, kills: options.kills, wall: performance.now() - startedAt });
}

async function main(): Promise<number> {
  const options = readOptions();
  say(`seed ${options.seed}: the same kills again with --seed ${options.seed}`);
  const provider = await startStandIn({ respond: speak });
  const sandbox = await createSandbox();
  try {
    return (await untilStopped(perform({ sandbox, provider }, options))) ? 0 : 1;
  } finally {
    await sandbox.close();
    await provider.close();
  }
}

await runScript(main);
