import { describe, expect, test } from "vitest";
import type { Command } from "../../src/domain/commands";
import { decide } from "../../src/domain/decide";
import type { Event } from "../../src/domain/events";
import { evolve } from "../../src/domain/evolve";
import type { FinishReason } from "../../src/domain/model-call";
import type { ToolFailure } from "../../src/domain/tool-run";
import { draft, given, id, item, itemId, play, turnId } from "../support/builders";

const INC = "life-1";

const submit = (n: number, change: Partial<Extract<Command, { type: "SubmitMessage" }>> = {}): Command => ({
  type: "SubmitMessage",
  at: n,
  message: { item: draft(n, { turn: turnId(n) }), turn: turnId(n), rest: [], tools: null },
  onBusy: "queue",
  incarnation: INC,
  queueLimit: 2,
  partial: null,
  call: null,
  ...change,
});

const modelCall = (n: number, outcome: FinishReason = "stop") =>
  ({
    turn: turnId(n),
    purpose: "turn",
    model: "test-model",
    epoch: 0,
    up_to: n,
    usage: null,
    estimate: 10,
    request_digest: null,
    outcome,
    ms: 5,
    lease: null,
  }) as const;

const reply = (n: number, change: Partial<Extract<Command, { type: "RecordAssistant" }>> = {}): Command => ({
  type: "RecordAssistant",
  at: 50 + n,
  turn: turnId(n),
  incarnation: INC,
  call: modelCall(n),
  reply: draft(100 + n, { kind: "assistant", turn: turnId(n) }),
  calls: [],
  finish: "stop",
  ...change,
});

const asks = (n: number, executions: readonly number[]): Command =>
  reply(n, {
    reply: null,
    finish: "tool_calls",
    calls: executions.map((e) => ({
      item: draft(200 + e, {
        kind: "tool_call",
        turn: turnId(n),
        tool: { execution: id("exe", e), call_id: `call_${e}`, name: "look_up" },
      }),
    })),
  });

const answer = (executions: readonly number[]): Command => ({
  type: "RecordToolResults",
  at: 70,
  incarnation: INC,
  results: executions.map((e) => ({ execution: id("exe", e), call_id: null, item: draft(300 + e), is_error: false })),
});

const types = (events: readonly Event[]): string[] => events.map((event) => event.type);

