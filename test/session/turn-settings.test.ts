/** What a single turn is asked with: its own system prompt, the client's note, and what a client reads of both later. */
import { describe, expect, test } from "vitest";
import { copySession } from "../../src/app/branch/copy-session";
import type { ModelSpec } from "../../src/app/ports";
import type { TurnInput } from "../../src/app/session-api";
import type { TurnSettings } from "../../src/contract/turn";
import type { ItemId, TurnId } from "../../src/domain/ids";
import { countingIds, id, SESSION, TENANT } from "../support/builders";
import { everything, findId } from "./contents";
import { CALLER, failure, Life, MESSAGE, SPEC, settle } from "./life";
import { expectSame, past, watched } from "./sent";
import { compact, newLife, ROOMY } from "./talk";

const OWN = "You answer in Portuguese, 用葡萄牙语.";
const NOTE = '{"metadata":{"page":"/天气"}}';
const SMALL: ModelSpec = { ...SPEC, context_window: 2_048, max_output: 400 };
const look = { name: "look", parameters: { type: "object" } } as const;

interface Sent {
  readonly turn: TurnId;
  readonly message: ItemId;
}

async function ask(life: Life, text: string, turn: TurnInput & { readonly tools?: (typeof look)[] } = {}): Promise<Sent> {
  const accepted = await life.service.submit(CALLER, { ...MESSAGE, parts: [{ type: "text", text }], ...turn });
  await settle();
  if (!accepted.ok || !accepted.value.turn_id) throw new Error(JSON.stringify(accepted));
  return { turn: accepted.value.turn_id, message: accepted.value.message_id };
}

async function say(life: Life, text: string, turn: Parameters<typeof ask>[2] = {}): Promise<Sent> {
  const sent = await ask(life, text, turn);
  await life.answer("so");
  return sent;
}

async function settings(life: Life, turn: TurnId): Promise<TurnSettings> {
  const asked = await life.service.askedWith(CALLER, turn);
  if (!asked.ok) throw new Error(asked.error.code);
  return asked.value;
}

/** The next life of the object. Its ids come after those of the life before. */
function nextLife(life: Life): Life {
  let count = 10_000;
  const next = watched(new Life(life.sql, "life-2", (prefix) => id(prefix, ++count)));
  next.models = life.models;
  return next;
}

const opened = async (spec: ModelSpec = ROOMY): Promise<Life> => watched(await newLife({ system: "Be brief.", spec }));
const systems = (life: Life) => life.calls.filter(({ request }) => request.purpose === "turn").map(({ request }) => request.system);
const turnsAsked = (life: Life): TurnId[] => [
  ...new Set(life.events().flatMap((event) => (event.type === "TurnStarted" ? [event.turn] : []))),
];

