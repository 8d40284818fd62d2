/** One request with everything that is new: its place, results, messages and turn are recorded together or not at all. */

import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { RespondInput } from "../../src/app/respond-api";
import type { ToolResultInput } from "../../src/app/session-api";
import type { WrittenMessage } from "../../src/app/written-message";
import { Sizing } from "../../src/context/sizing";
import type { TurnId } from "../../src/domain/ids";
import type { ToolDefinition } from "../../src/domain/message";
import { id } from "../support/builders";
import { createFaultySql, WriteFailedError } from "../support/faulty-sql";
import { CALLER, Life, settle } from "./life";
import { cutOff, newLife, ROOMY, say, useTools } from "./talk";

const user = (text: string, about: WrittenMessage["about"] = {}): WrittenMessage => ({
  role: "user",
  parts: [{ type: "text", text }],
  about,
});
const reply = (text: string, ...ids: readonly string[]): WrittenMessage => ({
  role: "assistant",
  parts: text === "" ? [] : [{ type: "text", text }],
  calls: ids.map((call_id) => ({ call_id, name: "look", arguments: "{}" })),
});
const imported = (call_id: string, output = "seen"): WrittenMessage => ({ role: "tool", call_id, output, is_error: false });
const result = (call_id: string, output = `result ${call_id}`): ToolResultInput => ({
  execution_id: null,
  call_id,
  output,
  is_error: false,
});
const LOOK: ToolDefinition = { name: "look", parameters: { type: "object" } };

const NOTHING = { after: null, results: [], messages: [], run: true, tools: null, idempotency: null } as const;

async function send(life: Life, input: Partial<RespondInput>) {
  const done = await life.service.respond(CALLER, { ...NOTHING, ...input });
  await settle();
  return done;
}

/** The turn that a request which must be accepted leads to. */
async function respond(life: Life, input: Partial<RespondInput>): Promise<TurnId> {
  const done = await send(life, input);
  if (!done.ok || done.value.turn_id === null) throw new Error(JSON.stringify(done));
  return done.value.turn_id;
}

/** A turn that waits for the results of these calls. */
async function waiting(life: Life, text: string, ...ids: readonly string[]): Promise<TurnId> {
  const turn = await respond(life, { messages: [user(text)] });
  for (const call_id of ids) life.call.say({ type: "tool_call", call: { type: "tool_call", call_id, name: "look", arguments: "{}" } });
  await life.say({ type: "finish", finish: "tool_calls", usage: null });
  return turn;
}

async function answered(life: Life, text: string, answer: string): Promise<TurnId> {
  const turn = await respond(life, { messages: [user(text)] });
  await life.answer(answer);
  return turn;
}

async function status(life: Life, turn: TurnId) {
  const report = await life.service.turn(CALLER, turn);
  return report.ok ? report.value.status : report.error.code;
}

/** Everything that a refused request could have changed: the whole database, and the state in memory. */
function everything({ sql, runtime }: Life): string {
  const tables = sql.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  );
  const rows = tables.map(({ name }) => [name, sql.all(`SELECT * FROM ${name}`)]);
  return JSON.stringify([rows, runtime.state], (_, value: unknown) => (value instanceof Uint8Array ? [...value] : value));
}

async function expectRefused(life: Life, input: Partial<RespondInput>, error: object): Promise<void> {
  const before = everything(life);
  expect(await send(life, input)).toMatchObject({ ok: false, error });
  expect(everything(life)).toBe(before);
}

describe("a request that renews", () => {
  test("answers the calls in a turn of its own with its own note, though it is asked as their turn was", async () => {
    const life = await newLife();
    const first = await waiting(life, "one", "a");
    const second = await respond(life, { results: [result("a")], note: "mine", renews: true });

    expect(second).not.toBe(first);
    expect(await status(life, first)).toBe("stopped");
    expect(life.call.messages).toEqual(["user: one", "assistant: tool_call", "tool: result a"]);
    expect(await life.service.askedWith(CALLER, second)).toMatchObject({ value: { note: "mine" } });
  });
});

