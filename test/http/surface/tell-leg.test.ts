/** A leg that is streamed, put together by the vendor's own SDK, is the answer that a request without a stream gets. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, inject, test } from "vitest";
import { createRandom, type Random } from "../../../scripts/support/random";
import type { StreamFrame } from "../../../src/contract/frame";
import { MessageTeller } from "../../../src/http/anthropic/message-frames";
import { toWholeMessage } from "../../../src/http/anthropic/message-report";
import { ChunkTeller } from "../../../src/http/openai/chat/frames";
import { toCompletion } from "../../../src/http/openai/chat/report";
import type { RecordedLeg } from "../../../src/http/surface/leg";
import type { LegTeller } from "../../../src/http/surface/tell-leg";
import type { Result } from "../../../src/lib/result";
import { type DrawnTurn, TurnDrawer } from "../ai-sdk/drawn-turn";
import { toStream } from "../support";
import { isTorn, readDrawn, reportLeg, tell, tellUsage } from "./drawn-legs";

const TURNS = 100;
const model = "m";
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const answerWith = (text: string) => async () => new Response(toStream(text), { headers: { "content-type": "text/event-stream" } });

interface Surface {
  createTeller(): LegTeller;
  toWhole(leg: RecordedLeg): Result<unknown, unknown>;
  /** What the SDK has at the end of the stream. An error event rejects. */
  accumulate(text: string): Promise<unknown>;
  /** The SDK's error where the rest cannot be told. */
  readonly lost: object;
}

const message = { id: "msg_1", model, omitsThinking: false };

const anthropic: Surface = {
  createTeller: () => new MessageTeller({ head: message, requestId: "request-1", lost: "Lost." }),
  toWhole: (leg) => toWholeMessage(leg, message),
  lost: { type: "api_error" },
  async accumulate(text) {
    const asked = { model, max_tokens: 100, messages: [{ role: "user" as const, content: "Well?" }] };
    const sdk = new Anthropic({ apiKey: "k", fetch: answerWith(text), maxRetries: 0 });
    return { ...(await sdk.messages.stream(asked).finalMessage()), parsed_output: undefined };
  },
};

const completion = { id: "chatcmpl-1", created: 1, model };

