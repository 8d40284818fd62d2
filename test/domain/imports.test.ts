import { describe, expect, test } from "vitest";
import type { Command } from "../../src/domain/commands";
import type { SessionState } from "../../src/domain/state";
import { draft, given, id, itemId, play, turnId } from "../support/builders";

const INC = "life-1";
type Submit = Extract<Command, { type: "SubmitMessage" }>;

const submit = (n: number, change: Partial<Submit>): Command => ({
  type: "SubmitMessage",
  at: n,
  message: { item: draft(n), turn: null, rest: [], tools: null },
  onBusy: "queue",
  incarnation: INC,
  queueLimit: 8,
  partial: null,
  call: null,
  ...change,
});
const ask = (n: number): Command => submit(n, { message: { item: draft(n, { turn: turnId(n) }), turn: turnId(n), rest: [], tools: null } });

const toolCall = (n: number, call_id: string) =>
  draft(n, { kind: "tool_call", tool: { execution: id("exe", n), call_id, name: "look_up" } });
/** An imported reply: its text has the id `n`, and its calls the following numbers. */
const reply = (n: number, ...calls: string[]): Command =>
  submit(n, {
    message: {
      item: draft(n, { kind: "assistant" }),
      rest: calls.map((call_id, index) => toolCall(n + 1 + index, call_id)),
      turn: null,
      tools: null,
    },
  });
const result = (n: number, call_id: string, change: Partial<Submit> = {}): Command =>
  submit(n, {
    message: { item: draft(n, { kind: "tool_result" }), turn: null, rest: [], tools: null },
    answers: { call_id, is_error: false },
    ...change,
  });
const stop: Command = { type: "StopTurn", at: 90, turn: null, reason: "requested", partial: null, call: null };
const start: Command = { type: "StartTurn", at: 95, incarnation: INC };

const shown = ({ view }: SessionState) => view.items.map(({ position, kind, tool }) => [position, kind, tool?.execution ?? null]);
const openCalls = (state: SessionState) => state.imported_calls.map((call) => call.execution);

describe("an imported reply", () => {
  test("enters with its calls in one event, each at a position of its own, and its calls are open", () => {
    const { state, events } = play([reply(1, "a", "b")], given());
    expect(events).toMatchObject([{ type: "MessagesAppended", items: [{ position: 1 }, { position: 2 }, { position: 3 }] }]);
    expect(state.next_position).toBe(4);
    expect(openCalls(state)).toEqual([id("exe", 2), id("exe", 3)]);
  });

  test("without words begins with its first call", () => {
    const message = { item: toolCall(1, "a"), rest: [toolCall(2, "b")], turn: null, tools: null };
    const { state } = play([submit(1, { message })], given());
    expect(state.view.items.map(({ kind, continues }) => [kind, continues ?? false])).toEqual([
      ["tool_call", false],
      ["tool_call", true],
    ]);
    expect(openCalls(state)).toEqual([id("exe", 1), id("exe", 2)]);
  });
});

describe("an imported result", () => {
  test("answers the open call of its id, and closes it; order does not matter", () => {
    const { state } = play([reply(1, "a", "b"), result(10, "b"), result(11, "a")], given());
    expect(shown(state).slice(3)).toEqual([
      [4, "tool_result", id("exe", 3)],
      [5, "tool_result", id("exe", 2)],
    ]);
    expect(state.imported_calls).toEqual([]);
  });

  test("of an id that repeats answers the first open call of it", () => {
    const { state, rejected } = play([reply(1, "same", "same"), result(10, "same"), result(11, "same"), result(12, "same")], given());
    expect(
      shown(state)
        .slice(3)
        .map(([, , execution]) => execution),
    ).toEqual([id("exe", 2), id("exe", 3)]);
    expect(rejected).toBe("call_not_open");
  });

  test("may answer a call whose id an earlier exchange used up", () => {
    const { state } = play([reply(1, "a"), result(10, "a"), reply(20, "a"), result(30, "a")], given());
    expect(shown(state).at(-1)).toEqual([6, "tool_result", id("exe", 21)]);
  });

  test.each<[string, readonly Command[]]>([
    ["no call was imported", []],
    ["it has been answered", [reply(1, "a"), result(9, "a")]],
    ["another id is open", [reply(1, "b")]],
    ["another message was appended since", [reply(1, "a"), submit(9, {})]],
    ["another reply was imported since", [reply(1, "a"), reply(5, "b")]],
    ["a turn was started since", [reply(1, "a"), ask(9), stop]],
    [
      "a turn was retried since, even one that said nothing",
      [ask(1), stop, reply(2, "a"), { type: "RetryTurn", at: 9, turn: turnId(9), incarnation: INC }, stop],
    ],
    ["the call is a running turn's", [ask(1), { ...asks(1) }]],
  ])("is refused when %s, and nothing is appended", (_, before) => {
    const { state } = play(before, given());
    const refused = play([result(40, "a")], state);
    expect(refused).toMatchObject({ rejected: "call_not_open", events: [] });
    expect(refused.state).toBe(state);
  });
});