describe("messages that supersede a waiting turn", () => {
  test("end it with the calls that the request does not answer, and the model reads what it was told", async () => {
    const life = await newLife();
    const turn = await waiting(life, "look", "a", "b");
    const next = await respond(life, { results: [result("a")], messages: [user("never mind b")], supersedes: turn });

    expect(next).not.toBe(turn);
    expect(life.runtime.state.last_turn).toMatchObject({ id: turn, status: "stopped", stop_reason: "superseded" });
    expect(life.call.messages.slice(2, 3)).toEqual(["tool: result a"]);
    expect(life.call.messages.at(-1)).toBe("user: never mind b");
    expect(life.calls).toHaveLength(2);
  });

  test("are one message without results, or several", async () => {
    for (const messages of [[user("never mind")], [user("one"), user("two")]]) {
      const life = await newLife();
      const turn = await waiting(life, "look", "a");
      await respond(life, { messages, supersedes: turn });
      expect(await status(life, turn)).toBe("stopped");
    }
  });

  test("supersede no other turn than the one that they name, and none that their client still answers", async () => {
    const life = await newLife();
    const first = await answered(life, "one", "reply one");
    const turn = await waiting(life, "look", "a");

    await expectRefused(life, { messages: [user("x")], supersedes: first }, { code: "calls_unanswered", calls: [{ call_id: "a" }] });
    await expectRefused(life, { messages: [user("x"), user("y")], supersedes: first }, { code: "calls_unanswered" });
    expect(await send(life, { results: [result("a")], supersedes: turn })).toMatchObject({ ok: true, value: { turn_id: turn } });
  });
});

describe("a stop of one turn", () => {
  test("leaves another turn alone, and reports how its own has ended", async () => {
    const life = await newLife();
    const first = await answered(life, "one", "reply one");
    const second = await respond(life, { messages: [user("two")] });

    const late = await life.service.stop(CALLER, { turn: first, idempotency: null });
    expect(late).toMatchObject({ ok: true, value: { turn: { id: first, status: "completed", output_text: "reply one" } } });
    expect(life.call.signal.aborted).toBe(false);
    expect(await life.service.stop(CALLER, { turn: second, idempotency: null })).toMatchObject({ ok: true });
    expect(await status(life, second)).toBe("stopped");
  });

  test("takes a turn that waits out of the queue, and leaves the running one alone", async () => {
    const life = await newLife();
    const running = await respond(life, { messages: [user("one")] });
    const waiting = await respond(life, { messages: [user("two")] });
    const idempotency = { key: "k", digest: "stop" };

    const stopped = await life.service.stop(CALLER, { turn: waiting, idempotency });
    const again = await life.service.stop(CALLER, { turn: waiting, idempotency });

    expect(stopped).toMatchObject({ ok: true, value: { replayed: false, turn: { id: waiting, status: "stopped", items: [] } } });
    expect(again).toMatchObject({ ok: true, value: { replayed: true, turn: { id: waiting, status: "stopped" } } });
    expect(life.call.signal.aborted).toBe(false);
    expect([await status(life, running), life.runtime.state.queue]).toEqual(["generating", []]);
  });

  test("that the session does not have is refused, and stops nothing", async () => {
    const life = await newLife();
    const running = await respond(life, { messages: [user("one")] });

    const refused = await life.service.stop(CALLER, { turn: id("trn", 99), idempotency: null });

    expect(refused).toMatchObject({ ok: false, error: { code: "turn_not_found" } });
    expect([await status(life, running), life.call.signal.aborted]).toEqual(["generating", false]);
  });
});

