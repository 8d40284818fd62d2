/** How Anthropic's own SDK hears the end of a leg. What it hears of all of a leg is in `test/http/surface/tell-leg.test.ts`. */
import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, inject, test } from "vitest";
import { createRandom } from "../../../scripts/support/random";
import type { StreamFrame } from "../../../src/contract/frame";
import { MessageTeller } from "../../../src/http/anthropic/message-frames";
import { toWholeMessage } from "../../../src/http/anthropic/message-report";
import { readMessage } from "../../../src/http/anthropic/read-blocks";
import { TurnDrawer } from "../ai-sdk/drawn-turn";
import { makeId, toStream } from "../support";
import { readDrawn, reportLeg, TOTAL, tell } from "../surface/drawn-legs";

const TURNS = 100;
const head = { id: "msg_1", model: "claude-sonnet-4-5", omitsThinking: false };
const asked = {
  model: head.model,
  max_tokens: 100,
  messages: [{ role: "user", content: "Well?" }],
} satisfies Anthropic.MessageStreamParams;
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const translate = (frames: readonly StreamFrame[]): Promise<string> =>
  tell(frames, { teller: new MessageTeller({ head, requestId: "request-1", lost: "Lost." }) });

/** What the SDK's accumulator has at the end. An error event rejects. */
async function accumulate(text: string): Promise<unknown> {
  const answer = async () => new Response(toStream(text), { headers: { "content-type": "text/event-stream" } });
  const message = await new Anthropic({ apiKey: "k", fetch: answer, maxRetries: 0 }).messages.stream(asked).finalMessage();
  return plain({ ...message, parsed_output: undefined });
}

test("drawn turns come back as what the conversation has", async () => {
  const random = createRandom(inject("seed") + 1);
  for (let n = 0; n < TURNS; n++) {
    const drawn = new TurnDrawer(random).draw();
    const nth = drawn.legs.length - 1;
    const { report, after } = reportLeg(drawn, nth);
    const whole = toWholeMessage(await readDrawn(drawn, { report: { ...report, status: "completed" }, after }), head);
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
      { type: "text.delta", turn_id: id, message_id: makeId("msg"), text: "好" },
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
      { type: "text.delta", turn_id: id, message_id: makeId("msg"), text: "Hal" },
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
    await expect(
      accumulate(await translate([{ type: "text.delta", turn_id: id, message_id: makeId("msg"), text: "Half" }])),
    ).rejects.toMatchObject({
      type: "api_error",
    });
  });

  test("thinking is left out for a client that wants it omitted", () => {
    const teller = new MessageTeller({ head: { ...head, omitsThinking: true }, requestId: "r", lost: "" });

    expect(teller.say("reasoning", "secret")).not.toContain("secret");
  });
});