describe("a turn's own system prompt", () => {
  test("takes the place of the session's for every request of that turn alone, and an empty one stands for none", async () => {
    const life = await opened();
    await ask(life, "look", { system: OWN, tools: [look] });
    await life.useTool("call_1", "found", 10);
    await life.answer("so");
    await say(life, "again");
    await say(life, "bare", { system: "" });
    await say(life, "null", { system: null });

    expect(systems(life)).toEqual([OWN, OWN, "Be brief.", null, "Be brief."]);
    expect(life.runtime.state.view.epoch).toBe(0);
    await expectSame(life);
  });

  test("stands where the session's stands: before the pins", async () => {
    const life = await opened();
    await life.service.setPins(CALLER, ["The user is Ada."]);
    await say(life, "hello", { system: OWN });
    expect(systems(life)[0]).toMatch(new RegExp(`^${OWN}[^]*The user is Ada`));
    expect(systems(life)[0]).not.toContain("Be brief.");
    await expectSame(life);
  });

  test("waits with a queued message, is deleted with a cancelled one, and survives the end of the object", async () => {
    const life = await opened();
    await ask(life, "one");
    await ask(life, "two", { system: OWN, note: NOTE });
    const third = await ask(life, "three", { system: "the cancelled prompt", note: "the cancelled note" });
    await life.service.cancelQueued(CALLER, third.message);
    expect(everything(life)).not.toMatch(/the cancelled/);
    const next = nextLife(life);
    await next.service.describe(CALLER);
    await settle();
    await next.answer("first");
    await next.answer("second");
    expect(systems(next)).toEqual(["Be brief.", OWN]);
  });

  test("that is sent with each message is stored once, and a cancelled message does not take it from the others", async () => {
    const life = await opened();
    await say(life, "one", { system: OWN });
    await ask(life, "two", { system: OWN });
    await ask(life, "three", { system: OWN });
    const cancelled = await ask(life, "four", { system: OWN });
    await life.service.cancelQueued(CALLER, cancelled.message);
    await life.answer("second");
    await life.answer("third");
    await say(life, "five", { system: `${OWN}!` });
    await say(life, "six", { system: `${OWN}!` });
    const last = await ask(life, "seven");
    const first = await ask(life, "eight", { system: "only waiting" });
    const second = await ask(life, "nine", { system: "only waiting" });
    await life.service.cancelQueued(CALLER, first.message);
    expect(await settings(life, second.turn)).toMatchObject({ system: "only waiting", redacted: false });
    await life.service.cancelQueued(CALLER, second.message);
    expect(everything(life)).not.toContain("only waiting");
    await life.answer("seventh");
    expect((await settings(life, last.turn)).system).toBe("Be brief.");
    expect(systems(life)).toEqual([OWN, OWN, OWN, `${OWN}!`, `${OWN}!`, "Be brief."]);
    expect(everything(life).split("You answer in Portuguese")).toHaveLength(3);
    await expectSame(life);
  });

  test("is repeated by a retry and a regeneration unless they name another, and an edit begins with the session's", async () => {
    const life = await opened();
    const sent = await ask(life, "one", { system: OWN, note: NOTE });
    await life.say(failure("refused"));
    const again = async (input: TurnInput) => {
      await life.service.retry(CALLER, { ...input, idempotency: null });
      await settle();
    };
    await again({});
    await life.say(failure("refused"));
    await again({ system: null });
    await life.say(failure("refused"));
    await again({ system: "Be rude.", note: null });
    await life.answer("no");
    await life.service.regenerate(CALLER, { message: sent.message, idempotency: null });
    await settle();
    await life.answer("once more");
    await life.service.editMessage(CALLER, { message: sent.message, parts: MESSAGE.parts, tools: null, idempotency: null });
    await settle();
    await life.answer("edited");

    // A retry repeats the turn that it retries, and a regeneration the turn that answered first.
    expect(systems(life)).toEqual([OWN, OWN, "Be brief.", "Be rude.", OWN, "Be brief."]);
    const notes = await Promise.all(turnsAsked(life).map(async (turn) => (await settings(life, turn)).note));
    expect(notes).toEqual([NOTE, NOTE, NOTE, null, NOTE, null]);
    await expectSame(life);
  });

  test("that a request with results repeats lets the turn go on, and another one starts a turn that is asked with it", async () => {
    const life = await opened();
    const { turn } = await ask(life, "look", { system: OWN, tools: [look] });
    const call = async (call_id: string, input: TurnInput): Promise<TurnId | null> => {
      const wanted = { type: "tool_call", call: { type: "tool_call", call_id, name: "look", arguments: "{}" } } as const;
      await life.say(wanted, { type: "finish", finish: "tool_calls", usage: null });
      const results = [{ execution_id: null, call_id, output: "found", is_error: false }];
      const given = { after: null, results, messages: [], run: true, tools: [look], idempotency: null, ...input };
      const done = await life.service.respond(CALLER, given);
      await settle();
      return done.ok ? done.value.turn_id : null;
    };
    expect(await call("call_1", { system: OWN })).toBe(turn);
    const next = await call("call_2", { system: "Be rude.", note: NOTE });
    expect([next === turn, life.call.request.system]).toEqual([false, "Be rude."]);
    await life.answer("so");
    expect(systems(life)).toEqual([OWN, OWN, "Be rude."]);
    expect(next && (await settings(life, next))).toMatchObject({ system: "Be rude.", note: NOTE });
    await expectSame(life);
  });

  test("weighs in the measure of the next request, and is in the report of what it holds", async () => {
    const life = await opened();
    const long = `${OWN} ${"lorem ipsum ".repeat(400)}`;
    await say(life, "hello");
    const system = async () => {
      const shown = await life.service.context(CALLER, { content: null });
      if (!shown.ok || !("parts" in shown.value)) throw new Error("nothing is shown");
      return [shown.value.parts[0]?.tokens ?? 0, shown.value.request.body.includes("lorem ipsum")] as const;
    };
    const [before] = await system();
    await ask(life, "at length", { system: long });
    const [during, isShown] = await system();
    await life.answer("so");
    expect([during > before + 500, isShown]).toEqual([true, true]);
    await say(life, "hello");
    const [after, isStillShown] = await system();
    expect([after < before + 10, isStillShown]).toEqual([true, false]);
  });

  test("that leaves no room for a conversation is refused by its field before anything is recorded", async () => {
    const life = await opened(SMALL);
    const { seq } = life.runtime.state;
    const long = { ...MESSAGE, system: "lorem ipsum ".repeat(3_000) };
    expect(await life.service.submit(CALLER, long)).toMatchObject({ ok: false, error: { code: "invalid", field: "system" } });
    expect(life.runtime.state.seq).toBe(seq);
    expect(everything(life)).not.toContain("lorem");
  });

  test("that could not be compared with the model's window fails the turn with what is too large", async () => {
    const life = await opened(SMALL);
    let asked = 0;
    life.models = { resolve: () => (asked++ === 0 ? Promise.reject(new Error("away")) : Promise.resolve(SMALL)) };
    const accepted = await life.service.submit(CALLER, { ...MESSAGE, system: "lorem ipsum ".repeat(3_000) });
    await settle();
    expect(accepted.ok).toBe(true);
    const failed = life.runtime.state.last_turn?.failure;
    expect([failed?.kind, failed?.fit?.biggest[0]?.what]).toEqual(["cannot_fit", "system prompt and tools"]);
  });
});