describe("a turn that answers imported results", () => {
  const answer: Command = {
    type: "AnswerResults",
    at: 50,
    turn: turnId(50),
    incarnation: INC,
    choices: { model: "other" },
    tools: null,
  };

  test("has no message, repeats no other turn, and begins with its own choices", () => {
    const { state, events } = play([reply(1, "a"), result(5, "a"), answer], given());
    expect(events.at(-1)).toMatchObject({ type: "TurnStarted", turn: turnId(50), attempt: 1, item: null, retry_of: null, model: "other" });
    expect(state.turn).toMatchObject({ id: turnId(50), phase: "generating", model: "other" });
    expect(shown(state).map(([position]) => position)).toEqual([1, 2, 3]);
    expect(openCalls(state)).toEqual([]);
  });

  test("is refused while another turn is open", () => {
    const { state } = play([reply(1, "a"), result(5, "a"), ask(9)], given());
    const refused = play([answer], state);
    expect(refused).toMatchObject({ rejected: "turn_running", events: [] });
    expect(refused.state).toBe(state);
  });

  test("can be retried, and the retry keeps its choices", () => {
    const { state } = play([reply(1, "a"), result(5, "a"), answer, stop], given());
    const { events } = play([{ type: "RetryTurn", at: 60, turn: turnId(60), incarnation: INC }], state);
    expect(events).toMatchObject([{ type: "TurnStarted", item: null, retry_of: turnId(50), model: "other" }]);
  });
});

/** The turn's model calls a tool. */
function asks(n: number): Command {
  const call = {
    turn: turnId(n),
    purpose: "turn",
    model: "test-model",
    epoch: 0,
    up_to: n,
    usage: null,
    estimate: 1,
    request_digest: null,
  } as const;
  const item = draft(80, { kind: "tool_call", turn: turnId(n), tool: { execution: id("exe", 80), call_id: "a", name: "look_up" } });
  const finish = "tool_calls";
  return {
    type: "RecordAssistant",
    at: 50,
    turn: turnId(n),
    incarnation: INC,
    call: { ...call, outcome: finish, ms: 1, lease: null },
    reply: null,
    calls: [{ item }],
    finish,
  };
}

test("a turn that is asked for leaves the open calls unanswered for good", () => {
  const { state } = play([reply(1, "a"), ask(9)], given());
  expect(state.imported_calls).toEqual([]);
  expect(state.turn?.id).toBe(turnId(9));
});

describe("imported while a turn runs", () => {
  test("a reply and its results wait, in order, and get their positions when they enter", () => {
    const queued = play([ask(1), reply(2, "a"), result(10, "a"), submit(11, {})], given());
    expect(queued.rejected).toBeNull();
    expect(queued.state.next_position).toBe(2);
    const { state } = play([stop, start], queued.state);
    expect(shown(state)).toEqual([
      [1, "user", null],
      [2, "assistant", null],
      [3, "tool_call", id("exe", 3)],
      [4, "tool_result", id("exe", 3)],
      [5, "user", null],
    ]);
  });

  test("a result is judged by what waits before it: a call behind which another message waits is not open", () => {
    expect(play([ask(1), reply(2, "a"), submit(9, {}), result(10, "a")], given()).rejected).toBe("call_not_open");
    expect(play([ask(1), reply(2, "a"), result(9, "a"), result(10, "a")], given()).rejected).toBe("call_not_open");
  });

  test("a result that interrupts would come before the reply that waits, and is refused", () => {
    const { rejected, state } = play([ask(1), reply(2, "a"), result(10, "a", { onBusy: "interrupt" })], given());
    expect(rejected).toBe("call_not_open");
    expect(state.turn?.id).toBe(turnId(1));
  });

  test("an interruption goes before the reply and leaves its results with it", () => {
    const { state } = play([ask(1), reply(2, "a"), result(10, "a"), submit(11, { onBusy: "interrupt" }), start], given());
    expect(state.view.items.map((item) => item.id)).toEqual([itemId(1), itemId(11), itemId(2), itemId(3), itemId(10)]);
  });

  test("an interruption goes behind a reply that interrupts, and behind its results", () => {
    const interrupt = { onBusy: "interrupt" } as const;
    const first = { ...reply(2, "a", "b"), ...interrupt };
    for (const second of [result(11, "b", interrupt), result(11, "b")]) {
      const { state, rejected } = play([ask(1), first, result(10, "a"), second, submit(12, interrupt), start], given());
      expect(rejected).toBeNull();
      expect(state.view.items.map((item) => item.id)).toEqual([1, 2, 3, 4, 10, 11, 12].map(itemId));
    }
  });

  test("a cancelled reply takes along the results that wait for its calls", () => {
    const queued = play([ask(1), reply(2, "a", "b"), result(10, "b"), result(11, "a"), submit(12, {})], given()).state;
    const { state, events } = play([{ type: "CancelQueued", at: 20, message: itemId(2) }], queued);
    expect(events).toMatchObject([itemId(2), itemId(10), itemId(11)].map((message) => ({ type: "QueuedMessageCancelled", message })));
    expect(state.queue.map((entry) => entry.item.id)).toEqual([itemId(12)]);
  });

  test("a cancelled result leaves its call open for another one", () => {
    const queued = play([ask(1), reply(2, "a"), result(10, "a"), { type: "CancelQueued", at: 20, message: itemId(10) }], given()).state;
    expect(play([result(11, "a")], queued).rejected).toBeNull();
  });
});