describe("a request at the newest place", () => {
  test("with one message starts a turn as any message does, and waits while another turn runs", async () => {
    const life = await newLife();
    const first = await respond(life, { messages: [user("one")] });
    const second = await send(life, { messages: [user("two")] });

    expect(second).toMatchObject({ ok: true, value: { queued: true, position: null } });
    await life.answer("reply one");
    expect(life.call.messages).toEqual(["user: one", "assistant: reply one", "user: two"]);
    expect(await status(life, first)).toBe("completed");
  });

  test("with one message is refused while a turn runs, or stops it, where the client says so", async () => {
    const life = await newLife();
    const first = await respond(life, { messages: [user("one")] });
    await expectRefused(life, { messages: [user("two")], onBusy: "reject" }, { code: "turn_running", turn: first });

    const second = await respond(life, { messages: [user("three")], onBusy: "interrupt" });
    expect([await status(life, first), await status(life, second)]).toEqual(["stopped", "generating"]);
    expect(life.call.messages).toEqual(["user: one", "user: three"]);
  });

  test("appends the messages before the last one, whose turn reads them all", async () => {
    const life = await newLife();
    const done = await send(life, { messages: [user("one"), reply("a", "c"), imported("c"), user("two")] });

    expect(done).toMatchObject({ ok: true, value: { position: 5, queued: false } });
    expect(life.call.messages).toEqual(["user: one", "assistant: atool_call", "tool: seen", "user: two"]);
  });

  test("without run appends messages, and starts nothing", async () => {
    const life = await newLife();
    const done = await send(life, { messages: [user("one"), reply("a")], run: false });

    expect(done).toMatchObject({ ok: true, value: { turn_id: null, position: 2 } });
    expect(life.calls).toEqual([]);
  });

  test("has a stream that begins with what it added", async () => {
    const life = await newLife();
    await answered(life, "one", "reply one");
    const offset = life.runtime.buffer.offset;
    expect(await send(life, { messages: [user("two"), user("three")] })).toMatchObject({ value: { cursor: offset } });
  });
});

describe("results", () => {
  test("of all calls let their turn go on", async () => {
    const life = await newLife();
    const turn = await waiting(life, "look", "a", "b");

    expect(await respond(life, { results: [result("b"), result("a")] })).toBe(turn);
    expect(life.call.messages.slice(-2)).toEqual(["tool: result a", "tool: result b"]);
    await life.answer("so it is");
    expect(await status(life, turn)).toBe("completed");
  });

  test("of a part of the calls are refused, and the calls that are left are named", async () => {
    const life = await newLife();
    await waiting(life, "look", "a", "b");
    await expectRefused(life, { results: [result("a")] }, { code: "calls_unanswered", calls: [{ call_id: "b" }] });
    await expectRefused(life, { results: [result("a")], messages: [user("and")] }, { code: "calls_unanswered", calls: [{ call_id: "b" }] });
    await expectRefused(life, { messages: [user("and")] }, { code: "calls_unanswered", calls: [{ call_id: "a" }, { call_id: "b" }] });
    await expectRefused(life, { messages: [user("x"), user("y")], run: false }, { code: "calls_unanswered" });
  });

  test("of a part of the calls are recorded without run, and the turn that gets the last one ends", async () => {
    const life = await newLife();
    const turn = await waiting(life, "look", "a", "b");

    expect(await send(life, { results: [result("a")], run: false })).toMatchObject({ ok: true, value: { turn_id: null, position: 4 } });
    expect(await status(life, turn)).toBe("awaiting_tools");
    expect(await send(life, { results: [result("b")], run: false })).toMatchObject({ ok: true, value: { turn_id: null, position: 5 } });
    expect(await status(life, turn)).toBe("stopped");
    expect(life.calls).toHaveLength(1);

    await respond(life, { messages: [user("well?")] });
    expect(life.call.messages.slice(-3)).toEqual(["tool: result a", "tool: result b", "user: well?"]);
  });

  test("before messages end their turn as superseded, and the new turn reads results, then messages", async () => {
    const life = await newLife();
    const turn = await waiting(life, "look", "a");
    const next = await respond(life, { after: turn, results: [result("a")], messages: [user("also"), user("this")] });

    expect(next).not.toBe(turn);
    expect(life.runtime.state.last_turn).toMatchObject({ id: turn, status: "stopped", stop_reason: "superseded" });
    expect(life.call.messages.slice(-3)).toEqual(["tool: result a", "user: also", "user: this"]);
    expect(life.calls).toHaveLength(2);
  });

  test.each([
    ["of a call that is not open", [result("a"), result("x")], { code: "call_not_open", index: 1, became: "unknown" }],
    ["of one call twice", [result("a"), result("a")], { code: "call_not_open", index: 1, became: "answered_here" }],
  ])("%s are refused with everything else", async (_, results, error) => {
    const life = await newLife();
    await waiting(life, "look", "a");
    await expectRefused(life, { results }, error);
    await expectRefused(life, { results, messages: [user("and")] }, error);
  });

  test("that come a second time say that the call was answered, also while its turn goes on", async () => {
    const life = await newLife();
    const turn = await waiting(life, "look", "a");
    await respond(life, { results: [result("a")] });
    await expectRefused(life, { results: [result("a")] }, { code: "call_not_open", became: "answered" });
    await expectRefused(life, { after: turn, results: [result("a")] }, { code: "call_not_open", became: "answered" });
    await life.answer("done");
    await expectRefused(life, { after: turn, results: [result("a")] }, { code: "call_not_open", became: "answered" });
  });

  test("with the same choices in another order let the turn go on; with others a new turn answers the same message", async () => {
    const life = await newLife();
    const tools = [LOOK, { ...LOOK, name: "see" }];
    const asked = { tools, generation: { tool_choice: "required", temperature: 0.5 } } as const;
    const turn = await respond(life, { messages: [user("look")], ...asked });
    await life.say(
      { type: "tool_call", call: { type: "tool_call", call_id: "a", name: "look", arguments: "{}" } },
      { type: "finish", finish: "tool_calls", usage: null },
    );
    const again = { tools, generation: { temperature: 0.5, tool_choice: "required" } } as const;
    expect(await respond(life, { results: [result("a")], ...again })).toBe(turn);
    await life.say(
      { type: "tool_call", call: { type: "tool_call", call_id: "b", name: "look", arguments: "{}" } },
      { type: "finish", finish: "tool_calls", usage: null },
    );

    const next = await respond(life, { after: turn, results: [result("b")], tools: [LOOK] });
    expect(next).not.toBe(turn);
    expect(life.call.request.tools.map(({ name }) => name)).toEqual(["look"]);
    expect(life.call.request.generation ?? {}).toEqual({});
    expect(life.call.messages.at(-1)).toBe("tool: result b");
    await life.answer("so it is");
    const report = await life.service.turn(CALLER, next);
    const first = await life.service.turn(CALLER, turn);
    expect(report).toMatchObject({ ok: true, value: { status: "completed", output_text: "so it is" } });
    expect(first).toMatchObject({ ok: true, value: { status: "stopped" } });
    expect(report.ok && first.ok && report.value.message_id === first.value.message_id).toBe(true);
  });
});

