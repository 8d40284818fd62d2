/** Calls of tools that run on the server, calls that need a person's approval, and both when a turn ends or its object dies. */
import { describe, expect, test } from "vitest";
import type { CalledTool, Command, NewToolRun } from "../../src/domain/commands";
import { decide } from "../../src/domain/decide";
import type { Event } from "../../src/domain/events";
import type { SessionState } from "../../src/domain/state";
import type { ToolFailure } from "../../src/domain/tool-run";
import { draft, given, id, play, turnId } from "../support/builders";

const LIFE = "life-1";
const NEXT = "life-2";
const exe = (n: number) => id("exe", n);

const asks: Command = {
  type: "SubmitMessage",
  at: 1,
  message: { item: draft(1, { turn: turnId(1) }), turn: turnId(1), rest: [], tools: null },
  onBusy: "queue",
  incarnation: LIFE,
  queueLimit: 4,
  partial: null,
  call: null,
};

/** The calls of a reply: `s` runs on the server, `a` runs on the server after approval, `c` is the client's. They are numbered from 1. */
type Kinds = readonly ("s" | "a" | "c")[];

function calls(kinds: Kinds, first = 1): Command {
  const called = kinds.map((kind, index): CalledTool => {
    const n = first + index;
    const tool = { execution: exe(n), call_id: `call_${n}`, name: "look_up" };
    return {
      item: draft(200 + n, { kind: "tool_call", turn: turnId(1), tool }),
      ...(kind !== "c" && { server: true }),
      ...(kind === "a" && { needs_approval: true }),
    };
  });
  const call = {
    turn: turnId(1),
    purpose: "turn",
    model: "test-model",
    epoch: 0,
    up_to: 1,
    usage: null,
    estimate: 10,
    request_digest: null,
    outcome: "tool_calls",
    ms: 5,
    lease: null,
  } as const;
  return { type: "RecordAssistant", at: 50, turn: turnId(1), incarnation: LIFE, call, reply: null, calls: called, finish: "tool_calls" };
}

const starts = (n: number, incarnation = LIFE): Command => ({
  type: "StartTool",
  at: 60,
  turn: turnId(1),
  incarnation,
  execution: exe(n),
});

const ranAs = (n: number, failure: ToolFailure | null = null): NewToolRun => ({
  execution: exe(n),
  item: draft(300 + n),
  is_error: failure !== null,
  ran: { ms: 7, exit_code: null, failure, artifacts: [] },
});

const ran = (n: number, incarnation = LIFE): Command => ({
  type: "RecordToolRun",
  at: 70,
  turn: turnId(1),
  incarnation,
  result: ranAs(n),
});

const gives = (ns: readonly number[], by: "execution" | "call_id" = "execution", incarnation = LIFE): Command => ({
  type: "RecordToolResults",
  at: 80,
  incarnation,
  results: ns.map((n) => ({
    execution: by === "execution" ? exe(n) : null,
    call_id: by === "call_id" ? `call_${n}` : null,
    item: draft(400 + n),
    is_error: false,
  })),
});

/** Positive: approved. Negative: refused. */
const answers = (ns: readonly number[], incarnation = LIFE): Command => ({
  type: "ResolveApprovals",
  at: 90,
  incarnation,
  approvals: ns.map((n) => ({ execution: exe(Math.abs(n)), denied: n < 0 ? draft(500 - n) : null })),
});

const recovers = (lost: readonly number[] = [], stallLimit = 3): Command => ({
  type: "RecoverTurn",
  at: 100,
  incarnation: NEXT,
  stallLimit,
  partial: null,
  call: null,
  lost: lost.map((n) => ranAs(n, "unknown_outcome")),
});

const stops = (lost: readonly number[] = [], reason: "requested" | "tools_expired" = "requested"): Command => ({
  type: "StopTurn",
  at: 110,
  turn: null,
  reason,
  partial: null,
  call: null,
  lost: lost.map((n) => ranAs(n, "unknown_outcome")),
});

