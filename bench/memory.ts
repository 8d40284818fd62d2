/**
 * Heap size of sessions: the code of the session's object over Node's SQLite, in this process. An isolate has 128 MB
 * for all its objects.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ChatModel } from "../src/app/ports.ts";
import { MAX_REQUEST_BYTES } from "../src/context/model-quirks.ts";
import { createChatModel } from "../src/model/chat-model.ts";
import { CALLER, Life, SPEC, settle } from "../test/session/life.ts";
import { type BenchResult, type Figure, measured } from "./support/report.ts";

const SESSIONS = 40;
const LONG = 10_000;
/** Characters that a stream has produced before the measurement. */
const SAID = 400_000;
const PIECE = 2_000;
/** Turns of a session that is never compacted, and characters of each: 50 MB. */
const LARGE = { turns: 200, characters: 250_000 } as const;
/** Kilobytes: 128 MB hold a thousand such sessions, beside the program itself. */
const GOAL = { idle: 100, streaming: 4_000, stalled: 4_000, long: 16_000, large: 48_000 } as const;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

async function heapKb(): Promise<number> {
  await settle();
  collect();
  collect();
  return process.memoryUsage().heapUsed / 1_000;
}

const MESSAGE = { role: "user", run: false, onBusy: "queue", tools: null, idempotency: null } as const;

async function idle(): Promise<Life> {
  const life = new Life();
  await life.open("balanced");
  await life.send("hello");
  await life.answer("hi");
  life.calls.length = 0;
  return life;
}

/** In the middle of a reply, with a reader that has read nothing since it began. */
async function streaming(isRead: boolean): Promise<Life> {
  const life = new Life();
  await life.open("balanced");
  await life.send("tell me");
  const opened = isRead ? null : await life.service.stream(CALLER, { after: 0, turn: null });
  if (opened && !opened.ok) throw new Error(opened.error.code);
  held.push(opened);
  for (let said = 0; said < SAID; said += PIECE) {
    await life.say({ type: "text", text: "x".repeat(PIECE) });
    await life.advance(50);
  }
  return life;
}

async function long(): Promise<Life> {
  const life = new Life();
  await life.open("balanced");
  for (let n = 0; n < LONG; n++)
    await life.service.submit(CALLER, { ...MESSAGE, parts: [{ type: "text", text: `message ${n} of a long record` }] });
  await life.send("what was it about?");
  while (life.calls.at(-1)?.request.purpose !== "turn") {
    if (life.calls.at(-1)?.request.purpose === "compaction") await life.summarize("## Goal\nA long record.\n");
    await life.advance(0);
  }
  await life.answer("a record");
  life.calls.length = 0;
  return life;
}

/** Bytes of the largest request so far. */
let largest = 0;

function provider(): ChatModel {
  const fetch = async (_url: string, { body }: RequestInit): Promise<Response> => {
    largest = Math.max(largest, new TextEncoder().encode(String(body)).byteLength);
    const choice = { index: 0, delta: { content: "noted" }, finish_reason: "stop" };
    return new Response(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`, {
      headers: { "content-type": "text/event-stream" },
    });
  };
  return createChatModel({ credentials: async () => null, estimate: () => 1, fetch });
}

/** With an unknown window and a policy that never compacts. */
async function large(): Promise<Life> {
  const life = new Life();
  const spec = { ...SPEC, provider: "openai-compatible", base_url: "http://127.0.0.1:9/v1", context_window: null } as const;
  life.models = { resolve: async () => spec };
  life.chat = provider();
  await life.open({ preset: "oneclaw", unknown_window: null });
  for (let n = 0; n < LARGE.turns; n++) {
    await life.send(`${n} ${"word ".repeat(LARGE.characters / 5)}`);
    while (life.runtime.state.turn) await settle();
  }
  return life;
}

/** Keeps the measured objects alive until the measurement. */
const held: unknown[] = [];

async function each(count: number, make: () => Promise<Life>): Promise<number> {
  const before = await heapKb();
  for (let n = 0; n < count; n++) held.push(await make());
  const kb = (await heapKb()) - before;
  held.length = 0;
  return kb / count;
}

export async function benchMemory(): Promise<BenchResult> {
  await each(1, idle); // what is loaded and compiled once
  const base = await heapKb();
  const figures: Figure[] = [
    measured("the program itself", "kB", [base]),
    measured("an idle session, after a turn", "kB", [await each(SESSIONS, idle)], GOAL.idle),
    measured(`a session that streams ${SAID} characters`, "kB", [await each(4, () => streaming(true))], GOAL.streaming),
    measured("the same, with a reader that does not read", "kB", [await each(4, () => streaming(false))], GOAL.stalled),
    measured(`a session of ${LONG} messages, after a turn`, "kB", [await each(1, long)], GOAL.long),
    measured(
      `a session of ${LARGE.turns} turns of ${LARGE.characters} characters, never compacted`,
      "kB",
      [await each(1, large)],
      GOAL.large,
    ),
    measured("its largest request", "bytes", [largest], MAX_REQUEST_BYTES),
  ];
  const notes = ["Heap in use after a full collection. The database's pages are not in it: on the platform they are the storage's."];
  return { title: "Heap of a session", notes, figures };
}