describe("a message enters the conversation", () => {
  test("when nothing runs, it gets its position and its turn at once", () => {
    const { events } = play([submit(1)], given());
    expect(events).toMatchObject([{ type: "TurnStarted", turn: turnId(1), attempt: 1, item: { id: itemId(1), position: 1 } }]);
  });

  test("while a turn runs it waits, and takes its place after the reply", () => {
    const { state, events } = play([submit(1), submit(2), reply(1), { type: "StartTurn", at: 60, incarnation: INC }], given());
    expect(types(events)).toEqual([
      "TurnStarted",
      "MessageQueued",
      "ModelCallFinished",
      "AssistantReplied",
      "TurnCompleted",
      "TurnStarted",
    ]);
    expect(state.view.items.map((entry) => [entry.id, entry.position])).toEqual([
      [itemId(1), 1],
      [itemId(101), 2],
      [itemId(2), 3],
    ]);
  });

  test("a full queue refuses, and keeps what waits", () => {
    const { state, rejected } = play([submit(1), submit(2), submit(3), submit(4)], given());
    expect(rejected).toBe("queue_full");
    expect(state.queue.map((entry) => entry.item.id)).toEqual([itemId(2), itemId(3)]);
  });

  test("on_busy reject refuses while a turn runs and appends nothing", () => {
    const running = play([submit(1)], given()).state;
    expect(decide(submit(2, { onBusy: "reject" }), running)).toEqual({ ok: false, error: { code: "turn_running", turn: turnId(1) } });
  });

  test("on_busy interrupt stops the turn, keeps what it said, and goes before what waits", () => {
    const partial = draft(9, { kind: "assistant", turn: turnId(1) });
    const { state } = play(
      [submit(1), submit(2), submit(3, { onBusy: "interrupt", partial }), { type: "StartTurn", at: 60, incarnation: INC }],
      given(),
    );
    expect(state.view.items.map((entry) => [entry.id, entry.incomplete ?? false])).toEqual([
      [itemId(1), false],
      [itemId(9), true],
      [itemId(3), false],
    ]);
    expect(state.queue.map((entry) => entry.item.id)).toEqual([itemId(2)]);
  });

  test("on_busy interrupt goes before what waits also in between two turns, when there is none to stop", () => {
    const { state, events } = play([submit(1), submit(2), reply(1), submit(3, { onBusy: "interrupt" })], given());
    expect(events.at(-1)).toMatchObject({ type: "MessageQueued", front: true });
    expect(state.turn).toBeNull();
    const next = play([{ type: "StartTurn", at: 60, incarnation: INC }], state).state;
    expect(next.turn?.id).toBe(turnId(3));
    expect(next.queue.map((entry) => entry.item.id)).toEqual([itemId(2)]);
  });

  test.each([2, 3])("%s interruptions are answered in their order, before what waits, whatever comes between them", (count) => {
    const ids = Array.from({ length: count }, (_, n) => 3 + 2 * n);
    const commands = ids.flatMap((n) => [submit(n, { onBusy: "interrupt", queueLimit: 9 }), submit(n + 1, { queueLimit: 9 })]);
    const { state } = play([submit(1), submit(2), ...commands], given());
    const plain = [2, ...ids.map((n) => n + 1)];
    expect(state.queue.map((entry) => entry.item.id)).toEqual([...ids, ...plain].map(itemId));
  });

  test("an interruption goes behind the earlier one once that is being answered", () => {
    const next: Command = { type: "StartTurn", at: 60, incarnation: INC };
    const interrupt = (n: number) => submit(n, { onBusy: "interrupt" });
    const { state } = play([submit(1), interrupt(2), next, interrupt(3), next], given());
    expect(state.view.items.map((entry) => entry.id)).toEqual([itemId(1), itemId(2), itemId(3)]);
  });

  test("a log of an older build is read as that build did: its newest interruption waits first", () => {
    const queued = (n: number): Event => {
      const message = { item: draft(n), turn: turnId(n), rest: [], tools: null };
      return { type: "MessageQueued", message, front: true };
    };
    const { state: running } = play([submit(1)], given());
    const state = [queued(2), queued(3)].reduce((before, event) => evolve(before, { ...event, seq: before.seq + 1, at: 60 }), running);
    expect(state.queue.map((entry) => entry.item.id)).toEqual([itemId(3), itemId(2)]);
  });

  test("run false appends without a turn, and waits its turn when one runs", () => {
    const append = (n: number): Command => submit(n, { message: { item: draft(n), turn: null, rest: [], tools: null } });
    const { state } = play([append(1), submit(2), append(3), reply(2), { type: "StartTurn", at: 60, incarnation: INC }], given());
    expect(state.view.items.map((entry) => entry.id)).toEqual([itemId(1), itemId(2), itemId(102), itemId(3)]);
    expect(state.turn).toBeNull();
  });

  test("a queued message can be cancelled; one that entered cannot", () => {
    const busy = play([submit(1), submit(2)], given()).state;
    const cancelled = play([{ type: "CancelQueued", at: 9, message: itemId(2) }], busy);
    expect(cancelled.state.queue).toEqual([]);
    expect(cancelled.events).toEqual([{ type: "QueuedMessageCancelled", message: itemId(2), turn: turnId(2) }]);
    expect(play([{ type: "CancelQueued", at: 9, message: itemId(1) }], busy).rejected).toBe("message_not_queued");
  });
});

describe("a reply that its provider ended", () => {
  const marks = (change: Parameters<typeof reply>[1]) =>
    play([submit(1), reply(1, change)], given()).state.view.items.map(({ kind, incomplete = false }) => [kind, incomplete]);

  test.each(["length", "content_filter"] as const)("by %s is incomplete", (finish) => {
    expect(marks({ finish })).toEqual([
      ["user", false],
      ["assistant", true],
    ]);
  });

  test.each(["stop", "other"] as const)("by %s is complete", (finish) => {
    expect(marks({ finish })).toEqual([
      ["user", false],
      ["assistant", false],
    ]);
  });

  test("by its limit behind calls is complete: the turn goes on with their results", () => {
    const tool = { execution: id("exe", 1), call_id: "call_1", name: "look_up" };
    const calls = [{ item: draft(201, { kind: "tool_call", turn: turnId(1), tool }) }];

    expect(marks({ finish: "length", calls }).map(([, incomplete]) => incomplete)).toEqual([false, false, false]);
  });
});

