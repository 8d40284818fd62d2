/** The ledger: exactly one `ModelCallFinished` for each model call, however the call ended. */
import { describe, expect, test } from "vitest";
import type { Command, EpochChange, ModelCall } from "../../src/domain/commands";
import type { Event } from "../../src/domain/events";
import type { SessionState } from "../../src/domain/state";
import { draft, given, id, item, play, RECEIPT, summaryPlan, turnId, viewing } from "../support/builders";

const INC = "life-1";
const types = (events: readonly Event[]): string[] => events.map((event) => event.type);

describe("a turn that is cut short in the middle of a call", () => {
  const call = (outcome: ModelCall["outcome"], turn = turnId(1)): ModelCall => ({
    turn,
    purpose: "turn",
    model: "test-model",
    epoch: 0,
    up_to: 1,
    usage: null,
    estimate: 10,
    request_digest: "d1",
    outcome,
    ms: 5,
    lease: null,
  });
  const submit = (n: number, change: Partial<Extract<Command, { type: "SubmitMessage" }>> = {}): Command => ({
    type: "SubmitMessage",
    at: n,
    message: { item: draft(n, { turn: turnId(n) }), rest: [], turn: turnId(n), tools: null },
    onBusy: "queue",
    incarnation: INC,
    queueLimit: 4,
    partial: null,
    call: null,
    ...change,
  });
  const partial = draft(9, { kind: "assistant", turn: turnId(1) });
  const running = (): SessionState => play([submit(1)], given()).state;
  const stop: Command = { type: "StopTurn", at: 5, turn: null, reason: "requested", partial, call: call("aborted") };
  const recover = (change: Partial<Extract<Command, { type: "RecoverTurn" }>>): Command => ({
    type: "RecoverTurn",
    at: 9,
    incarnation: "life-2",
    stallLimit: 2,
    partial: null,
    call: call("crashed"),
    ...change,
  });

  test("by a stop has the call, then the partial reply, then its end", () => {
    const { events } = play([stop], running());
    expect(types(events)).toEqual(["ModelCallFinished", "AssistantReplied", "TurnStopped"]);
    expect(events[0]).toMatchObject({ outcome: "aborted", usage: null, estimate: 10, request_digest: "d1" });
  });

  test("by an interrupting message has it too, and so has one that had said nothing", () => {
    const { events } = play([submit(2, { onBusy: "interrupt", call: call("aborted") })], running());
    expect(types(events)).toEqual(["MessageQueued", "ModelCallFinished", "TurnStopped"]);
  });

  test("by a crash has it whether it is interrupted, run again, or given up", () => {
    expect(types(play([recover({ partial })], running()).events)).toEqual(["ModelCallFinished", "AssistantReplied", "TurnInterrupted"]);
    const again = play([recover({})], running());
    expect(again.events).toMatchObject([
      { type: "ModelCallFinished", outcome: "crashed" },
      { type: "TurnStarted", attempt: 2 },
    ]);
    expect(types(play([recover({ incarnation: "life-3" })], again.state).events)).toEqual(["ModelCallFinished", "TurnFailed"]);
  });

  test("has what the provider had counted, if it had, and the next request is measured from there", () => {
    const usage = { input: 700, output: 50, cached: 0, reasoning: 0 };
    const { state } = play([{ ...stop, call: { ...call("aborted"), usage } }], running());
    expect(state.totals).toMatchObject({ calls: 1, input: 700 });
    expect(state.anchor).toMatchObject({ input: 700, up_to: 1, reply_to: 2 });
  });

  test("has nothing to add to what was recorded: the same call reported again by its own run is refused", () => {
    const late: Command = {
      type: "FailTurn",
      at: 6,
      turn: turnId(1),
      incarnation: INC,
      failure: { kind: "aborted", status: null },
      partial,
      call: call("aborted"),
    };
    expect(play([stop, late], running())).toMatchObject({ rejected: "stale" });
  });

  test("that waits for its tools is in the middle of none", () => {
    const asks: Command = {
      type: "RecordAssistant",
      at: 3,
      turn: turnId(1),
      incarnation: INC,
      call: call("tool_calls"),
      reply: null,
      calls: [
        { item: draft(20, { kind: "tool_call", turn: turnId(1), tool: { execution: id("exe", 1), call_id: "a", name: "look_up" } }) },
      ],
      finish: "tool_calls",
    };
    const { state } = play([asks], running());
    expect(types(play([{ ...stop, partial: null }], state).events)).toEqual(["TurnStopped"]);
  });

  test("of another turn is not this one's", () => {
    expect(types(play([{ ...stop, partial: null, call: call("aborted", turnId(7)) }], running()).events)).toEqual(["TurnStopped"]);
  });
});