describe("after a turn", () => {
  test("that is the newest, nothing moves", async () => {
    const life = await newLife();
    const turn = await answered(life, "one", "reply one");
    await respond(life, { after: turn, messages: [user("two")] });
    expect(life.runtime.state.branch.count).toBe(1);
    expect(life.call.messages).toEqual(["user: one", "assistant: reply one", "user: two"]);
  });

  test("that has others behind it, a branch starts there", async () => {
    const life = await newLife();
    const turn = await answered(life, "one", "reply one");
    await answered(life, "two", "reply two");
    await respond(life, { after: turn, messages: [user("other")] });

    expect(life.runtime.state.branch).toMatchObject({ number: 2, count: 2 });
    expect(life.call.messages).toEqual(["user: one", "assistant: reply one", "user: other"]);
  });

  test("before appended messages, a branch leaves them out", async () => {
    const life = await newLife();
    const turn = await answered(life, "one", "reply one");
    await send(life, { messages: [user("aside")], run: false });
    await respond(life, { after: turn, messages: [user("other")] });
    expect(life.call.messages).toEqual(["user: one", "assistant: reply one", "user: other"]);
  });

  test("at the end of a branch that was left, that branch goes on", async () => {
    const life = await newLife();
    const one = await answered(life, "one", "reply one");
    const two = await answered(life, "two", "reply two");
    await respond(life, { after: one, messages: [user("other")] });
    await life.answer("reply other");
    await respond(life, { after: two, messages: [user("three")] });

    expect(life.runtime.state.branch).toMatchObject({ number: 1, count: 2 });
    expect(life.call.messages).toEqual(["user: one", "assistant: reply one", "user: two", "assistant: reply two", "user: three"]);
  });

  test("in the middle of a branch that was left, a branch starts there", async () => {
    const life = await newLife();
    const one = await answered(life, "one", "reply one");
    const two = await answered(life, "two", "reply two");
    await answered(life, "three", "reply three");
    await respond(life, { after: one, messages: [user("other")] });
    await life.answer("reply other");
    await respond(life, { after: two, messages: [user("four")] });

    expect(life.runtime.state.branch).toMatchObject({ number: 3, count: 3 });
    expect(life.call.messages).toEqual(["user: one", "assistant: reply one", "user: two", "assistant: reply two", "user: four"]);
  });

  test("that was stopped, what it said stays; one that failed before its first word leaves its question", async () => {
    const life = await newLife();
    await cutOff(life, "one", "I begin");
    const stopped = life.runtime.state.last_turn?.id;
    const failed = await respond(life, { messages: [user("two")] });
    await life.service.stop(CALLER, { idempotency: null });
    await settle();
    await answered(life, "three", "reply three");

    await respond(life, { after: failed, messages: [user("four")] });
    expect(life.call.messages).toEqual(["user: one", "assistant: I begin", "user: two", "user: four"]);
    await life.answer("reply four");
    if (!stopped) throw new Error("no turn was stopped");
    await respond(life, { after: stopped, messages: [user("five")] });
    expect(life.call.messages).toEqual(["user: one", "assistant: I begin", "user: five"]);
  });

  test("while another turn waits for tools, that one is superseded", async () => {
    const life = await newLife();
    const turn = await answered(life, "one", "reply one");
    const waits = await waiting(life, "look", "a");
    await respond(life, { after: turn, messages: [user("other")] });

    expect(await status(life, waits)).toBe("stopped");
    expect(life.call.messages).toEqual(["user: one", "assistant: reply one", "user: other"]);
  });

  test.each(["messages", "results"] as const)("that does not exist, %s are refused", async (what) => {
    const life = await newLife();
    await waiting(life, "look", "a");
    const after = "trn_01JD8Z3V6Q4N7R2T5W9X0Y1A00" as TurnId;
    const more = what === "messages" ? { messages: [user("x")] } : { results: [result("a")] };
    await expectRefused(life, { after, ...more }, { code: "turn_not_found", turn: after });
  });

  test("that waits in the queue, and while a turn runs, nothing is accepted", async () => {
    const life = await newLife();
    const first = await answered(life, "one", "reply one");
    const running = await respond(life, { messages: [user("two")] });
    const queued = await respond(life, { messages: [user("three")] });
    await expectRefused(life, { after: queued, messages: [user("x")] }, { code: "turn_running", turn: running });
    await expectRefused(life, { after: first, messages: [user("x")] }, { code: "turn_running", turn: running });
    await expectRefused(life, { messages: [user("x"), user("y")] }, { code: "turn_running", turn: running });
    await expectRefused(life, { messages: [user("x"), user("y")], run: false }, { code: "turn_running", turn: running });
  });
});