describe("client tools", () => {
  test("calls pause the turn until every result is in, in any order", () => {
    const waiting = play([submit(1), asks(1, [1, 2])], given()).state;
    expect(waiting.turn?.phase).toBe("awaiting_tools");
    const half = play([answer([2])], waiting).state;
    expect(half.turn?.open_calls.map((open) => open.execution)).toEqual([id("exe", 1)]);
    expect(play([answer([1])], half).state.turn).toMatchObject({ phase: "generating", incarnation: INC });
  });

  test("a result for a call that is not open refuses the whole request", () => {
    const waiting = play([submit(1), asks(1, [1, 2])], given()).state;
    const { rejected, state } = play([answer([1, 7])], waiting);
    expect(rejected).toBe("call_not_open");
    expect(state).toBe(waiting);
  });

  test("a provider's call id that repeats means the first open call of that id", () => {
    const twice = reply(1, {
      reply: null,
      calls: [1, 2].map((e) => ({
        item: draft(200 + e, { kind: "tool_call", tool: { execution: id("exe", e), call_id: "same", name: "look_up" } }),
      })),
    });
    const waiting = play([submit(1), twice], given()).state;
    const byCallId = (n: number): Command => ({
      type: "RecordToolResults",
      at: 70,
      incarnation: INC,
      results: [{ execution: null, call_id: "same", item: draft(n), is_error: false }],
    });
    const { state, rejected } = play([byCallId(301), byCallId(302), byCallId(303)], waiting);
    expect(state.view.items.filter((entry) => entry.kind === "tool_result").map((entry) => entry.tool?.execution)).toEqual([
      id("exe", 1),
      id("exe", 2),
    ]);
    expect(rejected).toBe("call_not_open");
  });

  test("a new message supersedes a turn that waits for tools", () => {
    const waiting = play([submit(1), asks(1, [1])], given()).state;
    const { events, state } = play([submit(2)], waiting);
    expect(events).toMatchObject([
      { type: "TurnStopped", reason: "superseded" },
      { type: "TurnStarted", turn: turnId(2) },
    ]);
    expect(play([answer([1])], state).rejected).toBe("call_not_open");
  });

  test("a new message supersedes it too when others wait already, and takes its place behind them", () => {
    const waiting = play([submit(1), submit(2), asks(1, [1])], given()).state;
    const { state, rejected } = play([submit(3), { type: "StartTurn", at: 60, incarnation: INC }], waiting);
    expect(rejected).toBeNull();
    expect(state.turn?.id).toBe(turnId(2));
    expect(state.queue.map((entry) => entry.item.id)).toEqual([itemId(3)]);
  });

  test("expiry ends only a turn that waits", () => {
    const expire: Command = { type: "StopTurn", at: 99, turn: turnId(1), reason: "tools_expired", partial: null, call: null };
    expect(play([submit(1), expire], given()).rejected).toBe("stale");
    expect(play([submit(1), asks(1, [1]), expire], given()).state.last_turn).toMatchObject({
      status: "stopped",
      stop_reason: "tools_expired",
    });
  });
});

describe("a result of a run that is over decides to nothing", () => {
  test("after a stop", () => {
    const stopped = play(
      [submit(1), { type: "StopTurn", at: 9, turn: null, reason: "requested", partial: null, call: null }],
      given(),
    ).state;
    expect(decide(reply(1), stopped)).toEqual({ ok: false, error: { code: "stale", reason: "turn_over" } });
  });

  test("from an earlier incarnation", () => {
    const rerun = play(
      [submit(1), { type: "RecoverTurn", at: 9, incarnation: "life-2", stallLimit: 3, partial: null, call: null }],
      given(),
    ).state;
    expect(decide(reply(1), rerun)).toEqual({ ok: false, error: { code: "stale", reason: "other_incarnation" } });
    expect(play([reply(1, { incarnation: "life-2" })], rerun).state.last_turn?.status).toBe("completed");
  });

  test("the same reply twice", () => {
    expect(play([submit(1), reply(1), reply(1)], given()).rejected).toBe("stale");
  });
});

