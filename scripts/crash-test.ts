/**
 * `npm run crash-test`: clients send messages without pause while the whole server is killed (kill -9, all its
 * processes) at random moments and restarted. A message is acknowledged once a client has read `message.accepted` for
 * it. Each acknowledged message must exist exactly once, in its client's order. Meanwhile other clients erase, redact,
 * fork, rebuild and use files, and repeat each request until it is answered. At the end no erased or redacted content may remain,
 * forks must be complete, and the read model must equal the logs. With `--bots`, people write to bots on chat platforms instead.
 */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type StandIn, startStandIn } from "../test/support/stand-in/stand-in.ts";
import { performBots } from "./crash-test/bots/perform.ts";
import { reportBots } from "./crash-test/bots/report.ts";
import { type ClientRecord, talk } from "./crash-test/client.ts";
import { type Errands, eraseSessions, forkSession, MARK, rebuildRows, redactMessages } from "./crash-test/errands.ts";
import { askForErased, askForRedacted, compareRows, readFiles, readForks } from "./crash-test/evidence.ts";
import {
  type BucketEvidence,
  type FileUseEvidence,
  faultsOfUsedFiles,
  readBucket,
  readUsedFiles,
  useFiles,
} from "./crash-test/file-errands.ts";
import { rage } from "./crash-test/rage.ts";
import { findFaults, type Verdict, verify } from "./crash-test/verify.ts";
import { type ErrandEvidence, faultsOfErrands } from "./crash-test/verify-errands.ts";
import { openSession } from "./replay/player.ts";
import { readMessages, readText } from "./replay/read-back.ts";
import { readTenant } from "./support/admin.ts";
import { type Connection, callApi } from "./support/api-client.ts";
import { readCommandLine, wholeNumber } from "./support/command-line.ts";
import { createTenant } from "./support/connection.ts";
import { print, runScript, say } from "./support/output.ts";
import { createRandom, type Random } from "./support/random.ts";
import { createSandbox, type Sandbox } from "./support/sandbox.ts";
import { useUntilStopped } from "./support/stop-signal.ts";

const USAGE = `Usage: npm run crash-test -- [options]
  --kills N    how often the server is killed (30)
  --clients N  how many talk at the same time (4)
  --seed N     draws the moments of the kills as the run with this seed did (a new one)
  --bots       bots on chat platforms instead: deliveries that are doubled, late and out of order, and platforms that fail
  --deliveries N  what people write to the bots (2000)`;

/** Two clients share a session, so that their turns wait for each other. */
const CLIENTS_PER_SESSION = 2;
/** How long a server runs between being ready and being killed, in milliseconds: from the first request to several turns. */
const LIFE = { least: 50, most: 1500 };

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      kills: { type: "string", default: "30" },
      clients: { type: "string", default: "4" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      bots: { type: "boolean", default: false },
      deliveries: { type: "string", default: "2000" },
    },
    schema: z.object({
      files: z.array(z.string()).length(0, "Everything is said by options."),
      kills: wholeNumber(0, 10_000),
      clients: wholeNumber(1, 64),
      seed: wholeNumber(0, 2 ** 32 - 1),
      bots: z.boolean(),
      deliveries: wholeNumber(1, 100_000),
    }),
  });
}

/** A slow reply, so that kills happen in the middle of one. */
async function* speak(): AsyncGenerator<string> {
  for (let word = 1; word <= 12; word++) {
    await delay(20);
    yield `word${word} `;
  }
}

const MODEL = "crash-test";

async function openSessions(connection: Connection, provider: StandIn, count: number): Promise<readonly string[]> {
  const body = { provider: "openai-compatible", base_url: provider.baseUrl, context_window: 16_000, max_output: 1024 };
  await callApi(connection, { method: "PUT", path: `/v1/models/${MODEL}`, body });
  const sessions: string[] = [];
  for (let index = 0; index < count; index++) sessions.push(await openSession(connection, { model: MODEL, system: null, tools: [] }));
  return sessions;
}

/** Messages of the forked session: several pages of a fork's copy, written in one request each. */
const SOURCE = { messages: 6, units: 400_000 };

/** The session that is forked. It receives no messages while the server is killed. */
async function openSource(connection: Connection): Promise<string> {
  const source = await openSession(connection, { model: MODEL, system: null, tools: [] });
  for (let number = 1; number <= SOURCE.messages; number++) {
    const body = { content: `part ${number} `.repeat(SOURCE.units / 7), run: false };
    await callApi(connection, { method: "POST", path: `/v1/sessions/${source}/messages`, body });
  }
  return source;
}

/** Letters that begin no other marker, and the ending that all markers share. */
function createMarkers(random: Random): () => string {
  return () => `${Array.from({ length: 12 }, () => String.fromCharCode(random.between(97, 121))).join("")}${MARK}`;
}

