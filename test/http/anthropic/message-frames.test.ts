/** The events of a leg, put together by Anthropic's own SDK, are the message that a request without a stream gets. */
import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, inject, test } from "vitest";
import { createRandom, type Random } from "../../../scripts/support/random";
import type { StreamFrame } from "../../../src/contract/frame";
import type { TurnReport } from "../../../src/contract/turn";
import type { CallUsage } from "../../../src/domain/model-call";
import { MessageTeller } from "../../../src/http/anthropic/message-frames";
import { toWholeMessage } from "../../../src/http/anthropic/message-report";
import { readMessage } from "../../../src/http/anthropic/read-blocks";
import type { SessionCalls } from "../../../src/http/session-calls";
import { type RecordedLeg, readRecordedLeg } from "../../../src/http/surface/leg";
import { createLegTranslator } from "../../../src/http/surface/tell-leg";
import { err, ok } from "../../../src/lib/result";
import { type DrawnTurn, TurnDrawer } from "../ai-sdk/drawn-turn";
import { makeId, toStream, turn } from "../support";

const TURNS = 100;
const head = { id: "msg_1", model: "claude-sonnet-4-5", omitsThinking: false };
const asked = {
  model: head.model,
  max_tokens: 100,
  messages: [{ role: "user", content: "Well?" }],
} satisfies Anthropic.MessageStreamParams;
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const gone = async () => err({ code: "session_erased" } as const);

/** What a request gets. `readRecord`: what the stream leaves out. */
async function translate(
  frames: readonly StreamFrame[],
  readRecord: Parameters<typeof createLegTranslator>[0]["readRecord"] = gone,
  isPast = false,
): Promise<string> {
  const teller = new MessageTeller({ head, requestId: "request-1", lost: "Lost." });
  const translator = createLegTranslator({ teller, readRecord, isPast });
  return frames.map((frame, offset) => translator.frame(frame, offset)).join("") + (await translator.end());
}

/** Calls of a session that has drawn turns. */
function connectTo({ executions }: DrawnTurn, report: TurnReport): SessionCalls {
  const api = {
    waitForTurn: async () => ok(report),
    executions: async (_: unknown, { after }: { readonly after: number }) =>
      ok({ data: executions.filter(({ position }) => position > after), has_more: false }),
    usage: gone,
  };
  return { repeatable: (work: (given: unknown, caller: unknown) => unknown) => work(api, null) } as unknown as SessionCalls;
}

async function record(drawn: DrawnTurn, report: TurnReport, after: number): Promise<RecordedLeg> {
  const read = await readRecordedLeg(connectTo(drawn, report), { turn: report.id, after });
  if (!read.ok) throw new Error(read.error.code);
  return read.value;
}

/** What the SDK's accumulator has at the end. An error event rejects. */
async function accumulate(text: string): Promise<unknown> {
  const answer = async () => new Response(toStream(text), { headers: { "content-type": "text/event-stream" } });
  const message = await new Anthropic({ apiKey: "k", fetch: answer, maxRetries: 0 }).messages.stream(asked).finalMessage();
  return plain({ ...message, parsed_output: undefined });
}

const TOTAL = { input: 30, output: 9, cached: 4, reasoning: 2, cache_write: 5 } as const;
const HALVES: readonly CallUsage[] = [
  { input: 10, output: 3, cached: 4, reasoning: 0, cache_write: 5 },
  { input: 20, output: 6, cached: 0, reasoning: 2 },
];

/** Two calls of the turn, and one that is not the turn's own. */
function tellUsage(frames: readonly StreamFrame[], random: Random): StreamFrame[] {
  const numbers = {
    context_window: null,
    assumed_window: null,
    current_context_tokens: { tokens: 1, source: "estimated", error_bound: 0 },
  } as const;
  const toFrame = (usage: CallUsage, source: "turn" | "title"): StreamFrame => ({
    type: "usage.updated",
    turn_id: makeId("trn"),
    source,
    model: "m",
    usage,
    cost: null,
    ...numbers,
  });
  const told = [...HALVES.map((usage) => toFrame(usage, "turn")), toFrame(TOTAL, "title")];
  const at = random.between(0, frames.length - 1);
  return [...frames.slice(0, at), ...told, ...frames.slice(at)];
}

