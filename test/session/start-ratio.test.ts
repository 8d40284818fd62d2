/** The registry's start ratio of a model: where it applies. No log or replay depends on it. */

import { describe, expect, test } from "vitest";
import { Sizing } from "../../src/context/sizing";
import type { StoredEvent } from "../../src/domain/events";
import { fold } from "../../src/domain/evolve";
import { CALLER, Life, SPEC } from "./life";
import { append, ask, revert, work } from "./talk";

const RATIO = 1.5;
const LONG = "seventeen words that say nothing at all about any of the things that matter here today ".repeat(20);

async function opened(ratio?: number): Promise<Life> {
  const life = new Life();
  life.models = { resolve: async () => ({ ...SPEC, ...(ratio !== undefined && { ratio }) }) };
  await life.open();
  return life;
}

const calls = (life: Life): readonly StoredEvent[] => life.events().filter(({ type }) => type === "ModelCallFinished");
const replayed = (life: Life) => fold(life.events());

async function newestReceipt(life: Life) {
  const rows = await life.service.compactions(CALLER, { after: null, limit: 1, order: "desc" });
  return rows.ok ? rows.value.data[0]?.receipt : null;
}

async function countContext(life: Life): Promise<number> {
  const described = await life.service.describe(CALLER);
  return described.ok ? described.value.current_context_tokens.tokens : 0;
}

describe("the registry's ratio", () => {
  test("scales what is estimated, until the session has learned its own", async () => {
    const [plain, rated] = [await opened(), await opened(RATIO)];
    for (const life of [plain, rated]) {
      await life.send(LONG);
    }
    const [one, other] = await Promise.all([plain, rated].map(countContext));
    expect((other ?? 0) / (one ?? 1)).toBeCloseTo(RATIO, 2);
  });

  test("is what learning starts from, and the call's event says so", async () => {
    const life = await opened(RATIO);
    await life.send(LONG);

    await life.answer("noted", Math.round(life.runtime.state.view.tokens * RATIO));

    expect(calls(life)).toMatchObject([{ ratio: RATIO }]);
    expect(new Sizing(life.runtime.state, SPEC).ratio).toBeCloseTo(RATIO, 2);
    expect(life.runtime.state.ratios).toMatchObject([{ model: SPEC.id, value: expect.any(Number), fixed: expect.anything() }]);
  });

  test("is in no stored state: a replay of the log, which asks no registry, comes to the same", async () => {
    const life = await opened(RATIO);
    await life.send(LONG);
    expect(replayed(life).ratios).toEqual([]);
    expect(life.runtime.state).toEqual(replayed(life));

    await life.answer("noted", 900);

    expect(life.runtime.state).toEqual(replayed(life));
    expect(replayed(life).ratios).toEqual(life.runtime.state.ratios);
  });

  test("that changes later does not touch what was learned", async () => {
    const life = await opened(RATIO);
    await life.send(LONG);
    await life.answer("noted", 900);
    const learned = new Sizing(life.runtime.state, SPEC).ratio;
    expect(learned).not.toBe(0.5);
    life.models = { resolve: async () => ({ ...SPEC, ratio: 0.5 }) };
    await life.send("and now?");

    expect(new Sizing(life.runtime.state, { ...SPEC, ratio: 0.5 }).ratio).toBe(learned);
  });

  test("that is not set leaves every event unchanged", async () => {
    const life = await opened();
    await life.send(LONG);
    await life.answer("noted", 900);

    expect(calls(life)[0]).not.toHaveProperty("ratio");
  });

  test("scales what a person plans, reverts and resets, as it scales the context's size", async () => {
    const life = await opened(RATIO);
    for (let n = 1; n <= 8; n++) await append(life, n % 2 ? "user" : "assistant", [{ type: "text", text: `${n} ${LONG}` }]);
    const size = async () => {
      const described = await life.service.describe(CALLER);
      return described.ok ? described.value.current_context_tokens : null;
    };
    expect(life.runtime.state.ratios).toEqual([]);

    expect(await ask(life, { dryRun: true, keepRecent: 300 })).toMatchObject({ plan: { kind: "compact", next: await size() } });

    const before = await size();
    await ask(life, { keepRecent: 300 });
    await work(life, "They spoke.");
    const after = await size();
    const reverted = await revert(life);
    expect(reverted).toMatchObject({ ok: true, value: { compaction: { receipt: { tokens_before: before, tokens_after: after } } } });
    expect((await newestReceipt(life))?.tokens_before).toEqual(after);
  });
});