describe("a turn whose object died", () => {
  const recover = (life: string, change: Partial<Extract<Command, { type: "RecoverTurn" }>> = {}): Command => ({
    type: "RecoverTurn",
    at: 9,
    incarnation: life,
    stallLimit: 2,
    partial: null,
    call: null,
    ...change,
  });

  test("runs again when it had said nothing, and so often only", () => {
    const again = play([submit(1), recover("life-2")], given());
    expect(again.events.at(-1)).toMatchObject({ type: "TurnStarted", turn: turnId(1), attempt: 2, incarnation: "life-2" });
    expect(play([recover("life-3")], again.state).events).toMatchObject([{ type: "TurnFailed", failure: { kind: "crashed" } }]);
  });

  /** The turn in its nth life, before that has done anything. */
  const inLife = (n: number) =>
    play([submit(1), ...Array.from({ length: n - 1 }, (_, index) => recover(`life-${index + 2}`, { stallLimit: 9 }))], given()).state;
  const call = { type: "ModelCallFinished", ...modelCall(1) } as const;
  const tool = { execution: id("exe", 1), call_id: "call_1", name: "look_up", is_error: true };
  const result = (failure: ToolFailure | null): Event => ({
    type: "ToolResultRecorded",
    turn: turnId(1),
    item: item(2, "tool_result", { turn: turnId(1), tool }),
    incarnation: "life-3",
    ran: { ms: 1, exit_code: null, failure, artifacts: [] },
  });

  test.each<[string, Event, number]>([
    ["a model call that finished", call, 0],
    ["a model call with calls of tools", { ...call, outcome: "tool_calls" }, 0],
    ["a reply that reached its limit", { ...call, outcome: "length" }, 0],
    ["a summary that the turn waited for", { ...call, purpose: "compaction" }, 0],
    ["a tool's result", result(null), 0],
    ["a tool's failure", result("timeout"), 0],
    ["the end of a call that the life before began, which is unknown", result("unknown_outcome"), 3],
    ["a model call that crashed", { ...call, outcome: "crashed" }, 3],
    ["a model call that failed", { ...call, outcome: "unavailable" }, 3],
    ["a title", { ...call, purpose: "title" }, 3],
    ["a question about summaries", { ...call, purpose: "comparison" }, 3],
    ["a tool that begins", { type: "ToolStarted", turn: turnId(1), execution: tool.execution, incarnation: "life-3" }, 3],
  ])("was brought further, or not, by %s", (_, event, stalled) => {
    expect(evolve(inLife(3), { ...event, seq: 99, at: 9 }).turn?.stalled_lives).toBe(stalled);
  });

  test("runs again however often it died, as long as each life brings it further", () => {
    let { state } = play([submit(1)], given());
    const DEATHS = 40;
    for (let n = 2; n < DEATHS; n++) {
      const round = reply(1, { ...asks(1, [n]), incarnation: `life-${n - 1}` } as object);
      const results = { ...answer([n]), incarnation: `life-${n - 1}` } as Command;
      ({ state } = play([round, results, recover(`life-${n}`, { stallLimit: 3 })], state));
      expect(state.turn).toMatchObject({ attempt: n, stalled_lives: 1, rounds: n - 1 });
    }

    const stalls = [1, 2, 3].map((n) => recover(`life-${DEATHS + n}`, { stallLimit: 3 }));
    expect(play(stalls.slice(0, 2), state).state.turn).toMatchObject({ attempt: DEATHS + 1, stalled_lives: 3 });
    expect(play(stalls, state).state.last_turn).toMatchObject({ status: "failed", failure: { kind: "crashed" } });
  });

  test("is interrupted when it had said something, and that is kept", () => {
    const { state } = play([submit(1), recover("life-2", { partial: draft(9, { kind: "assistant" }) })], given());
    expect(state.last_turn?.status).toBe("interrupted");
    expect(state.view.items.at(-1)).toMatchObject({ id: itemId(9), incomplete: true });
  });

  test("is left alone by the life that runs it, and when it waits for tools", () => {
    expect(play([submit(1), recover(INC)], given()).events).toHaveLength(1);
    expect(play([submit(1), asks(1, [1]), recover("life-2")], given()).state.turn?.phase).toBe("awaiting_tools");
  });
});

