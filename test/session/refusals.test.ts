/** What a turn does with a provider's refusal that points at the form of the request: no conversation dies of one. */
import { describe, expect, test } from "vitest";
import { NO_BUDGETS } from "../../scripts/support/no-budgets";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { ModelFailure, ModelRequest } from "../../src/app/ports";
import { findQuirks } from "../../src/context/model-quirks";
import { countingIds } from "../support/builders";
import { findId } from "./contents";
import { talk } from "./filled";
import { CALLER, failure, Life, SPEC, settle } from "./life";
import { compact } from "./talk";

const NONE = { revision: 0, budgets: [] } as const;
const refusal = (of: Partial<ModelFailure>) => ({ type: "failure", failure: { kind: "invalid_param", status: 400, ...of } }) as const;
const outcomes = (life: Life) => life.events().flatMap((event) => (event.type === "ModelCallFinished" ? [event.outcome] : []));
const lastTurn = (life: Life) => life.runtime.state.last_turn;

/** A model of chat completions, whose requests say how they are built. */
async function asking(turns = 1, life = new Life()): Promise<Life> {
  life.models = { resolve: async () => ({ ...SPEC, provider: "openai-compatible", base_url: "https://example.org/v1" }) };
  life.toBody = ({ model, plain, messages }: ModelRequest) => JSON.stringify({ quirks: findQuirks(model), plain, messages });
  await life.open();
  for (let turn = 0; turn < turns; turn++) await life.send(`question ${turn}`);
  return life;
}

describe("a refused parameter", () => {
  test("is left out of one more call at once, of the turn's next ones, and of later turns", async () => {
    const life = await asking();
    await life.say(refusal({ refused: "stream_options" }));
    expect(life.asked).toBe("tt");
    expect(findQuirks(life.call.request.model).stream_options).toBe(false);
    await life.answer("yes");
    const shown = await life.service.context(CALLER, { content: null });
    expect(shown).toMatchObject({ ok: true, value: { request: { body: expect.stringContaining('"stream_options":false') } } });

    await life.send("and now?");
    expect(life.asked).toBe("ttt");
    expect(findQuirks(life.call.request.model).stream_options).toBe(false);
    expect(outcomes(life)).toEqual(["invalid_param", "stop"]);
  });

  test("is in what is shown while the registry is out of reach", async () => {
    const life = await asking();
    life.models = { resolve: () => Promise.reject(new Error("away")) };
    await life.say(refusal({ refused: "stream_options" }));
    await life.answer("yes");
    const shown = await life.service.context(CALLER, { content: null });
    expect(shown).toMatchObject({ ok: true, value: { request: { body: expect.stringContaining('"stream_options":false') } } });
  });

  test("is left out of what is shown, though the request for that came before the refusal and waited for the tenant's budgets", async () => {
    const life = await asking();
    const known = Promise.withResolvers<typeof NONE>();
    life.budgets = { ...NO_BUDGETS, peek: () => null, lookUp: () => known.promise };
    const showing = life.service.context(CALLER, { content: null });
    await settle();
    life.budgets = NO_BUDGETS;
    await life.say(refusal({ refused: "stream_options" }));
    await life.answer("yes");
    known.resolve(NONE);
    expect(await showing).toMatchObject({ ok: true, value: { request: { body: expect.stringContaining('"stream_options":false') } } });
  });

  test("is in what is shown of the past request", async () => {
    const life = await asking();
    life.digest = async (body) => body;
    await life.say(refusal({ refused: "call_ids" }));
    await life.answer("yes");
    const turn = life.events().find((event) => event.type === "TurnStarted")?.turn;
    const shown = await life.service.contextAt(CALLER, { turn: turn ?? ("" as never), call: null });
    expect(shown).toMatchObject({ ok: true, value: { call: 2, digest: { matches: true } } });
  });

  test("that is refused again without being sent ends the turn", async () => {
    const life = await asking();
    await life.say(refusal({ refused: "stream_options" }));
    await life.say(refusal({ refused: "stream_options" }));
    expect([life.asked, lastTurn(life)?.failure?.kind]).toEqual(["tt", "invalid_param"]);
  });

  test("that the client chose is not left out: the turn ends with the provider's names for it", async () => {
    const life = await asking();
    await life.say(refusal({ refused: "setting", reported: { param: "temperature", code: "unsupported_parameter" } }));
    expect(life.asked).toBe("t");
    expect(lastTurn(life)).toMatchObject({ failure: { kind: "invalid_param", reported: { param: "temperature" } } });
    expect(life.log.lines.find(({ event }) => event === "turn_failed")?.fields).toMatchObject({
      kind: "invalid_param",
      status: 400,
      param: "temperature",
      code: "unsupported_parameter",
    });
  });

  test("of many kinds, one after the other, is asked for a bounded number of times", async () => {
    const life = await asking();
    for (const refused of ["stream_options", "call_ids", "system", "alternate_roles", "max_tokens", "reasoning_wanted"] as const)
      await life.say(refusal({ refused }));
    expect(life.calls.length).toBeLessThanOrEqual(8);
    expect(lastTurn(life)).toMatchObject({ status: "failed" });
  });
});

