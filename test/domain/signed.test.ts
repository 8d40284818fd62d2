/** How long signed thinking stays in the view, and how its tokens are counted. */
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/domain/events";
import type { ItemMeta } from "../../src/domain/message";
import type { CallUsage } from "../../src/domain/model-call";
import type { SessionState } from "../../src/domain/state";
import { call, given, item, plainModel, RECEIPT, result, sized, turnId } from "../support/builders";

const TURN = turnId(1);
const SIGNED = { model: "opus", tokens: 500 } as const;

const started = (turn = TURN): Event => ({
  type: "TurnStarted",
  turn,
  incarnation: "life 1",
  attempt: 1,
  item: item(1, "user", { turn }),
  tools: null,
  retry_of: null,
});

const called = (usage: CallUsage): Event => ({
  type: "ModelCallFinished",
  turn: TURN,
  purpose: "turn",
  model: "opus",
  epoch: 0,
  up_to: 1,
  usage,
  estimate: 100,
  request_digest: null,
  outcome: "tool_calls",
  ms: 5,
  lease: null,
});

const USAGE: CallUsage = { input: 100, output: 90, cached: 0, reasoning: 60 };
const replied = (change: Partial<ItemMeta> = {}): Event => ({
  type: "AssistantReplied",
  turn: TURN,
  item: item(2, "assistant", { turn: TURN, signed: SIGNED, ...change }),
});
const toolCalled: Event = { type: "ToolCalled", turn: TURN, item: { ...call(3, 1), turn: TURN } };
const answered: Event = { type: "ToolResultRecorded", turn: TURN, item: { ...result(4, 1), turn: TURN }, incarnation: "life 1" };
const completed: Event = { type: "TurnCompleted", turn: TURN, finish: "stop" };
const epochChanged: Event = {
  type: "EpochChanged",
  base_epoch: 0,
  epoch: 1,
  trigger: "guard",
  compaction: null,
  ops: [{ op: "clear_results", items: [] }],
  receipt: RECEIPT,
};

const sumItemTokens = (state: SessionState): number => state.view.items.reduce((sum, each) => sum + sized(state).item(each), 0);

describe("a change of the view", () => {
  test("drops signed thinking of the turns that are over, and its weight with it", () => {
    const before = given(started(), called(USAGE), replied(), completed);
    const after = given(started(), called(USAGE), replied(), completed, epochChanged);
    expect(after.view.signed_from).toBe(3);
    expect(before.view.tokens - after.view.tokens).toBe(SIGNED.tokens);
    expect(after.view.tokens).toBe(sumItemTokens(after));
  });

  test("leaves the running turn all of its own, from its first item on", () => {
    const after = given(started(), called(USAGE), replied(), toolCalled, answered, epochChanged);
    expect(after.view.signed_from).toBe(1);
    expect(after.view.tokens).toBe(sumItemTokens(after));
    expect(sized(after).item({ position: 2, tokens: 10, signed: SIGNED })).toBe(10 + SIGNED.tokens);
  });

  test("holds for what comes after it again", () => {
    const after = given(started(), called(USAGE), completed, epochChanged, replied());
    expect(sized(after).item({ position: 9, tokens: 10, signed: SIGNED })).toBe(10 + SIGNED.tokens);
  });
});

describe("a reply's thinking", () => {
  const reported = (...events: Event[]): number => sized(given(started(), called(USAGE), ...events), plainModel("opus")).next().tokens;

  test("is counted with the reply as the provider counted it if it goes back", () => {
    expect(reported(replied())).toBe(100 + 90);
  });

  test("is not counted if it does not", () => {
    expect(reported({ type: "AssistantReplied", turn: TURN, item: item(2, "assistant", { turn: TURN }) })).toBe(100 + 30);
  });

  test("is counted once, though the reply's call is signed too", () => {
    const signedCall: Event = {
      type: "ToolCalled",
      turn: TURN,
      item: { ...call(3, 1), turn: TURN, signed: { model: "opus", tokens: 20 } },
    };
    const state = given(started(), called(USAGE), replied(), signedCall, answered);
    expect(state.anchor).toMatchObject({ output: 90, reply_to: 3 });
  });

  test("that the provider counts beside the output is added to it", () => {
    const beside: CallUsage = { input: 100, output: 20, cached: 0, reasoning: 60 };
    expect(given(started(), called(beside), replied()).anchor?.output).toBe(80);
  });
});