async function readUserMessages(connection: Connection, sessions: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const stored = new Map<string, readonly string[]>();
  for (const session of sessions) {
    const said = (await readMessages(connection, session)).filter(({ role }) => role === "user");
    stored.set(session, said.map(readText));
  }
  return stored;
}

interface Run {
  readonly clients: readonly ClientRecord[];
  readonly evidence: ErrandEvidence;
  readonly files: readonly FileUseEvidence[];
  readonly bucket: BucketEvidence;
  /** How often a request of those four kinds was repeated. */
  readonly cut: number;
  readonly rebuilds: number;
  readonly kills: number;
  readonly wall: number;
}

function report(verdict: Verdict, { clients, evidence, files, bucket, cut, rebuilds, kills, wall }: Run): boolean {
  const resent = clients.reduce((sum, client) => sum + client.resent, 0);
  const faults = [...findFaults(verdict, resent), ...faultsOfErrands(evidence), ...faultsOfUsedFiles(files, bucket)];
  print(
    [
      `kills         ${kills}`,
      `acknowledged  ${verdict.acknowledged}`,
      `sent again    ${resent}`,
      `lost          ${verdict.lost.length}`,
      `doubled       ${verdict.doubled.length}`,
      `out of order  ${verdict.reordered.length}`,
      `erased        ${evidence.erased.length}`,
      `redacted      ${evidence.redacted.markers.length}`,
      `forked        ${evidence.forks.length}`,
      `rebuilt       ${rebuilds}`,
      `files         ${files.length}`,
      `asked again   ${cut}`,
      `wrong         ${faults.length}`,
      `wall time     ${(wall / 1000).toFixed(1)} s`,
    ].join("\n"),
  );
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
  const target = { admin: { url: server.url, key: sandbox.adminKey }, tenant: readTenant(connection.key) };
  const sessions = await openSessions(connection, provider, Math.ceil(options.clients / CLIENTS_PER_SESSION));
  const redacted = await openSession(connection, { model: MODEL, system: null, tools: [] });
  const source = await openSource(connection);
  const messages = await readMessages(connection, source);
  let isOver = false;
  let cut = 0;
  const talking = Array.from({ length: options.clients }, (_, index) => {
    const session = sessions[index % sessions.length] ?? "";
    return talk({ name: `client-${index + 1}`, connection, session, isOver: () => isOver });
  });
  const errands: Errands = {
    connection,
    model: MODEL,
    newMarker: createMarkers(createRandom(options.seed + 1)),
    isOver: () => isOver,
    onCut: () => {
      cut += 1;
    },
  };
  const running = [
    eraseSessions(errands),
    redactMessages(errands, redacted),
    forkSession(errands, source, messages),
    rebuildRows(errands, target, [...sessions, redacted]),
    useFiles(errands),
  ] as const;
  const raging = rage(sandbox, server, { kills: options.kills, random: createRandom(options.seed), life: LIFE }).finally(() => {
    isOver = true;
  });
  const [clients, erasures, redactions, forks, rebuilds, used, last] = await Promise.all([Promise.all(talking), ...running, raging]);
  const verdict = verify(clients, await readUserMessages(connection, sessions));
  const answered = {
    erased: await askForErased(errands, erasures),
    redacted: await askForRedacted(connection, redacted, redactions),
    forks: await readForks(connection, messages, forks),
    rebuilt: await compareRows(target, [...sessions, redacted, source, ...forks.slice(-1).map(({ fork }) => fork)]),
  };
  const files = await readUsedFiles(connection, used);
  await last.stop();
  const evidence = { ...answered, files: readFiles(sandbox.state, erasures) };
  const bucket = readBucket(sandbox.state);
  return report(verdict, { clients, evidence, files, bucket, cut, rebuilds, kills: options.kills, wall: performance.now() - startedAt });
}

async function testBots(options: ReturnType<typeof readOptions>): Promise<number> {
  const startedAt = performance.now();
  const run = await useUntilStopped(
    () => createSandbox(),
    (sandbox) => performBots(sandbox, options),
  );
  return reportBots(run, options, performance.now() - startedAt) ? 0 : 1;
}

async function main(): Promise<number> {
  const options = readOptions();
  say(`seed ${options.seed}: the same kills again with --seed ${options.seed}`);
  if (options.bots) return testBots(options);
  const provider = await startStandIn({ respond: speak });
  try {
    return (await useUntilStopped(
      () => createSandbox(),
      (sandbox) => perform({ sandbox, provider }, options),
    ))
      ? 0
      : 1;
  } finally {
    await provider.close();
  }
}

await runScript(main);