describe("a refusal that points at the history", () => {
  test.each([
    ["an item of it", { refused: "history" }],
    ["nothing", {}],
  ] as const)("by naming %s is followed by a plainer rendering of the same history", async (_, change) => {
    const life = await asking();
    await life.say(refusal(change));

    expect(life.asked).toBe("tt");
    expect(life.call.request.plain).toBe(true);
    expect(life.call.messages).toEqual(life.calls[0]?.messages);
    expect(life.runtime.state.view.epoch).toBe(0);
    await life.answer("yes");
    await life.send("and now?");
    expect(life.call.request.plain).toBe(true);
  });

  test("is remembered when the object wakes again, until a summary replaces what was refused", async () => {
    const ids = countingIds();
    const first = await asking(1, new Life(createNodeSql(), "life-1", ids));
    await first.say(refusal({ refused: "history" }));
    await first.answer("yes");

    const life = new Life(first.sql, "life-2", ids);
    life.models = first.models;
    life.toBody = first.toBody;
    await life.send("and now?");
    expect(life.call.request.plain).toBe(true);
    await life.answer("this");

    await talk(life, 4);
    await compact(life, null);
    expect(life.runtime.state.view.epoch).toBe(1);
    await life.send("and then?");
    expect(life.call.request).not.toHaveProperty("plain");
  });

  test("is forgotten when a message is redacted, and when the conversation goes back", async () => {
    const life = await asking();
    await life.say(refusal({ refused: "history" }));
    await life.answer("yes");
    await life.service.redact(CALLER, await findId(life, "question 0"));
    await life.send("and now?");
    expect(life.call.request).not.toHaveProperty("plain");
    await life.say(refusal({ refused: "history" }));
    await life.answer("this");
    await life.service.rewind(CALLER, { to: 2, idempotency: null });
    await life.send("and then?");
    expect(life.call.request).not.toHaveProperty("plain");
  });

  test("after the plainer rendering ends the turn, and nothing is compacted", async () => {
    const life = await asking();
    await life.say(refusal({ refused: "history" }));
    await life.say(refusal({ refused: "history" }));
    expect([life.asked, life.runtime.state.view.epoch]).toEqual(["tt", 0]);
    expect(lastTurn(life)).toMatchObject({ failure: { kind: "invalid_param", status: 400 } });

    await life.send("again?");
    expect(life.asked).toBe("ttt");
  });

  test("is no reason for a plainer rendering that would be the same", async () => {
    const life = await asking();
    life.toBody = () => "the same";
    await life.say(refusal({ refused: "history" }));
    expect(life.asked).toBe("t");
  });

  test.each(["auth", "not_found", "refused", "region", "quota"] as const)("is none where the provider says %s", async (kind) => {
    const life = await asking();
    await life.say(refusal({ kind, status: 403 }));
    expect([life.asked, lastTurn(life)?.failure?.kind]).toEqual(["t", kind]);
  });

  test("is in what is shown of the past request", async () => {
    const life = await asking();
    life.digest = async (body) => body;
    await life.say(refusal({ refused: "history" }));
    await life.answer("yes");
    const turn = life.events().find((event) => event.type === "TurnStarted")?.turn;
    const shown = await life.service.contextAt(CALLER, { turn: turn ?? ("" as never), call: 2 });
    expect(shown).toMatchObject({ ok: true, value: { digest: { matches: true } } });
  });
});