/** The turn as it is reported when the leg has ended. `after`: the last position before the leg. */
function reportLeg({ legs, items }: DrawnTurn, nth: number): { readonly report: TurnReport; readonly after: number } {
  const positions = (frames: readonly StreamFrame[]) =>
    frames.flatMap((frame) => (frame.type === "item.completed" ? [frame.item.position] : []));
  const last = Math.max(0, ...legs.slice(0, nth + 1).flatMap(positions));
  const after = Math.max(0, ...legs.slice(0, nth).flatMap(positions));
  const end = legs[nth]?.at(-1);
  const base = turn({ items: items.filter(({ position }) => position <= last), usage: TOTAL });
  if (end?.type === "turn.awaiting_tools") return { after, report: { ...base, status: "awaiting_tools", open_calls: end.tool_calls } };
  if (end?.type === "turn.completed") return { after, report: { ...base, status: "completed", finish: end.finish } };
  return { after, report: { ...base, status: end?.type === "turn.stopped" ? "stopped" : "interrupted", finish: null } };
}

/** A part of the reply was told before the model began it anew. */
function isTorn(frames: readonly StreamFrame[]): boolean {
  let isSaying = false;
  return frames.some((frame) => {
    if (frame.type === "item.completed") isSaying = false;
    if (frame.type === "text.delta" || frame.type === "reasoning.delta") isSaying = true;
    return isSaying && frame.type === "turn.resumed";
  });
}

