import { describe, expect, test } from "vitest";
import type { Rung } from "../../src/context/plan";
import { buildPlanEconomy } from "../../src/context/plan-economy";
import { toPolicy } from "../../src/context/policy-choice";
import { type Proposal, toSummaryCap } from "../../src/context/proposal";
import { item, plainModel, viewing } from "../support/builders";

const limits = { model: plainModel(), window: 16_000, maxOutput: 4_096, prices: { input: 1, cache_write: 1.25, cached: 0.1, output: 5 } };
const state = viewing([1, 2, 3, 4].map((position) => item(position, "tool_result", { tokens: 1_000 })));
const sizes = { fixed: 500, chain: 300, source: 3_000, standing: 0, tail: 1_000, beside: 0, summary: 450, merge: false, offer: 0 };
const proposal = { sizes, priced: { mode: "transcript", price: 7_000 }, merge: false, warm: true } as const satisfies Partial<Proposal>;
const whole: Proposal = { older: [], olderItems: [], tail: [], summaries: [], reread: 0, ...proposal };
const input = { state, limits, policy: toPolicy("balanced"), trigger: "threshold", now: 0 } as const;
const next = { tokens: 4_800, source: "reported", error_bound: 0 } as const;
const clear: Rung = { rung: "clear_results", items: [{ position: 2, tokens: 64 }], gain: 936, reason: "" };

describe("what a plan costs", () => {
  test("clearing a result pays for writing everything after it again, and keeps the cache before it", () => {
    const economy = buildPlanEconomy(input, { proposal: whole, next, rungs: [clear], gain: 936 });
    expect(economy).toMatchObject({ cache_kept: 500 + 300 + 1_000 });
    expect(economy.price).toBeCloseTo(1.15 * (4_800 - 936 - 1_800));
    expect(economy.read_cost_before).toBeCloseTo(480);
    expect(economy.read_cost_after).toBeCloseTo(386.4);
  });

  test("dropping and summarising keep the chain, or nothing if the chain is before the system prompt", () => {
    const drop: Rung = { rung: "drop", from: 3, to: 3, replaces: [], items: 1, gain: 1_000, reason: "" };
    const keptBy = (policy: string): number =>
      buildPlanEconomy({ ...input, policy: toPolicy(policy) }, { proposal: whole, next, rungs: [drop], gain: 1_000 }).cache_kept;
    expect([keptBy("balanced"), keptBy("oneclaw")]).toEqual([500 + 300, 0]);
  });

  test("with a cold cache there is nothing to lose", () => {
    expect(buildPlanEconomy(input, { proposal: { ...whole, warm: false }, next, rungs: [clear], gain: 936 }).price).toBe(0);
  });
});

describe("the length of a summary", () => {
  const cap = (name: string, window: number | null): number => toSummaryCap({ window, maxOutput: 4_096 }, toPolicy(name));

  test("is at most the policy's cap, and at most the chain's share of what fits", () => {
    expect(cap("balanced", 128_000)).toBe(2_000);
    expect(cap("balanced", 16_000)).toBe(1_500);
    expect(cap("economy", 16_000)).toBe(750);
  });

  test("is never pressed below 512 by the share, only by a quarter of the window", () => {
    expect(cap("economy", 8_000)).toBe(512);
    expect(cap("economy", 1_024)).toBe(256);
  });

  test("knows no share where there is no chain, or no window", () => {
    expect(cap("oneclaw", 16_000)).toBe(2_048);
    expect(cap("economy", null)).toBe(1_000);
  });
});