describe("in a window of 2,048 tokens", () => {
  test("turns with system prompts of their own are compacted in time, are asked with them, and are rebuilt byte for byte", async () => {
    const policy = JSON.stringify({ preset: "balanced", summary: { form: "narrative" } });
    const life = watched(await newLife({ system: "Be brief.", spec: SMALL, policy }));
    const asked: string[] = [];
    for (let n = 0; n < 30; n++) {
      const system = n % 2 === 0 ? `Own ${n}: ${"kurz 简短 ".repeat((n % 10) * 20)}` : undefined;
      await ask(life, `question ${n} ${"lorem ipsum ".repeat(50)}`, { ...(system !== undefined && { system }), note: NOTE });
      while (life.call.request.purpose !== "turn") await life.summarize("They exchanged words.");
      asked.push(system ?? "Be brief.");
      await life.answer(`reply ${n} ${"dolor ".repeat(60)}`, 0);
    }
    expect(life.runtime.state.view.epoch).toBeGreaterThan(1);
    const turns = life.calls.filter(({ request }) => request.purpose === "turn");
    expect(turns).toHaveLength(30);
    for (const [n, { request }] of turns.entries()) {
      expect(request.system).toContain(asked[n]);
      if (asked[n] !== "Be brief.") expect(request.system).not.toContain("Be brief.");
    }
    expect(life.sent.map(({ body }) => body).join("\n")).not.toContain("/天气");
    await expectSame(life);
  });
});

describe("a client's note about a turn", () => {
  test("is read by no model, is in no event and no list, and is returned of its turn", async () => {
    const life = await opened();
    const { turn } = await say(life, "hello", { note: NOTE });
    await compact(life, 1);
    const listed = await Promise.all([
      life.service.turns(CALLER, { after: null, limit: 10, order: "asc" }),
      life.service.items(CALLER, { after: null, limit: 10, order: "asc" }),
      life.service.describe(CALLER),
    ]);
    expect(JSON.stringify([life.sent, life.events(), listed])).not.toContain("天气");
    expect(await settings(life, turn)).toMatchObject({ note: NOTE, system: "Be brief.", redacted: false });
    expect(life.runtime.state.last_turn?.note?.tokens).toBe(0);
  });

  test("holds 65,536 bytes, and one more is refused by its field", async () => {
    const life = await opened();
    const most = "界".repeat(21_845);
    const { turn } = await say(life, "hello", { note: `${most}!` });
    expect((await settings(life, turn)).note).toBe(`${most}!`);
    const refused = await life.service.submit(CALLER, { ...MESSAGE, note: `${most}!!` });
    expect(refused).toMatchObject({ ok: false, error: { code: "invalid", field: "note" } });
    expect(turnsAsked(life)).toHaveLength(1);
  });
});