const having = (kinds: Kinds, ...more: readonly Command[]) => play([asks, calls(kinds), ...more], given());
const listOpenCalls = ({ turn }: SessionState) => (turn?.open_calls ?? []).map(({ call_id }) => call_id);
const newest = (events: readonly Event[], since: Kinds): readonly Event[] => {
  const requested = since.filter((kind) => kind === "a").length;
  return events.slice(2 + since.length + requested);
};
const results = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === "ToolResultRecorded" ? [[event.item.tool?.call_id, event.ran?.failure, event.item.position]] : [],
  );

describe("a call that runs here", () => {
  test("is begun, then recorded, and with the last one the turn goes on", () => {
    const begun = having(["s", "s"], starts(1));
    expect(begun.state.turn).toMatchObject({ phase: "running_tools", open_calls: [{ started: true }, {}] });

    const done = having(["s", "s"], starts(1), ran(1), starts(2), ran(2));

    expect(newest(done.events, ["s", "s"]).map(({ type }) => type)).toEqual([
      "ToolStarted",
      "ToolResultRecorded",
      "ToolStarted",
      "ToolResultRecorded",
    ]);
    expect(done.state.turn).toMatchObject({ phase: "generating", open_calls: [] });
  });

  test("may have its result without having been begun: it cannot be run, or has no effect", () => {
    expect(having(["s"], ran(1)).state.turn?.phase).toBe("generating");
  });

  test.each([
    ["begun twice", [starts(1), starts(1)], "call_over"],
    ["recorded twice", [starts(1), ran(1), ran(1)], "turn_over"],
    ["recorded twice while another runs", [starts(1), ran(1), ran(1)], "call_over", ["s", "s"]],
    ["begun by another life", [starts(1, NEXT)], "other_incarnation"],
    ["recorded by another life", [starts(1), ran(1, NEXT)], "other_incarnation"],
    ["begun when its turn is over", [stops(), starts(1)], "turn_over"],
    ["recorded when its turn is over", [starts(1), stops([1]), ran(1)], "turn_over"],
    ["begun, and unknown", [starts(9)], "call_over"],
  ] as const)("%s decides to nothing", (_, commands, reason, kinds: Kinds = ["s"]) => {
    const before = having(kinds, ...commands.slice(0, -1));
    const last = commands.at(-1);
    if (!last) throw new Error("no command");
    expect(before.rejected).toBeNull();
    expect(decide(last, before.state)).toEqual({ ok: false, error: { code: "stale", reason } });
  });

  test("is never answered by a client, by either of its ids, nor by one that another call has too", () => {
    const { state } = having(["s", "c"]);
    for (const by of ["execution", "call_id"] as const)
      expect(decide(gives([1], by), state)).toMatchObject({ ok: false, error: { code: "call_not_open", index: 0 } });
    expect(decide(gives([2, 1]), state)).toMatchObject({ ok: false, error: { code: "call_not_open", index: 1 } });
  });

  test("waits for no client beside it, and holds the turn until both have their results", () => {
    const running = having(["s", "c"], gives([2]));
    expect(running.state.turn?.phase).toBe("running_tools");
    const waiting = having(["s", "c"], starts(1), ran(1));
    expect(waiting.state.turn?.phase).toBe("awaiting_tools");
    expect(having(["s", "c"], starts(1), ran(1), gives([2])).state.turn?.phase).toBe("generating");
  });

  test("a client may say how its own call went", () => {
    const how = { ms: 12, exit_code: 2, failure: null, artifacts: [{ type: "stderr", body: id("bod", 1), bytes: 3 }] } as const;
    const command = gives([1]);
    if (command.type !== "RecordToolResults") throw new Error("not results");
    const { events } = having(["c"], { ...command, results: command.results.map((result) => ({ ...result, ran: how })) });
    expect(events.at(-1)).toMatchObject({ type: "ToolResultRecorded", ran: how });
  });
});

