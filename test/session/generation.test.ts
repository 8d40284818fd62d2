/** Generation settings of a session and of single turns: how they merge, what refuses them, and where they stay. */
import { describe, expect, test } from "vitest";
import { copySession } from "../../src/app/branch/copy-session";
import type { ModelSpec } from "../../src/app/ports";
import type { TurnInput } from "../../src/app/session-api";
import type { GenerationChoice } from "../../src/context/generation";
import { fixedTokens } from "../../src/domain/state";
import { readBodies } from "../../src/session/log/bodies";
import { countingIds, id, SESSION, TENANT } from "../support/builders";
import { CALLER, failure, Life, SPEC, settle } from "./life";
import { allPast, expectSame, watched } from "./sent";
import { compact } from "./talk";

const responses: ModelSpec = { ...SPEC, id: "responses", provider: "openai", upstream_id: "gpt-4o" };
const claude: ModelSpec = { ...SPEC, id: "claude", provider: "anthropic", upstream_id: "claude-sonnet-4-20250514" };
const KNOWN = [SPEC, responses, claude];
const tool = { name: "look", parameters: { type: "object" } } as const;
const CITY = { type: "json_schema", name: "city", schema: { type: "object", title: "A secret schema" } } as const;

async function opened(generation: GenerationChoice = {}, policy = "oneclaw"): Promise<Life> {
  const life = watched(new Life());
  life.models = { resolve: async (name) => KNOWN.find((spec) => spec.id === name) ?? null };
  const input = { model: SPEC.id, policy, system: null, title: null, metadata: {}, generation };
  const done = await life.service.open(CALLER, { ...input, tools: [tool] });
  if (!done.ok) throw new Error(JSON.stringify(done.error));
  return life;
}

async function send(life: Life, text: string, turn: TurnInput = {}, key: string | null = null) {
  const idempotency = key === null ? null : { key, digest: key };
  const said = { role: "user", parts: [{ type: "text", text }], run: true, onBusy: "queue", tools: null, idempotency } as const;
  const accepted = await life.service.submit(CALLER, { ...said, ...turn });
  await settle();
  return accepted;
}

const asked = (life: Life) => life.calls.map(({ request }) => request.generation);
const refused = (outcome: { readonly ok: boolean; readonly error?: unknown }) => (outcome.ok ? null : outcome.error);
const patch = (life: Life, input: Parameters<Life["service"]["patch"]>[1]) => life.service.patch(CALLER, input);