describe("what a turn was asked with", () => {
  test("is its own choices over the session's settings of that time, on any branch", async () => {
    const life = await opened();
    life.models = { resolve: async (name) => ({ ...ROOMY, id: name }) };
    await life.service.patch(CALLER, { generation: { seed: 7, temperature: 0.2 }, tools: [look] });
    const first = await say(life, "one", { generation: { seed: null, top_p: 0.5 }, model: "other" });
    await life.service.patch(CALLER, { system: "Be long.", generation: null, tools: null });
    const second = await say(life, "two", { tools: [{ ...look }] });
    await life.service.rewind(CALLER, { to: 0, idempotency: null });
    await life.service.patch(CALLER, { system: null, model: "third" });
    const third = await ask(life, "three");
    const waiting = await ask(life, "four", { system: OWN, note: NOTE });

    const told = await Promise.all([first, second, third, waiting].map(({ turn }) => settings(life, turn)));
    const whole = { note: null, redacted: false, tools: [], generation: {} };
    expect(told).toEqual([
      { ...whole, model: "other", system: "Be brief.", tools: [look], generation: { temperature: 0.2, top_p: 0.5 } },
      { ...whole, model: ROOMY.id, system: "Be long.", tools: [look] },
      { ...whole, model: "third", system: null },
      { ...whole, model: "third", system: OWN, note: NOTE },
    ]);
    expect(await life.service.askedWith(CALLER, id("trn", 0))).toMatchObject({ ok: false, error: { code: "turn_not_found" } });
  });
});

describe("removing content", () => {
  test("a redaction deletes the prompts of turns that are over, and the notes of the turns that the message belongs to", async () => {
    const life = await opened();
    const first = await say(life, "my password is hunter2", { system: "first prompt", note: "first note", generation: { seed: 12_345 } });
    await life.service.regenerate(CALLER, { message: first.message, note: "note of the same question", idempotency: null });
    await settle();
    await life.answer("again");
    const second = await say(life, "two", { system: "second prompt", note: "second note", tools: [{ ...look }] });
    const third = await say(life, "three", { system: "third prompt", note: "third note" });

    await life.service.redact(CALLER, await findId(life, "hunter2"));

    const left = everything(life);
    const gone = ["first prompt", "second prompt", "12345", "first note", "note of the same question"];
    expect(gone.filter((text) => left.includes(text))).toEqual([]);
    expect(["third prompt", "second note", "third note"].filter((text) => !left.includes(text))).toEqual([]);
    expect(await settings(life, first.turn)).toMatchObject({ system: null, note: null, redacted: true });
    expect(await settings(life, second.turn)).toMatchObject({ system: null, note: "second note", redacted: true });
    expect(await settings(life, third.turn)).toMatchObject({ system: "third prompt", note: "third note", redacted: false });
    const told = await Promise.all([first, second].map(({ turn }) => past(life, turn)));
    expect(told.map(({ digest }) => digest.reason)).toEqual(["redacted", "redacted"]);
  });

  test("a past request whose own prompt alone was deleted says so", async () => {
    const life = await opened();
    const first = await say(life, "one", { system: OWN });
    await say(life, "my password is hunter2");
    await life.service.redact(CALLER, await findId(life, "hunter2"));
    expect((await past(life, first.turn)).digest).toMatchObject({ matches: false, reason: "redacted" });
  });

  test("a turn that is asked again after its choices were deleted goes by the session's", async () => {
    const life = await opened();
    const first = await say(life, "one", { system: OWN, note: NOTE, tools: [{ ...look }], generation: { seed: 5 } });
    await say(life, "my password is hunter2");
    await life.service.redact(CALLER, await findId(life, "hunter2"));
    await life.service.regenerate(CALLER, { message: first.message, idempotency: null });
    await settle();
    expect(life.call.request).toMatchObject({ system: "Be brief.", tools: [] });
    expect(life.call.request.generation).toBeUndefined();
    // The note belongs to another message than the redacted one.
    expect(await settings(life, turnsAsked(life).at(-1) ?? first.turn)).toMatchObject({ note: NOTE, redacted: false });
  });

  test("a turn that can be retried keeps its choices through a redaction, on a branch that was left too", async () => {
    const life = await opened();
    await say(life, "my password is hunter2");
    await ask(life, "one", { system: OWN, note: NOTE });
    await life.say(failure("refused"));
    await life.service.rewind(CALLER, { to: 2, idempotency: null });
    await ask(life, "two", { system: "prompt of the second branch" });
    await life.say(failure("refused"));
    await life.service.redact(CALLER, await findId(life, "hunter2"));
    const retried = async () => {
      await life.service.retry(CALLER, { idempotency: null });
      await settle();
      await life.answer("at last");
      return life.call.request.system;
    };
    expect(await retried()).toBe("prompt of the second branch");
    await life.service.switchBranch(CALLER, { branch: 1, idempotency: null });
    expect(await retried()).toBe(OWN);
  });

  test("an erasure leaves nothing of either", async () => {
    const life = await opened();
    await say(life, "one", { system: OWN, note: NOTE });
    await ask(life, "two", { system: OWN, note: NOTE });
    await life.service.erase(CALLER);
    expect(everything(life)).not.toMatch(/Portuguese|天气/);
  });

  test("a fork copies neither: its turns go by the session's settings, which it copies", async () => {
    const source = await opened();
    await say(source, "one", { system: OWN, note: NOTE });
    const into = watched(new Life(undefined, "fork-1", countingIds()));
    into.models = source.models;
    const [from, to] = [SESSION, id("ses", 77)];
    const target = { tenant: TENANT, session: to };
    await copySession({
      hold: async () => true,
      source: (work) => work(source.service, CALLER),
      target: (work) => work(into.service, target),
      from,
      to,
      at: null,
      title: null,
    });
    await into.service.submit(target, MESSAGE);
    await settle();
    expect(into.call.request.system).toBe("Be brief.");
    expect(everything(into)).not.toMatch(/Portuguese|天气/);
  });
});