describe("a call that a person must allow", () => {
  test("is shown with its id, waits, and does not run meanwhile", () => {
    const { state, events } = having(["a"]);
    expect(events.slice(-2)).toEqual([
      expect.objectContaining({ type: "ToolCalled", server: true }),
      { type: "ApprovalRequested", turn: turnId(1), execution: exe(1) },
    ]);
    expect(state.turn).toMatchObject({ phase: "awaiting_tools", open_calls: [{ approval: "pending" }] });
    expect(decide(starts(1), state)).toMatchObject({ ok: false, error: { code: "stale" } });
    expect(decide(ran(1), state)).toMatchObject({ ok: false, error: { code: "stale" } });
  });

  test("runs once it is approved, in the life that received the approval", () => {
    const { state } = having(["a"], answers([1], NEXT));
    expect(state.turn).toMatchObject({ phase: "running_tools", incarnation: NEXT, open_calls: [{ execution: exe(1) }] });
    expect(decide(starts(1), state)).toEqual({ ok: false, error: { code: "stale", reason: "other_incarnation" } });
    expect(decide(starts(1, NEXT), state)).toMatchObject({ ok: true, value: [{ type: "ToolStarted", incarnation: NEXT }] });
  });

  test("has its result at once when it is refused, and the turn goes on", () => {
    const { state, events } = having(["a"], answers([-1], NEXT));
    expect(events.slice(-2)).toMatchObject([
      { type: "ApprovalResolved", approved: false },
      { type: "ToolResultRecorded", item: { position: 3, tool: { is_error: true } }, ran: { failure: "denied" } },
    ]);
    expect(state.turn).toMatchObject({ phase: "generating", incarnation: NEXT });
  });

  test("is answered with others: what is refused takes its place in order, what is left waits", () => {
    const { state, events } = having(["a", "a", "a", "a"], answers([-3, 1, -2]));
    expect(results(events)).toEqual([
      ["call_3", "denied", 6],
      ["call_2", "denied", 7],
    ]);
    expect(listOpenCalls(state)).toEqual(["call_1", "call_4"]);
    expect(state.turn?.phase).toBe("running_tools");
    expect(having(["a", "a", "a", "a"], answers([-3, 1, -2]), starts(1), ran(1)).state.turn?.phase).toBe("awaiting_tools");
  });

  test.each([
    ["in another request", [answers([1]), answers([1])], 0],
    ["in the same request", [answers([1, 1])], 1],
    ["once refused", [answers([-1]), answers([1])], 0],
    ["that waits for no approval", [answers([2])], 0],
    ["of the client's", [answers([3])], 0],
    ["when its turn is over", [stops(), answers([1])], 0],
  ] as const)("a second answer, or one that was not requested, is refused: %s", (_, commands, index) => {
    const before = having(["a", "s", "c"], ...commands.slice(0, -1));
    const last = commands.at(-1);
    if (!last) throw new Error("no command");
    expect(before.rejected).toBeNull();
    expect(decide(last, before.state)).toMatchObject({ ok: false, error: { code: "approval_not_open", index } });
  });

  test("is not answered by a client's result", () => {
    expect(decide(gives([1]), having(["a"]).state)).toMatchObject({ ok: false, error: { code: "call_not_open" } });
  });

  test("outlives its object: a new life recovers nothing while it waits", () => {
    const { state, events } = having(["a"]);
    const recovered = play([recovers()], state);
    expect(recovered.events).toEqual([]);
    expect(recovered.state.turn?.open_calls).toEqual(state.turn?.open_calls);
    expect(events.filter(({ type }) => type === "TurnStarted")).toHaveLength(1);
  });

  test("may be answered while another runs", () => {
    const { state } = having(["s", "a"], starts(1), answers([2]));
    expect(state.turn?.open_calls).toMatchObject([{ started: true }, {}]);
    expect(decide(starts(2), state)).toMatchObject({ ok: true });
  });

  test("is cancelled by a new message, without a result", () => {
    const message = { item: draft(9, { turn: turnId(9) }), turn: turnId(9), rest: [], tools: null };
    const { state, events } = having(["a"], { ...asks, at: 95, message });
    expect(events.slice(-2)).toMatchObject([
      { type: "TurnStopped", reason: "superseded" },
      { type: "TurnStarted", turn: turnId(9) },
    ]);
    expect(decide(answers([1]), state)).toMatchObject({ ok: false, error: { code: "approval_not_open" } });
  });

  test("expires with its turn, and not while something of that runs", () => {
    expect(having(["a", "c"], stops([], "tools_expired")).state.last_turn).toMatchObject({ stop_reason: "tools_expired" });
    expect(decide(stops([], "tools_expired"), having(["a", "s"]).state)).toEqual({
      ok: false,
      error: { code: "stale", reason: "turn_over" },
    });
  });
});