const chat: Surface = {
  createTeller: () => new ChunkTeller({ head: completion, includesUsage: true, lost: "Lost." }),
  toWhole: (leg) => toCompletion(leg, completion),
  lost: { type: "server_error" },
  async accumulate(text) {
    const sdk = new OpenAI({ apiKey: "k", fetch: answerWith(text), maxRetries: 0 });
    const stream = sdk.chat.completions.stream({ model, messages: [{ role: "user", content: "Well?" }] });
    // The SDK knows no reasoning, of which it would keep the last chunk.
    let reasoning_content = "";
    stream.on("chunk", ({ choices: [choice] }) => {
      if (choice && "reasoning_content" in choice.delta) reasoning_content += choice.delta.reasoning_content;
    });
    const { choices, ...whole } = await stream.finalChatCompletion();
    const [{ message: said, ...choice } = { message: null }] = choices;
    const { parsed: _, tool_calls = [], ...rest } = said ?? { parsed: null };
    const calls = tool_calls.map((call) => {
      if (call.type !== "function") throw new Error("A call of another type");
      return { id: call.id, type: call.type, function: { name: call.function.name, arguments: call.function.arguments } };
    });
    const isEmpty = said?.content === "" && (calls.length > 0 || said.refusal !== null);
    const shown = {
      ...{ ...rest, content: isEmpty ? null : said?.content },
      ...(reasoning_content !== "" && { reasoning_content }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return { ...whole, object: "chat.completion", choices: [{ ...choice, message: shown }] };
  },
};

/** Draws turns, and passes each of their legs on. */
async function eachLeg(random: Random, check: (drawn: DrawnTurn, frames: readonly StreamFrame[], nth: number) => Promise<void>) {
  for (let n = 0; n < TURNS; n++) {
    const drawn = new TurnDrawer(random).draw();
    for (const [nth, frames] of drawn.legs.entries()) await check(drawn, frames, nth);
  }
}

describe.each([
  ["Anthropic messages", anthropic],
  ["chat completions", chat],
])("%s: drawn turns", (_, { createTeller, toWhole, accumulate, lost }) => {
  const hear = async (...[frames, telling]: Parameters<typeof listen>): Promise<unknown> =>
    plain(await accumulate(await listen(frames, telling)));
  const listen = (frames: readonly StreamFrame[], telling: Omit<Parameters<typeof tell>[1], "teller">) =>
    tell(frames, { ...telling, teller: createTeller() });

  test("are the same as a stream and as a whole, in every leg", async () => {
    const random = createRandom(inject("seed"));
    let compared = 0;
    await eachLeg(random, async (drawn, frames, nth) => {
      const recorded = await readDrawn(drawn, reportLeg(drawn, nth));
      const text = await listen(tellUsage(frames, random), { recorded });
      const whole = toWhole(recorded);
      const heard = await accumulate(text).catch((error: unknown) => (error instanceof Error ? error : new Error("not an error")));
      if (heard instanceof Error) {
        expect(heard).toMatchObject(lost);
        return expect(isTorn(frames) || !whole.ok).toBe(true);
      }
      if (!whole.ok) throw new Error("A turn without an answer has none as a stream");
      expect(plain(heard)).toEqual(plain(whole.value));
      compared += 1;
    });
    expect(compared).toBeGreaterThan(TURNS / 2);
  });

  test("are the same wherever their stream is cut or has a gap, and when they are asked for again later", async () => {
    const random = createRandom(inject("seed") + 2);
    await eachLeg(random, async (drawn, frames, nth) => {
      const recorded = await readDrawn(drawn, reportLeg(drawn, nth));
      const whole = toWhole(recorded);
      if (!whole.ok || isTorn(frames)) return;
      const told = tellUsage(frames, random);
      const [from, to] = [random.between(0, told.length), random.between(0, told.length)].toSorted((a, b) => a - b);
      const gapped: StreamFrame[] = [...told.slice(0, from), { type: "stream.gap", to: 1 }, ...told.slice(to)];
      expect(await hear(told.slice(0, from), { recorded })).toEqual(plain(whole.value));
      expect(await hear(gapped, { recorded })).toEqual(plain(whole.value));
      expect(await hear(frames, { recorded, isPast: true })).toEqual(plain(whole.value));
    });
  });

  test("are the same where what they say and call is too large for a frame", async () => {
    const random = createRandom(inject("seed") + 4);
    await eachLeg(random, async (drawn, frames, nth) => {
      const recorded = await readDrawn(drawn, reportLeg(drawn, nth));
      const whole = toWhole(recorded);
      if (!whole.ok || isTorn(frames)) return;
      const large = frames.map((frame): StreamFrame => {
        if (frame.type === "turn.awaiting_tools") return { ...frame, tool_calls: [], content_omitted: true };
        if (frame.type !== "item.completed") return frame;
        const { tool_calls: _calls, ...item } = frame.item;
        return { ...frame, item: { ...item, content: [] }, content_omitted: true };
      });
      expect(await hear(tellUsage(large, random), { recorded })).toEqual(plain(whole.value));
    });
  });

  test("are in each leg what they were, however far the turn has gone since, and whatever its report leaves out", async () => {
    const random = createRandom(inject("seed") + 3);
    let compared = 0;
    await eachLeg(random, async (drawn, frames, nth) => {
      const end = frames.at(-1);
      const own = end?.type === "turn.awaiting_tools" ? end.tool_calls.filter(({ runs }) => runs === "client") : [];
      if (own.length === 0) return;
      const reported = reportLeg(drawn, nth);
      const then = toWhole(await readDrawn(drawn, reported));
      const { report } = reportLeg(drawn, drawn.legs.length - 1);
      const cut = { ...report, items: report.items.slice(random.between(1, report.items.length - 1)), items_truncated: true };
      expect(toWhole(await readDrawn(drawn, { ...reported, report }))).toEqual(then);
      expect(toWhole(await readDrawn(drawn, { ...reported, report: cut }))).toEqual(then);
      compared += 1;
    });
    expect(compared).toBeGreaterThan(TURNS / 10);
  });
});