describe("when a turn was asked for and when it ended", () => {
  /** Turns that ended in each way, one that was cancelled while it waited, and two that are open. */
  async function timed(): Promise<Life> {
    const life = await opened();
    const pass = () => life.advance(1_000);
    await ask(life, "one");
    await pass();
    await ask(life, "two");
    const cancelled = await ask(life, "never");
    await pass();
    await life.service.cancelQueued(CALLER, cancelled.message);
    await pass();
    await life.answer("first");
    await pass();
    await life.say(failure("refused"));
    await pass();
    await life.service.retry(CALLER, { idempotency: null });
    await settle();
    await pass();
    await life.service.stop(CALLER, { idempotency: null });
    await pass();
    await ask(life, "four");
    await pass();
    await ask(life, "five");
    return life;
  }

  const EXPECTED = [
    { status: "completed", created_at: 1_000, ended_at: 4_000 },
    { status: "failed", created_at: 2_000, ended_at: 5_000 },
    { status: "stopped", created_at: 2_000, ended_at: 3_000 },
    { status: "stopped", created_at: 6_000, ended_at: 7_000 },
    { status: "generating", created_at: 8_000, ended_at: null },
    { status: "queued", created_at: 9_000, ended_at: null },
  ];

  async function times(life: Life) {
    const page = await life.service.turns(CALLER, { after: null, limit: 10, order: "asc" });
    if (!page.ok) throw new Error(page.error.code);
    return page.value.data.map(({ status, created_at, ended_at }) => ({ status, created_at, ended_at }));
  }

  test("is in each report, one by one and in the list", async () => {
    const life = await timed();
    expect(await times(life)).toEqual(EXPECTED);
    const page = await life.service.turns(CALLER, { after: null, limit: 10, order: "asc" });
    const [first] = page.ok ? page.value.data : [];
    expect(first && (await life.service.turn(CALLER, first.id))).toMatchObject({ ok: true, value: EXPECTED[0] });
  });

  test("stays that of the first attempt when a crashed turn runs again", async () => {
    const life = await opened();
    await ask(life, "one", { system: OWN });
    const next = nextLife(life);
    await next.advance(5_000);
    await next.service.describe(CALLER);
    await settle();
    await next.answer("so");
    expect([await times(next), systems(next)]).toEqual([[{ status: "completed", created_at: 1_000, ended_at: 6_000 }], [OWN]]);
  });
});