describe("a turn that ends while tools run", () => {
  const message = { item: draft(9, { turn: turnId(9) }), turn: turnId(9), rest: [], tools: null };
  const lost = [ranAs(1, "unknown_outcome")];
  const interrupts: Command = { ...asks, at: 95, message, onBusy: "interrupt", lost };
  const fails: Command = {
    type: "FailTurn",
    at: 96,
    turn: turnId(1),
    incarnation: LIFE,
    failure: { kind: "internal", status: null },
    partial: null,
    call: null,
    lost,
  };

  test.each([
    ["stopped", stops([1]), "TurnStopped"],
    ["interrupted by a message", interrupts, "TurnStopped"],
    ["failed", fails, "TurnFailed"],
  ] as const)("%s: the outcome of a started call is unknown, and the others have none", (_, command, ended) => {
    const { state, events } = having(["s", "s", "c"], starts(1), command);
    expect(results(events)).toEqual([["call_1", "unknown_outcome", 5]]);
    expect(events.at(-1)?.type).toBe(ended);
    expect(state.turn).toBeNull();
  });

  test("a result for what was not begun is not recorded, nor for what ended meanwhile", () => {
    const { events } = having(["s", "s"], starts(1), ran(1), stops([1, 2]));
    expect(results(events)).toEqual([["call_1", null, 4]]);
  });

  test("what waits for its turn goes on waiting: a queued message stops nothing", () => {
    const { state, events } = having(["s"], starts(1), { ...asks, at: 95, message });
    expect(events.at(-1)?.type).toBe("MessageQueued");
    expect(state.turn?.open_calls).toMatchObject([{ started: true }]);
  });
});

describe("a turn whose object died while tools ran", () => {
  test("what was begun is not run again, what was not begun is, in the next life", () => {
    const { state, events } = having(["s", "s"], starts(1), recovers([1]));
    expect(newest(events, ["s", "s"]).slice(1)).toMatchObject([
      { type: "TurnStarted", attempt: 2, incarnation: NEXT, item: null },
      { type: "ToolResultRecorded", incarnation: NEXT, ran: { failure: "unknown_outcome" } },
    ]);
    expect(state.turn).toMatchObject({ phase: "running_tools", attempt: 2, open_calls: [{ execution: exe(2) }], rounds: 1 });
    expect(decide(starts(2, NEXT), state)).toMatchObject({ ok: true });
    expect(decide(ran(1, NEXT), state)).toEqual({ ok: false, error: { code: "stale", reason: "call_over" } });
  });

  test("it asks the model at once when nothing is left to run", () => {
    expect(having(["s"], starts(1), recovers([1])).state.turn).toMatchObject({ phase: "generating", open_calls: [] });
  });

  test("it waits when only the client's results and a person's answers are left", () => {
    const { state } = having(["s", "c", "a"], starts(1), recovers([1]));
    expect(state.turn).toMatchObject({ phase: "awaiting_tools", open_calls: [{}, { approval: "pending" }] });
  });

  test("its lives without progress are bounded: the last one ends with what is known", () => {
    const last = { ...recovers([1], 1), incarnation: "life-3" } as Command;
    const { state, events } = having(["s", "s"], recovers(), starts(1, NEXT), last);
    expect(results(events)).toEqual([["call_1", "unknown_outcome", 4]]);
    expect(state.last_turn).toMatchObject({ status: "failed", failure: { kind: "crashed" } });
  });

  test("its own life does not recover it", () => {
    const again: Command = { ...recovers([1]), incarnation: LIFE } as Command;
    expect(having(["s"], starts(1), again).events.at(-1)?.type).toBe("ToolStarted");
  });
});