describe("all or none", () => {
  test("a refusal at the last step undoes the branch, the results and the messages before it", async () => {
    const life = await newLife();
    const one = await answered(life, "one", "reply one");
    await answered(life, "two", "reply two");
    const messages = [reply("a", "c"), imported("c"), imported("c"), user("x")];
    await expectRefused(life, { after: one, messages }, { code: "invalid", field: "messages.2.call_id" });

    const waits = await waiting(life, "look", "a");
    await expectRefused(life, { results: [result("a")], messages }, { code: "invalid", field: "messages.2.call_id" });
    expect(await status(life, waits)).toBe("awaiting_tools");
    await respond(life, { results: [result("a")] });
  });

  test("a write that fails at any statement leaves the session as it was, and the request can be sent again", async () => {
    // Each round lets one statement more succeed, until the whole request does.
    for (let allowed = 0; ; allowed++) {
      let left = Number.POSITIVE_INFINITY;
      const life = new Life(createFaultySql(createNodeSql(), () => (left-- > 0 ? null : new WriteFailedError())));
      await life.open();
      const one = await answered(life, "one", "reply one");
      await answered(life, "two", "reply two");
      await waiting(life, "look", "a");
      const before = everything(life);
      left = allowed;
      const input = { ...NOTHING, after: one, messages: [user("three"), reply("a"), user("four")] };
      const done = await life.service.respond(CALLER, input).catch(() => null);
      left = Number.POSITIVE_INFINITY;
      if (done) {
        expect(done.ok).toBe(true);
        expect(allowed).toBeGreaterThan(10);
        break;
      }
      expect(everything(life)).toBe(before);
      expect(await send(life, input)).toMatchObject({ ok: true });
      expect(life.call.messages).toEqual(["user: one", "assistant: reply one", "user: three", "assistant: a", "user: four"]);
    }
  });

  test("a repeated request with its key has one effect; with another body it is refused", async () => {
    const life = await newLife();
    const one = await answered(life, "one", "reply one");
    await answered(life, "two", "reply two");
    const idempotency = { key: "k", digest: "d" };
    const input = { after: one, messages: [reply("a"), user("x")], idempotency };
    const [first, again] = await Promise.all([send(life, input), send(life, input)]);
    await life.answer("reply x");
    const late = await send(life, input);

    if (!first.ok) throw new Error(first.error.code);
    expect(first.value.replayed).toBe(false);
    for (const repeated of [again, late]) expect(repeated).toEqual({ ok: true, value: { ...first.value, replayed: true } });
    expect(life.runtime.state.branch.count).toBe(2);
    await expectRefused(life, { ...input, idempotency: { key: "k", digest: "e" } }, { code: "idempotency_conflict" });
  });

  test("of two requests at once one is accepted, and the other is refused", async () => {
    const life = await newLife();
    const one = await answered(life, "one", "reply one");
    const both = await Promise.all(["x", "y"].map((text) => send(life, { after: one, messages: [user(text)] })));
    expect(both.map(({ ok }) => ok)).toEqual([true, false]);
    expect(both[1]).toMatchObject({ error: { code: "turn_running" } });
  });

  test("of one waiting turn, two answers at once are one", async () => {
    const life = await newLife();
    await waiting(life, "look", "a");
    const both = await Promise.all(["x", "y"].map((output) => send(life, { results: [result("a", output)] })));
    expect(both).toMatchObject([{ ok: true }, { ok: false, error: { code: "call_not_open" } }]);
    expect(life.call.messages.at(-1)).toBe("tool: x");
  });

  test("a client id that is taken refuses all, and names the message", async () => {
    const life = await newLife();
    await send(life, { messages: [user("one", { client_id: "c-1" })], run: false });
    await expectRefused(
      life,
      { messages: [user("x"), user("y", { client_id: "c-1" })] },
      { code: "client_id_taken", index: 1, list: "messages" },
    );
    await expectRefused(
      life,
      { messages: [user("x", { client_id: "c-2" }), user("y", { client_id: "c-2" })] },
      { code: "invalid", field: "messages.1.client_id" },
    );
  });
});

