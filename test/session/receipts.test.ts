/** The receipt of a compaction includes the cost of every call made for it, whatever its outcome. */
import { describe, expect, test } from "vitest";
import type { ModelStreamPart } from "../../src/app/ports";
import type { CallUsage } from "../../src/domain/model-call";
import type { Receipt } from "../../src/domain/receipt";
import { toShownReceipt } from "../../src/session/calls/read-calls";
import { RECEIPT } from "../support/builders";
import { huge, nearlyFull, talk } from "./filled";
import { CALLER, failure, Life, SPEC, settle } from "./life";
import { talked } from "./script";
import { compact, revert } from "./talk";

const usage = (input: number, output: number): CallUsage => ({ input, output, cached: 8, reasoning: 0 });
const finish = (reported: CallUsage | null, reason: "stop" | "length" = "stop"): ModelStreamPart => ({
  type: "finish",
  finish: reason,
  usage: reported,
});

/** The duration of the summariser's call, as it was reported. */
async function summarise(life: Life, ms: number, ...chunks: ModelStreamPart[]): Promise<void> {
  await life.advance(ms);
  await life.say(...chunks);
}

const listReceipts = (life: Life): Receipt[] => life.events().flatMap((event) => (event.type === "EpochChanged" ? [event.receipt] : []));

describe("every change of the view", () => {
  const listed = async (life: Life) => {
    const found = await life.service.compactions(CALLER, { after: null, limit: 20, order: "asc" });
    return found.ok ? found.value.data : [];
  };

  test("by the guard says what it costs, what the cache should keep, and what it kept", async () => {
    const life = new Life();
    await life.open({ preset: "balanced", summary: { form: "none" } });
    await talk(life, 6);
    await life.send(huge("question-7"));
    await life.answer("so", 5_000);

    const [guard] = await listed(life);
    expect(guard).toMatchObject({ trigger: "guard", ops: [{ op: "drop" }], cache: { first_call: { input: 5_000, cached: 0 } } });
    expect(guard?.receipt?.economy).toMatchObject({ cache_kept: 0 });
    expect(guard?.receipt?.economy?.read_cost_after).toBeLessThan(guard?.receipt?.economy?.read_cost_before ?? 0);
    expect(guard?.cache?.expected).toBe(0);
  });

  test.each<[string, (life: Life) => Promise<unknown>]>([
    ["a revert", (life) => revert(life)],
    ["a reset", (life) => life.service.resetSummary(CALLER)],
  ])("by %s does too", async (_, takeBack) => {
    const life = await talked(6);
    await compact(life, 300);
    await takeBack(life);
    await life.send("and now?");
    await life.answer("ok", 900);

    const [summary, back] = await listed(life);
    const { economy, tokens_before, tokens_after } = back?.receipt ?? {};
    expect(economy?.read_cost_before).toBeCloseTo(0.1 * (tokens_before?.tokens ?? 0));
    expect(economy?.read_cost_after).toBeCloseTo(0.1 * (tokens_after?.tokens ?? 0));
    expect(back?.cache).toMatchObject({ expected: 0, first_call: { model: "test-model", input: 900 } });
    expect(summary?.cache?.first_call).toBeNull();
  });
});

describe("a receipt as clients see it", () => {
  test("has the sizes as figures with their stored certainty", () => {
    const before = { source: "reported", error_bound: 0 } as const;
    const after = { source: "mixed", error_bound: 12 } as const;

    const shown = toShownReceipt({ ...RECEIPT, tokens_before: 900, tokens_after: 300, measured: { before, after } }, null);

    expect(shown).toMatchObject({ tokens_before: { tokens: 900, ...before }, tokens_after: { tokens: 300, ...after } });
    expect(shown).not.toHaveProperty("measured");
  });
});

describe("the receipt of a compaction", () => {
  test("sums up the chunks of a summary and the attempts that failed", async () => {
    const small = { ...SPEC, id: "small", context_window: 3_000, max_output: 300 };
    const life = new Life();
    life.models = { resolve: async (id) => (id === small.id ? small : { ...SPEC, context_window: 32_000 }) };
    await life.open({ preset: "oneclaw", trigger: { at: "before_turn" } });
    await talk(life, 5);
    await life.service.patch(CALLER, { model: small.id });
    await settle();
    await life.send("and now?");

    await summarise(life, 1_000, { type: "text", text: "Part 1." }, finish(usage(2_000, 10)));
    await summarise(life, 500, { type: "text", text: "Part 2, cut" }, finish(usage(1_900, 300), "length"));
    await summarise(life, 70, { type: "text", text: "Part 2." }, finish(null));
    let parts = 2;
    for (; life.call.request.purpose === "compaction"; parts++)
      await summarise(life, 100, { type: "text", text: "The rest." }, finish(usage(100, 1)));

    const rest = parts - 2;
    expect(rest).toBeGreaterThan(0);
    const whole = { input: 3_900 + 100 * rest, output: 310 + rest, cached: 16 + 8 * rest, reasoning: 0 };
    expect(listReceipts(life)).toMatchObject([{ model: "small", usage: whole, ms: 1_570 + 100 * rest, attempts: 2, mode: "transcript" }]);
  });

  test("says what was spent on the summary that a note takes the place of, and that no model wrote that", async () => {
    const life = await nearlyFull({ preset: "oneclaw", on_failure: "note" });
    await life.send(huge("question-6"));

    await summarise(life, 40, finish(usage(5_000, 3)));
    await summarise(life, 60, failure("unavailable"));

    expect(listReceipts(life)).toMatchObject([
      { model: SPEC.id, usage: usage(5_000, 3), ms: 100, attempts: 2, mode: null, rungs: [{ rung: "note" }] },
    ]);
    const changed = life.events().flatMap((event) => (event.type === "EpochChanged" ? event.ops : []));
    expect(changed).toMatchObject([{ op: "summarize", mode: null }]);
  });

  test("says what was spent on the summary that was trimmed for in the background", async () => {
    const life = new Life();
    await life.open();
    await talk(life, 6);
    await life.send("and?");
    await life.answer("so", 6_850);
    const compaction = life.runtime.state.compaction.requested?.id;
    if (!compaction) throw new Error("no compaction was asked for");
    for (const ms of [7, 9]) {
      const leased = await life.service.leaseCompaction(CALLER, compaction);
      if (!leased.ok || leased.value.kind !== "leased") throw new Error("not leased");
      const outcome = { ok: true, text: "", finish: "stop", model: SPEC.id, estimate: 1, usage: usage(4_000, 0), ms } as const;
      await life.service.recordCompaction(CALLER, { compaction, token: leased.value.token, outcome, part: 0, next: null });
    }

    expect(life.events().at(-1)).toMatchObject({ type: "EpochChanged", trigger: "fallback", ops: [{ op: "drop" }] });
    expect(listReceipts(life)).toMatchObject([
      { model: SPEC.id, usage: { input: 8_000, output: 0, cached: 16, reasoning: 0 }, ms: 16, attempts: 2, mode: null },
    ]);
  });
});