describe("a summariser's call", () => {
  const CMP = id("cmp", 1);
  const call = (lease: number, outcome: ModelCall["outcome"] = "stop"): ModelCall => ({
    turn: null,
    purpose: "compaction",
    model: "test-model",
    epoch: 0,
    up_to: 4,
    usage: { input: 500, output: 20, cached: 0, reasoning: 0 },
    estimate: 400,
    request_digest: null,
    outcome,
    ms: 5,
    lease,
  });
  const range = { from: 1, to: 2 };
  const op = {
    op: "summarize",
    overlay: id("ovl", 1),
    ...range,
    replaces: [],
    tokens: 5,
    bytes: 20,
    items: 2,
    boundary_timestamp: 3,
    keeps: [],
    generation: 0,
    mode: "transcript",
    read: { ranges: [], overlays: [] },
  } as const;
  const change: EpochChange = { base_epoch: 0, ops: [op], receipt: RECEIPT };
  const request: Command = { type: "RequestCompaction", at: 10, compaction: CMP, trigger: "threshold", options: null };
  const lease = (at: number): Command => ({
    type: "LeaseCompaction",
    at,
    compaction: CMP,
    plan: { base_epoch: 0, ...summaryPlan(1, 2) },
    inline: null,
    expiresAt: at + 100,
    attemptLimit: 3,
  });
  const record = (token: number): Command => ({
    type: "RecordCompaction",
    at: 50,
    compaction: CMP,
    token,
    change,
    call: call(token),
    inside: null,
  });
  const fail = (token: number): Command => ({
    type: "FailCompaction",
    at: 60,
    compaction: CMP,
    token,
    failure: "empty",
    attemptLimit: 3,
    call: call(token),
    inside: null,
    fallback: null,
  });
  const spent = (token: number, part = 0): Command => ({ type: "RecordSpentCall", at: 90, call: call(token), part });
  const progress = (token: number, parts: number): Command => ({
    type: "ProgressCompaction",
    at: 40,
    compaction: CMP,
    token,
    expiresAt: 140,
    part: { summary: { body: id("bod", 1), bytes: 20, tokens: 5 }, stage: "history", history: null, position: 1, chars: 3, parts },
    call: call(token),
  });
  const four = (): SessionState => viewing([item(1, "user"), item(2, "assistant"), item(3, "user"), item(4, "assistant")]);
  const leased = (): SessionState => play([request, lease(20)], four()).state;
  /** The first worker hangs, and a second one has taken over. */
  const overtaken = (): SessionState => play([lease(200)], leased()).state;

  test("whose result comes late is in the ledger as stale, with what it cost, and changes nothing else", () => {
    const before = overtaken();
    const { events, state } = play([spent(1)], before);
    expect(events).toEqual([{ type: "ModelCallFinished", ...call(1), outcome: "stale" }]);
    expect(state.totals).toMatchObject({ calls: 1, input: 500 });
    expect(state).toMatchObject({ view: before.view, anchor: before.anchor, compaction: { lease: before.compaction.lease } });
  });

  test("is there once, however often its result is delivered", () => {
    expect(play([spent(1), spent(1)], overtaken()).rejected).toBe("stale");
    expect(play([record(1), spent(1)], leased()).rejected).toBe("stale");
    expect(play([fail(1), spent(1)], leased()).rejected).toBe("stale");
  });

  test("a chunk's result that is delivered again is not taken for the next chunk's", () => {
    const folding = play([progress(1, 1)], leased()).state;
    const over = play([{ type: "ChangeSettings", at: 45, changes: { model: "other" } }], folding).state;
    expect(play([spent(1)], over).rejected).toBe("stale");
    expect(play([spent(1, 1)], over).rejected).toBeNull();
    expect(play([spent(1, 1), spent(1, 1)], over).rejected).toBe("stale");
  });

  test("each chunk's call is counted once when a second worker continues", () => {
    const goesOn = play([progress(1, 1), lease(200)], leased()).state;
    const { rejected, state } = play([spent(1, 1), progress(2, 2)], goesOn);
    expect(rejected).toBeNull();
    expect(play([spent(2, 1)], state).rejected).toBe("stale");
    expect(play([spent(1, 0)], state).rejected).toBe("stale");
  });

  test("of each lease is counted by itself", () => {
    const { events, rejected } = play([record(2), spent(1)], overtaken());
    expect(rejected).toBeNull();
    expect(types(events)).toEqual(["ModelCallFinished", "EpochChanged", "ModelCallFinished"]);
  });

  test("of a compaction that the view has left behind is counted too", () => {
    const change: Command = { type: "ChangeSettings", at: 30, changes: { model: "other" } };
    expect(play([change, spent(1)], leased()).rejected).toBeNull();
  });

  test("of a lease that was never given belongs to no compaction", () => {
    expect(play([spent(5)], leased()).rejected).toBe("stale");
  });
});