describe("a request that no turn can follow", () => {
  test.each([
    ["with nothing", {}, "messages"],
    ["with nothing, and without run", { run: false }, "messages"],
    ["that ends with calls", { messages: [user("one"), reply("a", "c")] }, "messages.1.tool_calls"],
    ["with an imported result of no call", { messages: [imported("c"), user("one")] }, "messages.0.call_id"],
  ])("%s is refused, and names the field", async (_, input: Partial<RespondInput>, field) => {
    const life = await newLife();
    await expectRefused(life, input, { code: "invalid", field });
  });

  test("whose settings the model cannot do is refused before anything moves", async () => {
    const life = await newLife();
    const one = await answered(life, "one", "reply one");
    await answered(life, "two", "reply two");
    const generation = { tool_choice: { type: "tool", name: "none" } } as const;
    await expectRefused(life, { after: one, messages: [user("x")], generation }, { code: "invalid", field: "generation.tool_choice" });
    life.models = { resolve: async () => null };
    await expectRefused(life, { after: one, messages: [user("x")], model: "gone" }, { code: "unknown_model" });
  });
});

describe("a request that ends with another message than a user's", () => {
  const instruct = (text: string): WrittenMessage => ({ role: "system", parts: [{ type: "text", text }] });

  test.each([
    ["an instruction alone", [instruct("Greet them.")], ["system: Greet them."]],
    ["an instruction behind a message", [user("one"), instruct("In verse.")], ["user: one", "system: In verse."]],
    ["the model's own words", [user("one"), reply("Well,")], ["user: one", "assistant: Well,"]],
  ])("such as %s starts a turn without a message, which answers what is there", async (_, messages, read) => {
    const life = await newLife();
    const turn = await respond(life, { messages });
    expect(life.call.messages).toEqual(read);
    await life.answer("Hello.");
    expect(await life.service.turn(CALLER, turn)).toMatchObject({
      value: { status: "completed", message_id: null, output_text: "Hello." },
    });

    await answered(life, "two", "reply two");
    expect(life.call.messages).toEqual([...read, "assistant: Hello.", "user: two"]);
    await respond(life, { after: turn, messages: [instruct("Again.")] });
    expect(life.call.messages).toEqual([...read, "assistant: Hello.", "system: Again."]);
  });

  test("reads the results of calls before it, and waits for no turn that runs", async () => {
    const life = await newLife();
    const first = await waiting(life, "one", "a");
    const second = await respond(life, { results: [result("a")], messages: [instruct("Briefly.")] });
    expect(life.call.messages).toEqual(["user: one", "assistant: tool_call", "tool: result a", "system: Briefly."]);
    expect(await status(life, first)).toBe("stopped");
    await expectRefused(life, { messages: [instruct("More.")] }, { code: "turn_running", turn: second });
  });
});