describe("the settings of a session", () => {
  test("change field by field, null clears one or all, and the session shows them", async () => {
    const life = await opened({ temperature: 0.2, seed: 7 });
    const changed = await patch(life, { generation: { temperature: null, top_p: 0.9 } });
    expect(changed).toMatchObject({ ok: true, value: { generation: { seed: 7, top_p: 0.9 } } });
    const cleared = await patch(life, { generation: null });
    expect(cleared.ok && cleared.value.generation).toEqual({});
    await send(life, "hello");
    expect(life.call.request).not.toHaveProperty("generation");
  });

  test("are in every request of a turn, and in none for a summary", async () => {
    const life = await opened({ temperature: 0.2 });
    for (const text of ["one ".repeat(300), "two ".repeat(300), "three"]) {
      await send(life, text);
      await life.answer("so");
    }
    await compact(life, 20);
    const leased = life.calls.length;
    await send(life, "four");
    expect([asked(life), leased]).toEqual([Array.from({ length: 4 }, () => ({ temperature: 0.2 })), 3]);
  });

  test("weigh what their schema weighs, and nothing without one", async () => {
    const [plain, sampled, formed] = await Promise.all([opened(), opened({ temperature: 1 }), opened({ response_format: CITY })]);
    const weigh = (life: Life) => fixedTokens(life.runtime.state);
    expect(weigh(sampled)).toBe(weigh(plain));
    expect(weigh(formed)).toBeGreaterThan(weigh(plain));
  });

  test("do not change the epoch", async () => {
    const life = await opened();
    await patch(life, { generation: { seed: 3 } });
    expect(life.runtime.state.view.epoch).toBe(0);
  });

  test("are copied into a fork", async () => {
    const source = await opened({ seed: 7, response_format: CITY });
    await send(source, "hello");
    await source.answer("hi");
    const into = new Life(undefined, "fork-1", countingIds());
    into.models = source.models;
    const [from, to] = [SESSION, id("ses", 77)];
    const target = { tenant: TENANT, session: to };
    const copied = await copySession({
      hold: async () => true,
      source: (work) => work(source.service, CALLER),
      target: (work) => work(into.service, target),
      from,
      to,
      at: null,
      title: null,
    });
    expect(copied).toMatchObject({ ok: true, value: { generation: { seed: 7, response_format: CITY } } });
  });

  test("that were replaced are deleted by a redaction, and no event ever holds one", async () => {
    const life = await opened({ response_format: CITY });
    const first = life.runtime.state.settings.generation?.body;
    const said = await send(life, "hello");
    await life.answer("hi");
    await patch(life, { generation: { response_format: null, seed: 1 } });
    if (!first || !said.ok) throw new Error("nothing was stored");
    expect(readBodies(life.sql, [first]).size).toBe(1);
    await life.service.redact(CALLER, said.value.message_id);
    expect(readBodies(life.sql, [first]).size).toBe(0);
    expect(JSON.stringify(life.events())).not.toMatch(/secret schema|0\.2|response_format/);
    expect((await allPast(life)).map(({ digest }) => digest)).toMatchObject([{ matches: false, reason: "redacted" }]);
  });
});

