/** Holds conversations with bots on four platforms while the server is killed, waits until nothing waits, and reads what came of it. */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type StandIn, startStandIn } from "../../../test/support/stand-in/stand-in.ts";
import { contentText, type Reply, type WireRequest } from "../../../test/support/stand-in/wire.ts";
import { type Connection, callApi } from "../../support/api-client.ts";
import { createTenant } from "../../support/connection.ts";
import type { LocalServer } from "../../support/local-server.ts";
import { say } from "../../support/output.ts";
import { createRandom } from "../../support/random.ts";
import type { Sandbox } from "../../support/sandbox.ts";
import { rage } from "../rage.ts";
import { Courier } from "./courier.ts";
import { type BotEvidence, countWaiting, readChats, readEvidence, readLogs } from "./evidence.ts";
import { countChats, countPieces, drawPlan, type Planned, readPieces, readQuestion, toQuestion, writeReply } from "./plan.ts";
import { openPlatforms, type Platform } from "./platforms.ts";
import { openPostBox, type Posted } from "./post-box.ts";

export interface BotOptions {
  readonly deliveries: number;
  readonly kills: number;
  readonly seed: number;
}

export interface BotRun {
  readonly planned: readonly Planned[];
  readonly courier: Courier;
  /** Rows that still wait in the chats' objects. */
  readonly waiting: number;
  readonly evidence: BotEvidence;
}

const MODEL = "bots";
/** How long a server runs on when the deliveries of its share are answered. */
const LIFE = { least: 50, most: 2_500 };
/** How long a life and a start take about, in milliseconds. */
const CYCLE = 5_000;
const LEAST_DURATION = 3_000;
const LINE_MS = 250;

async function* writeSlowly(lines: readonly string[]): AsyncGenerator<string> {
  for (const line of lines) {
    await delay(LINE_MS);
    yield `${line}\n\n`;
  }
}

/** Answers the newest message of the person with the reply that its mark has. */
function answer({ messages }: WireRequest, planned: ReadonlyMap<number, Planned>): Reply {
  const asked = messages.findLast(({ role }) => role === "user");
  const own = planned.get(readQuestion(contentText(asked?.content ?? null)) ?? 0);
  if (!own) return { status: 400, error: { message: "The newest message has no mark.", type: "invalid_request_error" } };
  const lines = writeReply(own);
  return own.kind === "slow" ? writeSlowly(lines) : { text: lines.join("\n\n") };
}

function startModel(planned: readonly Planned[]): Promise<StandIn> {
  const byMark = new Map(planned.map((each) => [each.mark, each]));
  const model: Promise<StandIn> = startStandIn({
    respond: async (request) => {
      // Whole requests would take too much memory.
      (await model).clearLog();
      return answer(request, byMark);
    },
  });
  return model;
}

async function putModel(connection: Connection, { baseUrl }: StandIn): Promise<void> {
  const body = { provider: "openai-compatible", base_url: baseUrl, context_window: 32_000, max_output: 4_096 };
  await callApi(connection, { method: "PUT", path: `/v1/models/${MODEL}`, body });
}

const channelView = z.object({ webhook_path: z.string() });

/** Returns the address of each platform's webhook. */
async function putChannels(connection: Connection, platforms: readonly Platform[]): Promise<ReadonlyMap<string, string>> {
  const hooks = new Map<string, string>();
  for (const { name, credentials } of platforms) {
    const body = { type: name, credentials, model: MODEL };
    const channel = channelView.parse(await callApi(connection, { method: "PUT", path: `/v1/channels/${name}`, body }));
    hooks.set(name, connection.url + channel.webhook_path);
  }
  return hooks;
}

async function speak(planned: readonly Planned[], platforms: readonly Platform[]): Promise<void> {
  const begun = performance.now();
  for (const { mark, platform: name, chat, at, failure } of planned) {
    await delay(Math.max(0, begun + at - performance.now()));
    const platform = platforms.find((each) => each.name === name);
    if (failure) await platform?.fail(failure);
    await platform?.say(chat, toQuestion(mark));
  }
}

const POLL_MS = 500;
/** How long nothing may change before the server is stopped to look whether something waits. Twice as long after each such look. */
const STILL_MS = 4_000;
const MOST_LOOKS = 6;