describe("a request that ends with the result of an imported call", () => {
  test("starts a turn without a message, which answers the record and ends as every turn does", async () => {
    const life = await newLife();
    const turn = await respond(life, { messages: [user("weather?"), reply("I look.", "c"), imported("c", "晴")], system: "Brief." });

    expect(life.call.messages).toEqual(["user: weather?", "assistant: I look.tool_call", "tool: 晴"]);
    expect(life.call.request.system).toContain("Brief.");
    await life.answer("Sun.");
    const report = await life.service.turn(CALLER, turn);
    expect(report).toMatchObject({ ok: true, value: { status: "completed", message_id: null, output_text: "Sun." } });
    await answered(life, "two", "reply two");
    expect(life.call.messages.at(-1)).toBe("user: two");
  });

  test("is taken up after a crash", async () => {
    const life = await newLife();
    const turn = await respond(life, { messages: [user("weather?"), reply("", "c"), imported("c")] });
    let count = 1_000;

    const next = new Life(life.sql, "life-2", (prefix) => id(prefix, ++count));
    await next.service.describe(CALLER);
    await settle();

    expect(next.call.messages.at(-1)).toBe("tool: seen");
    await next.answer("Sun.");
    expect(await status(next, turn)).toBe("completed");
  });

  const asking = { messages: [user("weather?"), reply("I look.", "c"), imported("c", "secret sun")] };

  test("is a place to continue after, also where the turn has failed before its first word", async () => {
    const life = await newLife();
    const turn = await respond(life, asking);
    await life.service.stop(CALLER, { idempotency: null });
    await settle();
    await answered(life, "two", "reply two");

    await respond(life, { after: turn, messages: [user("three")] });

    expect(life.call.messages).toEqual(["user: weather?", "assistant: I look.tool_call", "tool: secret sun", "user: three"]);
  });

  test("is answered again from the question on, and by a retry from the results on", async () => {
    const life = await newLife();
    const turn = await respond(life, asking);
    await life.service.stop(CALLER, { idempotency: null });
    await life.service.retry(CALLER, { idempotency: null });
    await settle();
    expect(life.call.messages).toEqual(["user: weather?", "assistant: I look.tool_call", "tool: secret sun"]);
    await life.answer("Sun.");
    expect(await status(life, turn)).toBe("stopped");

    const page = await life.service.items(CALLER, { after: null, limit: 1, order: "desc" });
    const [newest] = page.ok ? page.value.data : [];
    if (!newest) throw new Error("there is no reply");
    expect(await life.service.regenerate(CALLER, { message: newest.id, idempotency: null })).toMatchObject({ ok: true });
    await settle();
    expect(life.call.messages).toEqual(["user: weather?"]);
  });

  test("leaves no word of a result that is redacted", async () => {
    const life = await newLife();
    await respond(life, asking);
    await life.answer("Sun.");
    const page = await life.service.items(CALLER, { after: null, limit: 10, order: "asc" });
    const result = page.ok ? page.value.data.find(({ role }) => role === "tool") : undefined;
    if (!result) throw new Error("there is no result");

    expect(await life.service.redact(CALLER, result.id)).toMatchObject({ ok: true });
    await answered(life, "two", "reply two");

    expect(everything(life)).not.toContain("secret sun");
    expect(life.call.messages.at(2)).toMatch(/^tool: /);
  });
});