describe("the settings of a turn", () => {
  test("go over the session's field by field, and hold for this turn only", async () => {
    const life = await opened({ temperature: 0.2, seed: 7 });
    await send(life, "one", { generation: { temperature: 0.9, stop: ["END"], seed: null } });
    await life.answer("first");
    await send(life, "two");
    await life.answer("second");
    expect(asked(life)).toEqual([
      { temperature: 0.9, stop: ["END"] },
      { temperature: 0.2, seed: 7 },
    ]);
  });

  test("wait with a queued message, and are deleted with a cancelled one", async () => {
    const life = await opened();
    await send(life, "one");
    await send(life, "two", { generation: { top_p: 0.5 }, model: "claude" });
    const waiting = await send(life, "three", { generation: { response_format: CITY } });
    expect(waiting.ok).toBe(true);
    const [, third] = life.runtime.state.queue;
    if (!third?.generation) throw new Error("nothing waits");
    await life.service.cancelQueued(CALLER, third.item.id);
    expect(readBodies(life.sql, [third.generation.body]).size).toBe(0);
    await life.answer("first");
    expect(life.calls.map(({ request }) => [request.model.id, request.generation])).toEqual([
      [SPEC.id, undefined],
      ["claude", { top_p: 0.5 }],
    ]);
  });

  test("a queued message's are refused when it is sent, not when it starts", async () => {
    const life = await opened();
    await send(life, "one");
    expect(refused(await send(life, "two", { generation: { seed: 2 }, model: "claude" }))).toMatchObject({ field: "generation.seed" });
    expect(life.runtime.state.queue).toEqual([]);
  });

  test("are repeated by a retry and a regeneration, which may change them field by field or drop them", async () => {
    const life = await opened({ temperature: 0.2 });
    const said = await send(life, "one", { generation: { seed: 1, top_p: 0.5 }, model: "claude2" });
    expect(refused(said)).toEqual({ code: "unknown_model", model: "claude2" });
    const sent = await send(life, "one", { generation: { stop: ["A"], top_p: 0.5 } });
    await life.say(failure("refused"));
    await life.service.retry(CALLER, { idempotency: null });
    await settle();
    await life.say(failure("refused"));
    await life.service.retry(CALLER, { generation: { top_p: null, stop: ["B"] }, model: "responses", idempotency: null });
    await settle();
    expect(refused(sent)).toBeNull();
    // The Responses API has no stop sequences, so the last retry was refused and nothing was asked.
    expect(asked(life)).toEqual([
      { temperature: 0.2, stop: ["A"], top_p: 0.5 },
      { temperature: 0.2, stop: ["A"], top_p: 0.5 },
    ]);
    await life.service.retry(CALLER, { generation: { top_p: null, stop: null }, model: "responses", idempotency: null });
    await settle();
    await life.answer("at last");
    expect([asked(life).at(-1), life.call.request.model.id]).toEqual([{ temperature: 0.2 }, "responses"]);
    if (!sent.ok) throw new Error("not sent");
    await life.service.regenerate(CALLER, { message: sent.value.message_id, idempotency: null });
    await settle();
    await life.answer("again");
    expect([asked(life).at(-1), life.call.request.model.id]).toEqual([{ temperature: 0.2, stop: ["A"], top_p: 0.5 }, SPEC.id]);
    await life.service.regenerate(CALLER, { message: sent.value.message_id, generation: null, model: "claude", idempotency: null });
    await settle();
    await life.answer("once more");
    expect([asked(life).at(-1), life.call.request.model.id]).toEqual([{ temperature: 0.2 }, "claude"]);
    await expectSame(life);
  });

  test("come with an edited message, and survive the end of the object", async () => {
    const life = await opened({ seed: 7 });
    const sent = await send(life, "one");
    await life.answer("first");
    if (!sent.ok) throw new Error("not sent");
    const edited = { message: sent.value.message_id, parts: [{ type: "text", text: "uno" }], tools: null, idempotency: null } as const;
    await life.service.editMessage(CALLER, { ...edited, generation: { seed: 8 }, model: "claude2" });
    await life.service.editMessage(CALLER, { ...edited, generation: { top_p: 0.5 } });
    await settle();
    const next = watched(new Life(life.sql, "life-2"));
    next.models = life.models;
    await next.service.describe(CALLER);
    await settle();
    await next.answer("second");
    expect(asked(next)).toEqual([{ seed: 7, top_p: 0.5 }]);
    await expectSame(life, next);
  });

  test("name a model for this turn only, and a session that is compacted for it goes on with its own", async () => {
    const life = await opened();
    await send(life, "one", { model: "claude" });
    await life.answer("first");
    await send(life, "two");
    await life.answer("second");
    expect(life.calls.map(({ request }) => request.model.id)).toEqual(["claude", SPEC.id]);
    expect(life.runtime.state.settings.model).toBe(SPEC.id);
    await expectSame(life);
  });

  test("force a call once in a turn", async () => {
    const life = await opened({ tool_choice: "required" });
    await send(life, "look");
    await life.useTool("call_1", "found", 10);
    await life.answer("so");
    expect(asked(life)).toEqual([{ tool_choice: "required" }, undefined]);
    await expectSame(life);
  });

  test("cap the reply where they name less than the model's maximum", async () => {
    const life = await opened({ max_output_tokens: 300 });
    await send(life, "one");
    await life.answer("first");
    await send(life, "two", { generation: { max_output_tokens: 5_000 } });
    await life.answer("second");
    expect(life.calls.map(({ request }) => request.maxOutput)).toEqual([300, SPEC.max_output]);
    await expectSame(life);
  });
});