describe("retry", () => {
  const retry: Command = { type: "RetryTurn", at: 80, turn: turnId(8), incarnation: INC };

  test("answers again, and the view forgets the cut-off reply while the record keeps it", () => {
    const partial = draft(9, { kind: "assistant" });
    const stopped = play([submit(1), { type: "StopTurn", at: 9, turn: null, reason: "requested", partial, call: null }], given()).state;
    const { state, events } = play([retry], stopped);
    expect(events).toMatchObject([{ type: "TurnStarted", turn: turnId(8), item: null, retry_of: turnId(1) }]);
    expect(state.view.items.map((entry) => entry.id)).toEqual([itemId(1)]);
    expect(state.next_position).toBe(3);
  });

  test("offers the tools that the ended turn was offered", () => {
    const tools = { body: id("bod", 1), bytes: 9, tokens: 3 };
    const message = { item: draft(1, { turn: turnId(1) }), turn: turnId(1), rest: [], tools };
    const failed = play(
      [submit(1, { message }), { type: "StopTurn", at: 9, turn: null, reason: "requested", partial: null, call: null }],
      given(),
    ).state;
    expect(play([retry], failed).state.turn?.tools).toEqual(tools);
  });

  test("refuses a turn that was completed, one that runs, and none", () => {
    expect(play([submit(1), reply(1), retry], given()).rejected).toBe("not_retryable");
    expect(play([submit(1), retry], given()).rejected).toBe("turn_running");
    expect(play([retry], given()).rejected).toBe("not_retryable");
  });
});

describe("the anchor", () => {
  const usage = { input: 700, output: 50, cached: 0, reasoning: 20 };

  test("counts the request and its reply, reasoning left out", () => {
    const { state } = play([submit(1), reply(1, { call: { ...modelCall(1), usage } })], given());
    expect(state.anchor).toMatchObject({ input: 700, output: 30, up_to: 1, reply_to: 2 });
  });

  test("of an earlier epoch is not taken", () => {
    const { state } = play([submit(1), reply(1, { call: { ...modelCall(1), usage, epoch: 4 } })], given());
    expect(state.anchor).toBeNull();
  });

  test("holds over a change of the system prompt or tools, as usage of the earlier epoch", () => {
    const anchored = play([submit(1), reply(1, { call: { ...modelCall(1), usage } })], given()).state;
    const change = (changes: Extract<Command, { type: "ChangeSettings" }>["changes"]): Command => ({
      type: "ChangeSettings",
      at: 90,
      changes,
    });
    expect(anchored.anchor).toMatchObject({ epoch: 0, holds_in: 0 });
    expect(play([change({ system: null })], anchored).state.anchor).toMatchObject({ epoch: 0, holds_in: 1 });
    expect(play([change({ model: "other" })], anchored).state.anchor).toMatchObject({ epoch: 0, holds_in: 1, model: "test-model" });
    expect(play([change({ title: null })], anchored).state.anchor).toMatchObject({ epoch: 0, holds_in: 0 });
  });
});

describe("a change of settings during a call", () => {
  const change: Command = { type: "ChangeSettings", at: 30, changes: { system: { body: id("bod", 1), bytes: 9, tokens: 9 } } };
  const usage = { input: 700, output: 50, cached: 0, reasoning: 0 };

  test("moves the epoch, so that the call's count does not come back as the new request's", () => {
    const { state } = play([submit(1), change, reply(1, { call: { ...modelCall(1), usage } })], given());
    expect(state).toMatchObject({ anchor: null, view: { epoch: 1 }, last_turn: { status: "completed" } });
  });

  test("ends a compaction that was planned on the old one", () => {
    const request: Command = { type: "RequestCompaction", at: 20, compaction: id("cmp", 1), trigger: "threshold", options: null };
    expect(play([request, change], given()).events.slice(-2)).toMatchObject([
      { type: "CompactionFailed", failure: "superseded", final: true },
      { type: "SettingsChanged" },
    ]);
  });
});

test("reasoning that a provider counts beside the output never makes the reply weigh less than nothing", () => {
  const usage = { input: 120, output: 500, cached: 0, reasoning: 8_000 };
  expect(play([submit(1), reply(1, { call: { ...modelCall(1), usage } })], given()).state.anchor?.output).toBe(500);
});

test("an erased session refuses everything but another erasure", () => {
  const erased = play([{ type: "EraseSession", at: 1 }], given()).state;
  expect(play([submit(1)], erased).rejected).toBe("session_erased");
  expect(play([{ type: "EraseSession", at: 2 }], erased)).toMatchObject({ events: [], rejected: null });
});