interface Stage {
  readonly sandbox: Sandbox;
  readonly connection: Connection;
  readonly platforms: readonly Platform[];
  readonly planned: readonly Planned[];
}

/** The number of pieces that are not there, and of lines in the logs. */
async function look({ connection, platforms, planned }: Stage): Promise<{ readonly missing: number; readonly lines: number }> {
  const chats = await readChats(platforms, countChats(planned.length));
  const seen = new Set(chats.flatMap(({ texts }) => texts.flatMap(readPieces)).map(({ mark, number }) => `${mark}/${number}`));
  const missing = planned.reduce((sum, each) => sum + countPieces(each), 0) - seen.size;
  return { missing, lines: (await readLogs(connection)).length };
}

/** Resolves when nothing changes any more. */
async function untilStill(stage: Stage, still: number): Promise<void> {
  let last = await look(stage);
  for (let changedAt = performance.now(); performance.now() - changedAt < still; await delay(POLL_MS)) {
    const found = await look(stage);
    if (found.missing !== last.missing || found.lines !== last.lines) changedAt = performance.now();
    last = found;
  }
}

/** Stops the server, so that its files show what still waits in the chats, and starts it again. Returns the number of rows that wait in the end. */
async function rest(stage: Stage, first: LocalServer): Promise<number> {
  let server = first;
  for (let looks = 1; ; looks++) {
    await untilStill(stage, STILL_MS * 2 ** (looks - 1));
    await server.stop();
    const waiting = countWaiting(stage.sandbox.state);
    say(`${waiting} rows wait in the chats`);
    server = await stage.sandbox.start();
    if (waiting === 0 || looks === MOST_LOOKS) return waiting;
  }
}

const LOOK_MS = 50;

/** The kills are spread over the deliveries, however fast the machine is. */
const waitForShare =
  (courier: Courier, { deliveries, kills }: BotOptions) =>
  async (kill: number): Promise<void> => {
    while (courier.answered < (deliveries * (kill - 1)) / kills) await delay(LOOK_MS);
  };

interface Network {
  readonly courier: Courier;
  readonly platforms: readonly Platform[];
  readonly hooks: ReadonlyMap<string, string>;
}

/** Gives the courier what a platform posted. */
function createSender({ courier, platforms, hooks }: Network): (name: string, posted: Posted) => void {
  return (name, posted) => {
    const platform = platforms.find((each) => each.name === name);
    const url = hooks.get(name);
    if (!platform || url === undefined) throw new Error(`There is no platform ${name}.`);
    const { body } = posted;
    const sign = (attempt: number) => platform.sign(posted, attempt);
    courier.carry({ url, body, mark: readQuestion(body), deadlineMs: platform.deadlineMs, sign });
  };
}

export async function performBots(sandbox: Sandbox, options: BotOptions): Promise<BotRun> {
  const planned = drawPlan(options, Math.max(LEAST_DURATION, options.kills * CYCLE));
  const chats = countChats(options.deliveries);
  const courier = new Courier(options.seed);
  const model = await startModel(planned);
  let send = (_name: string, _posted: Posted): void => undefined;
  const box = await openPostBox((name, posted) => send(name, posted));
  const platforms = await openPlatforms({ hook: (name) => `${box.url}/${name}`, chats });
  try {
    const server = await sandbox.start();
    const connection = await createTenant(server.url, sandbox.adminKey);
    await putModel(connection, model);
    const hooks = await putChannels(connection, platforms);
    send = createSender({ courier, platforms, hooks });
    const raging = rage(sandbox, server, {
      ...options,
      random: createRandom(options.seed),
      life: LIFE,
      until: waitForShare(courier, options),
    });
    const [last] = await Promise.all([raging, speak(planned, platforms)]);
    say("the last message is written");
    await courier.settled();
    say("the last delivery is answered");
    const stage = { sandbox, connection, platforms, planned };
    const waiting = await rest(stage, last);
    return { planned, courier, waiting, evidence: await readEvidence(connection, platforms, chats) };
  } finally {
    for (const platform of platforms) await platform.close();
    await box.close();
    await model.close();
  }
}