describe("a body that is refused as too large", () => {
  const large = (of: Partial<ModelFailure> = {}) => refusal({ kind: "payload", status: 413, ...of });
  const countBytes = (life: Life): number => Buffer.byteLength(life.sent.at(-1)?.body ?? "");

  async function filled(window = 200_000): Promise<Life> {
    const life = new Life();
    life.models = { resolve: async () => ({ ...SPEC, context_window: window }) };
    life.toBody = ({ messages, system }: ModelRequest) => JSON.stringify({ system, messages });
    await life.open("balanced");
    await talk(life, 12);
    await life.send("what now?");
    return life;
  }

  /** A proxy that takes bodies of at most `most` bytes, until the turn ends. */
  async function answerWithin(life: Life, most: number): Promise<void> {
    for (let calls = 0; calls < 12 && life.runtime.state.turn; calls++) {
      if (countBytes(life) > most) await life.say(large());
      else if (life.call.request.purpose === "compaction") await life.summarize("Words.");
      else await life.answer("this", 500);
    }
  }

  test.each([
    ["named", { most_bytes: 40_000 }],
    ["not named", {}],
  ] as const)("is compacted to the bound, which is %s, and the same turn asks again", async (_, of) => {
    const life = await filled();
    const before = countBytes(life);
    expect(before).toBeGreaterThan(60_000);

    await life.say(large(of));
    expect(life.call.request.purpose).toBe("compaction");
    while (life.call.request.purpose === "compaction") {
      expect(countBytes(life)).toBeLessThan(before / 2);
      await life.summarize("They exchanged words.");
    }
    expect(countBytes(life)).toBeLessThan(before / 2);
    expect(life.call.messages.at(-1)).toBe("user: what now?");
    await life.answer("this", 1_500);
    expect(lastTurn(life)).toMatchObject({ status: "completed" });

    await life.send("and then?");
    expect([life.call.request.purpose, countBytes(life) < before / 2]).toEqual(["turn", true]);
  });

  test("is halved until it passes, at most twice in one turn, and the next turn goes on from there", async () => {
    const life = await filled();
    await answerWithin(life, 9_000);
    if (lastTurn(life)?.status === "failed") {
      await life.send("again?");
      await answerWithin(life, 9_000);
    }
    expect(lastTurn(life)).toMatchObject({ status: "completed" });
  });

  test("that holds nothing which may leave ends the turn, and says what weighs most", async () => {
    const life = new Life();
    life.models = { resolve: async () => ({ ...SPEC, context_window: 200_000 }) };
    await life.open("balanced");
    await life.send("x".repeat(100_000));
    await life.say(large({ most_bytes: 50_000 }));
    expect(lastTurn(life)?.failure?.kind).toMatch(/payload|cannot_fit/);
    await life.send("short");
    await settle();
    expect(life.call.messages.at(-1)).toBe("user: short");
    expect(life.call.messages.join("").length).toBeLessThan(50_000);
  });
});

describe("a summariser's refusal", () => {
  test("of a parameter is followed by the same request without it, within the one call of the compaction", async () => {
    const life = new Life();
    life.models = { resolve: async () => ({ ...SPEC, provider: "openai-compatible", base_url: "https://example.org/v1" }) };
    await life.open();
    await talk(life, 4);
    await life.send("what now?");
    await life.say(failure("overflow"));
    expect(life.call.request.purpose).toBe("compaction");

    await life.say(refusal({ status: 422, refused: "stream_options" }));
    expect(life.asked).toBe("tttttcc");
    expect(findQuirks(life.call.request.model).stream_options).toBe(false);
    await life.summarize("They exchanged words.");

    expect(life.asked).toBe("tttttcct");
    expect(findQuirks(life.call.request.model).stream_options).toBe(false);
    const recorded = life.events().filter((event) => event.type === "ModelCallFinished" && event.purpose === "compaction");
    expect(recorded).toMatchObject([{ outcome: "stop" }]);
  });

  test("is not followed by a request that holds what was redacted meanwhile", async () => {
    const life = await asking(0);
    await talk(life, 4);
    const [first] = life.call.messages;
    await life.send("what now?");
    await life.say(failure("overflow"));
    expect(life.call.request.purpose).toBe("compaction");

    const secret = first?.slice("user: ".length, 40) ?? "";
    const done = await life.service.redact(CALLER, await findId(life, secret));
    expect(done.ok).toBe(true);
    const asked = life.calls.length;
    await life.say(refusal({ status: 422, refused: "stream_options" }));
    const later = life.calls.slice(asked).map(({ request }) => JSON.stringify(request.messages));
    expect(later.filter((text) => text.includes(secret))).toEqual([]);
  });
});