describe("drawn turns", () => {
  test("are the same message as a stream and as a whole, in every leg", async () => {
    const random = createRandom(inject("seed"));
    let compared = 0;
    for (let n = 0; n < TURNS; n++) {
      const drawn = new TurnDrawer(random).draw();
      for (const [nth, frames] of drawn.legs.entries()) {
        const { report, after } = reportLeg(drawn, nth);
        const recorded = await record(drawn, report, after);
        const text = await translate(tellUsage(frames, random), async () => ok(recorded));
        const whole = toWholeMessage(recorded, head);
        const told = accumulate(text);
        if (!whole.ok || text.includes("event: error")) {
          expect(isTorn(frames) || !whole.ok).toBe(true);
          await expect(told).rejects.toMatchObject({ type: "api_error" });
        } else {
          expect(await told).toEqual(plain(whole.value));
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(TURNS / 2);
  });

  test("are the same message wherever their stream is cut, and when they are asked for again later", async () => {
    const random = createRandom(inject("seed") + 2);
    for (let n = 0; n < TURNS; n++) {
      const drawn = new TurnDrawer(random).draw();
      for (const [nth, frames] of drawn.legs.entries()) {
        const { report, after } = reportLeg(drawn, nth);
        const recorded = await record(drawn, report, after);
        const whole = toWholeMessage(recorded, head);
        if (!whole.ok || isTorn(frames)) continue;
        const told = tellUsage(frames, random);
        const cut = told.slice(0, random.between(0, told.length));
        expect(await accumulate(await translate(cut, async () => ok(recorded)))).toEqual(plain(whole.value));
        expect(await accumulate(await translate(frames, async () => ok(recorded), true))).toEqual(plain(whole.value));
      }
    }
  });

  test("are in each leg what they were, however far the turn has gone since", async () => {
    const random = createRandom(inject("seed") + 3);
    let compared = 0;
    for (let n = 0; n < TURNS; n++) {
      const drawn = new TurnDrawer(random).draw();
      const { report: last } = reportLeg(drawn, drawn.legs.length - 1);
      for (const [nth, frames] of drawn.legs.slice(0, -1).entries()) {
        const end = frames.at(-1);
        const own = end?.type === "turn.awaiting_tools" ? end.tool_calls.filter(({ runs }) => runs === "client") : [];
        if (own.length === 0) continue;
        const { report, after } = reportLeg(drawn, nth);
        const then = toWholeMessage(await record(drawn, report, after), head);
        const now = toWholeMessage(await record(drawn, last, after), head);
        expect(now).toEqual(then);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(TURNS / 10);
  });

  test("come back as what the conversation has", async () => {
    const random = createRandom(inject("seed") + 1);
    for (let n = 0; n < TURNS; n++) {
      const drawn = new TurnDrawer(random).draw();
      const nth = drawn.legs.length - 1;
      const { report, after } = reportLeg({ ...drawn, legs: drawn.legs }, nth);
      const whole = toWholeMessage(await record(drawn, { ...report, status: "completed" }, after), head);
      if (!whole.ok) throw new Error("A completed turn has a message");
      const errors: never[] = [];
      const content = plain(whole.value.content) as { type: string }[];
      const read = readMessage({ role: "assistant", content }, "messages.1", errors);
      const said = report.items.filter(({ role, position }) => role === "assistant" && position > after).flatMap((item) => item.content);
      const join = (parts: readonly { readonly type: string }[], type: string) =>
        parts.map((part) => (part.type === type && "text" in part ? part.text : "")).join("");
      expect(errors).toEqual([]);
      for (const type of ["text", "reasoning"]) expect(join(read.parts, type)).toBe(join(said, type));
    }
  });
});

const figures = {
  usage: TOTAL,
  cost: null,
  context_window: null,
  assumed_window: null,
  current_context_tokens: { tokens: 1, source: "estimated", error_bound: 0 },
} as const;
const id = makeId("trn");
const failed = (kind: "refused" | "unavailable" | "overflow" | "auth" | "timeout"): StreamFrame => ({
  type: "turn.failed",
  turn_id: id,
  failure: { kind, status: null, detail: "Why.", remedy: "What.", ...(kind === "overflow" && { limit: 100 }) },
  ...figures,
});

describe("the end of a message", () => {
  test.each([
    ["stop", "end_turn"],
    ["length", "max_tokens"],
    ["content_filter", "refusal"],
    ["other", "end_turn"],
  ] as const)("a reply that ended by %s has the stop_reason %s", async (finish, stop_reason) => {
    const text = await translate([
      { type: "text.delta", turn_id: id, text: "好" },
      { type: "turn.completed", turn_id: id, finish, ...figures },
    ]);

    expect(await accumulate(text)).toMatchObject({
      stop_reason,
      stop_sequence: null,
      content: [{ type: "text", text: "好", citations: null }],
    });
  });

  test("calls that only a person may let run pause the turn", async () => {
    const call = { id: makeId("exe"), call_id: "a", name: "pay", arguments: "{}", runs: "server", approval: "pending" } as const;

    const text = await translate([{ type: "turn.awaiting_tools", turn_id: id, tool_calls: [call] }]);

    expect(await accumulate(text)).toMatchObject({ stop_reason: "pause_turn", content: [] });
  });

  test("a turn that was stopped is not complete", async () => {
    const text = await translate([
      { type: "text.delta", turn_id: id, text: "Hal" },
      { type: "turn.stopped", turn_id: id, reason: "requested", ...figures },
    ]);

    expect(await accumulate(text)).toMatchObject({ stop_reason: "max_tokens", content: [{ text: "Hal" }] });
  });

  test("a provider's refusal is a message that says so", async () => {
    expect(await accumulate(await translate([failed("refused")]))).toMatchObject({
      stop_reason: "refusal",
      stop_details: { type: "refusal", explanation: "Why." },
    });
  });

  test.each([
    ["unavailable", "overloaded_error"],
    ["overflow", "invalid_request_error"],
    ["auth", "api_error"],
    ["timeout", "timeout_error"],
  ] as const)("a turn that failed by %s ends with an error of the type %s", async (kind, type) => {
    await expect(accumulate(await translate([failed(kind)]))).rejects.toMatchObject({ type });
  });

  test("a stream that ends without the turn's end is an error, not a short message", async () => {
    await expect(accumulate(await translate([{ type: "text.delta", turn_id: id, text: "Half" }]))).rejects.toMatchObject({
      type: "api_error",
    });
  });

  test("thinking is left out for a client that wants it omitted", () => {
    const teller = new MessageTeller({ head: { ...head, omitsThinking: true }, requestId: "r", lost: "" });

    expect(teller.say("reasoning", "secret")).not.toContain("secret");
  });
});