describe("a request that the model must read whole", () => {
  const long = user("word ".repeat(3_000));
  const spec = { ...ROOMY, context_window: 2_048, max_output: 256 };

  test("is refused where it exceeds the window, and leaves nothing", async () => {
    const life = await newLife({ spec });
    const error = { code: "cannot_fit", fit: { floor: expect.any(Number), limit: expect.any(Number) } };
    await expectRefused(life, { messages: [long], whole: true, model: spec.id }, error);
    await expectRefused(life, { messages: [long, reply("a"), user("b")], whole: true, model: spec.id }, error);
  });

  /** Fills the window to more than any policy's threshold, and by our measure with its padding to more than all of it. */
  const history = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? user(`question ${n} ${"word ".repeat(74)}`) : reply(`answer ${n}`)));
  const full = [...history, user("and now?")];

  test.each(["oneclaw", "opal", "odin", "yeoman", "recommended"])("is read whole where policy %s would compact it", async (policy) => {
    const life = await newLife({ spec, policy });
    const turn = await respond(life, { messages: full, whole: true, model: spec.id });
    expect(life.asked).toBe("t");
    expect(life.call.messages).toHaveLength(full.length);
    // So full that the padded measure exceeds the window.
    expect(new Sizing(life.runtime.state, spec).planned()).toBeGreaterThan(1_920);
    await life.answer("d");
    expect(await status(life, turn)).toBe("completed");
    expect(life.runtime.state.view.epoch).toBe(0);
  });

  test("is not compacted and asked again where the provider refuses it as too long", async () => {
    const life = await newLife({ spec });
    const turn = await respond(life, { messages: full, whole: true, model: spec.id });
    await life.say({ type: "failure", failure: { kind: "overflow", status: 400, limit: 1_000 } });
    expect([life.asked, await status(life, turn)]).toEqual(["t", "failed"]);
    expect(life.runtime.state.last_turn?.failure?.kind).toBe("overflow");
  });

  test("is refused in the middle of its turn where what its tools answered exceeds the window", async () => {
    const life = await newLife({ spec });
    const turn = await respond(life, { messages: full, whole: true, model: spec.id, tools: [LOOK] });
    await life.useTool("one", "word ".repeat(2_000), 1_800);
    expect([life.asked, await status(life, turn)]).toEqual(["t", "failed"]);
    expect(life.runtime.state.last_turn?.failure).toMatchObject({ kind: "cannot_fit", fit: { limit: 1_920 } });
  });

  test("is answered where it fits", async () => {
    const life = await newLife({ spec });
    const turn = await respond(life, { messages: [user("a"), reply("b"), user("c")], whole: true, model: spec.id });
    await life.answer("d");
    expect(await status(life, turn)).toBe("completed");
  });
});

test("a thousand messages are one request, in order", async () => {
  const life = await newLife();
  const words = Array.from({ length: 999 }, (_, n) => (n % 2 === 0 ? user(`问 ${n}`) : reply(`答 ${n}`)));
  const done = await send(life, { messages: [...words, user("well?")] });
  expect(done).toMatchObject({ ok: true, value: { position: 1_000 } });
  expect(life.runtime.state.turn).not.toBeNull();
});

test("imported calls of an earlier request are answered by a message of role tool", async () => {
  const life = await newLife();
  await send(life, { messages: [user("look"), reply("", "c")], run: false });
  await respond(life, { messages: [imported("c", "it is there"), user("well?")] });
  expect(life.call.messages.slice(-2)).toEqual(["tool: it is there", "user: well?"]);
});

test("a conversation that used tools goes on behind them", async () => {
  const life = await newLife();
  await useTools(life, "look", ["found"]);
  const turn = life.runtime.state.last_turn?.id;
  await say(life, "two", "reply two");
  if (!turn) throw new Error("no turn has ended");
  await respond(life, { after: turn, messages: [user("other")] });
  expect(life.call.messages.slice(-2)).toEqual(["assistant: so it is", "user: other"]);
});