describe("settings that the model cannot express", () => {
  test("are refused by their field: on the session, on a message, and when the model changes", async () => {
    const life = await opened({ seed: 7 });
    const field = { code: "invalid", field: "generation.seed" };
    expect(refused(await patch(life, { model: "claude" }))).toMatchObject(field);
    expect(refused(await patch(life, { model: "claude", generation: { seed: null } }))).toBeNull();
    expect(refused(await patch(life, { generation: { seed: 1 } }))).toMatchObject(field);
    expect(refused(await send(life, "one", { generation: { seed: 1 } }))).toMatchObject(field);
    expect(refused(await send(life, "one", { generation: { response_format: { type: "json" } } }))).toMatchObject({
      field: "generation.response_format",
    });
    expect(life.events().filter(({ type }) => type === "TurnStarted")).toEqual([]);
  });

  test("are refused where a tool is named that is not offered", async () => {
    const life = await opened();
    const field = { code: "invalid", field: "generation.tool_choice" };
    expect(refused(await patch(life, { generation: { tool_choice: { name: "other" } } }))).toMatchObject(field);
    expect(refused(await patch(life, { generation: { tool_choice: { name: "memory_query" } } }))).toBeNull();
    expect(refused(await patch(life, { generation: { tool_choice: { name: "look" } } }))).toBeNull();
    expect(refused(await patch(life, { tools: null }))).toMatchObject(field);
    const said = { role: "user", parts: [{ type: "text", text: "one" }], run: true, onBusy: "queue", idempotency: null } as const;
    expect(refused(await life.service.submit(CALLER, { ...said, tools: [{ ...tool, name: "other" }] }))).toMatchObject(field);
  });

  test("are not judged again for a request that was accepted under its key", async () => {
    const life = await opened();
    const first = await send(life, "one", { model: "claude", generation: { top_p: 0.5 } }, "k1");
    await life.answer("first");
    life.models = { resolve: async (name) => (name === SPEC.id ? SPEC : null) };
    expect(await send(life, "one", { model: "claude", generation: { top_p: 0.5 } }, "k1")).toMatchObject({
      ok: true,
      value: { replayed: true },
    });
    expect(first.ok).toBe(true);
  });

  test("pass a fallback model over where they shape the result, and are left out for it where they do not, as the ledger says", async () => {
    const policy = JSON.stringify({ preset: "oneclaw", fallback_models: ["claude", "responses"] });
    const life = await opened({ seed: 7, temperature: 0.3, response_format: CITY }, policy);
    await send(life, "one");
    await life.say(failure("quota"));
    await life.answer("so");
    expect(life.calls.map(({ request }) => [request.model.id, request.generation])).toEqual([
      [SPEC.id, { seed: 7, temperature: 0.3, response_format: CITY }],
      ["responses", { temperature: 0.3, response_format: CITY }],
    ]);
    const ledger = await life.service.usage(CALLER, { after: null, limit: 10, order: "asc" });
    expect(ledger.ok && ledger.value.data.map(({ left_out }) => left_out)).toEqual([[], ["seed"]]);
    await expectSame(life);
  });

  test("fail the turn where the registry's model changed under a session that shapes its result", async () => {
    const life = await opened({ response_format: CITY });
    life.models = { resolve: async () => ({ ...claude, id: SPEC.id }) };
    await send(life, "one");
    expect(life.calls).toEqual([]);
    expect(life.runtime.state.last_turn).toMatchObject({ status: "failed", failure: { kind: "invalid_param" } });
  });
});

test("a change of the reply's form during a call is not counted with what the call was asked with", async () => {
  const life = await opened();
  await send(life, "hello");
  const before = fixedTokens(life.runtime.state);

  expect(await patch(life, { generation: { response_format: CITY } })).toMatchObject({ ok: true });
  await life.answer("{}", 500);

  const { anchor } = life.runtime.state;
  expect(fixedTokens(life.runtime.state)).toBeGreaterThan(before);
  expect(anchor === null || anchor.fixed === before).toBe(true);
  await send(life, "again");
  await life.answer("{}", 600);
  expect(life.runtime.state.anchor?.fixed).toBe(fixedTokens(life.runtime.state));
});

test("a temperature that changes during a call leaves the provider's count as it is", async () => {
  const life = await opened();
  await send(life, "hello");

  await patch(life, { generation: { temperature: 0.2 } });
  await life.answer("Good day.", 500);

  expect(life.runtime.state.anchor).toMatchObject({ input: 500, fixed: fixedTokens(life.runtime.state) });
});
