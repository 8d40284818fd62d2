/** The committed change and its receipt. Tokens before and after come from the same estimator. */
import { describe, expect, test } from "vitest";
import { SHORTENED_TOKENS } from "../../src/context/budget";
import {
  buildChangeFromRungs,
  buildChangeFromSummary,
  buildManualChange,
  type EpochChangeInput,
  fitsAfter,
  isSmallerAfter,
  stateAfter,
} from "../../src/context/epoch-change";
import { planGuard } from "../../src/context/guard";
import { estimateParts } from "../../src/context/item-tokens";
import type { Rung } from "../../src/context/plan";
import { toPolicy } from "../../src/context/policy-choice";
import { longest } from "../../src/context/reductions";
import { planResults } from "../../src/context/results-rung";
import { IMAGE_TOKENS } from "../../src/context/tokens";
import { shortenToolResult } from "../../src/context/tool-results";
import type { Part } from "../../src/domain/message";
import { RECALL_TOOL_TOKENS, type SessionState } from "../../src/domain/state";
import { id, item, settings, sized, summaryPlan, viewing } from "../support/builders";
import { behind, buildSummary, chat, planUnder, rounds, toLimits, withoutRecall } from "./planning";

const prices = { input: 1, cache_write: 1, cached: 0.1, output: 5 };
const limits = { ...toLimits(16_000), prices };
const economy = { rent: 7, price: 900, read_cost_before: 1, read_cost_after: 1, cache_kept: 300 };
const usage = { input: 4_000, output: 120, cached: 0, reasoning: 0 };

/** A summary of 300 over 1 to 10, a system message, and messages of 100 each up to 20. */
const state = withoutRecall(behind([buildSummary(1, 1, 10)], [item(11, "system", { tokens: 50 }), ...chat(9, 100, 12)]));
const input = (change: Partial<EpochChangeInput> = {}): EpochChangeInput => ({
  state,
  limits,
  trigger: "threshold",
  newOverlay: () => id("ovl", 9),
  read: () => [],
  summarizer: { model: "test-model", usage, ms: 800, cost: 0.02, attempts: 2 },
  economy,
  now: 0,
  ...change,
});
const summary = { text: "They spoke. 😀", tokens: 40 };

describe("a summary", () => {
  const plan = summaryPlan(1, 17, {
    source: { from: 11, to: 17 },
    replaces: [id("ovl", 1)],
    keeps: [11],
    merge: true,
    generation: 1,
    mode: "same_prefix",
  });
  const drafted = buildChangeFromSummary({ summary, plan, overlay: id("ovl", 5), also: [] }, input());

  test("covers what was leased: items that leave, and those of the summaries it replaces", () => {
    expect(drafted).toMatchObject({
      base_epoch: 0,
      ops: [
        {
          op: "summarize",
          overlay: id("ovl", 5),
          from: 1,
          to: 17,
          keeps: [11],
          tokens: 40,
          bytes: 16,
          items: 6 + 10,
          generation: 1,
          mode: "same_prefix",
        },
      ],
    });
  });

  test("names the time of the oldest message that stays, and of the last one that goes when none does", () => {
    expect(drafted.ops[0]).toMatchObject({ boundary_timestamp: 18 });
    const all = buildChangeFromSummary(
      { summary, plan: { ...plan, range: { from: 1, to: 20 } }, overlay: id("ovl", 5), also: [] },
      input(),
    );
    expect(all.ops[0]).toMatchObject({ boundary_timestamp: 20 });
  });

  test("has a receipt of tokens, messages and cost before and after, and of the work", () => {
    const after = stateAfter(state, drafted.ops, "threshold");
    expect(drafted.receipt).toEqual({
      tokens_before: sized(state).next().tokens,
      tokens_after: sized(after).next().tokens,
      measured: { before: { source: "estimated", error_bound: 321 }, after: { source: "estimated", error_bound: 106 } },
      items_before: 10,
      items_after: 4,
      model: "test-model",
      usage,
      ms: 800,
      cost: 0.02,
      economy: { read_cost_before: 0.1 * 1_250, read_cost_after: 0.1 * 390, price: 900, cache_kept: 0 },
      rungs: [{ rung: "summarize", gain: 600 + 300 - 40, reason: "threshold" }],
      mode: "same_prefix",
      attempts: 2,
      breaker_open: false,
      dropped_items: 0,
    });
    expect([drafted.receipt.tokens_before, drafted.receipt.tokens_after]).toEqual([1_250, 390]);
  });

  test("has both of one measure: a view that was counted is not weighed against one that is padded", () => {
    const last = state.view.items.at(-1)?.position ?? 0;
    const anchor = { epoch: 0, holds_in: 0, model: "test-model", up_to: last, input: 2_000, output: 0, reply_to: last, fixed: 0, at: 1 };
    const before = { ...state, anchor: { ...anchor, epoch: state.view.epoch, holds_in: state.view.epoch } };
    const counted = buildChangeFromSummary({ summary, plan, overlay: id("ovl", 5), also: [] }, input({ state: before }));
    const share = stateAfter(state, counted.ops, "threshold").view.tokens / state.view.tokens;
    expect(counted.receipt).toMatchObject({ tokens_before: 2_000, tokens_after: 2_000 * share });
    // The remaining items were never counted separately, so they may be a quarter more or less.
    const after = { source: "mixed", error_bound: Math.ceil((2_000 * share) / 4) + 8 };
    expect(counted.receipt.measured).toEqual({ before: { source: "reported", error_bound: 0 }, after });
  });

  test.each([
    [599, true],
    [900, false],
  ])("of %i tokens in place of 900 makes the view smaller: %s, whatever else the change shortens", (tokens, smaller) => {
    const shorten: Rung = { rung: "shorten", items: [{ position: 20, tokens: 30 }], chars: 480, gain: 70, reason: "older results" };
    const { ops } = buildChangeFromSummary({ summary: { ...summary, tokens }, plan, overlay: id("ovl", 5), also: [shorten] }, input());
    expect(isSmallerAfter(sized(state), ops)).toBe(smaller);
  });

  test.each([
    [600 - RECALL_TOOL_TOKENS - 1, true],
    [600 - RECALL_TOOL_TOKENS, false],
    [599, false],
  ])("of %i tokens in place of 600 makes the first request that offers memory_query smaller: %s", (tokens, smaller) => {
    const first = viewing(chat(9, 100));
    const made = { summary: { ...summary, tokens }, plan: summaryPlan(1, 6), overlay: id("ovl", 5), also: [] };
    expect(isSmallerAfter(sized(first), buildChangeFromSummary(made, input({ state: first })).ops)).toBe(smaller);
  });

  test("is no use where what leaves weighs no more than the definition of memory_query", () => {
    const little = viewing(chat(6, 30));
    const drop = { op: "drop", overlay: id("ovl", 6), from: 1, to: 2, replaces: [], items: 2 } as const;
    expect([isSmallerAfter(sized(little), [drop]), isSmallerAfter(sized(withoutRecall(little)), [drop])]).toEqual([false, true]);
  });

  test("takes along what else the change rewrites", () => {
    const shorten: Rung = { rung: "shorten", items: [{ position: 20, tokens: 30 }], chars: 480, gain: 70, reason: "older results" };
    const both = buildChangeFromSummary({ summary, plan, overlay: id("ovl", 5), also: [shorten] }, input());
    expect(both.ops.map(({ op }) => op)).toEqual(["summarize", "shorten"]);
    expect(both.receipt.rungs.map(({ rung }) => rung)).toEqual(["summarize", "shorten"]);
    expect(stateAfter(state, both.ops, "threshold").view.tokens).toBe(40 + 50 + 200 + 30);
  });
});

test("what is beside a shortened text stays in the plan's weight of it", () => {
  const shown = viewing([item(1, "assistant", { tokens: 5_000, media: 2 }), item(2, "assistant", { tokens: 4_000, media: 3 })]);
  const [withTwo, ...others] = longest(sized(shown), shown.view.items, 9_000);
  expect(withTwo).toEqual({ position: 1, tokens: SHORTENED_TOKENS + 2 * IMAGE_TOKENS });
  // Shortened, item 2 would weigh more: three images and a thousand characters.
  expect(others).toEqual([]);
});

describe("rungs without a model", () => {
  test("weigh a shortened text as it will be shown, whatever was planned with", () => {
    const shorten: Rung = { rung: "shorten", items: [{ position: 20, tokens: 1_000 }], chars: 1_000, gain: 9_000, reason: "too large" };
    const output = "a word of it ".repeat(5_000);
    const parts: readonly Part[] = [{ type: "tool_result", call_id: "call_1", name: "read", output, is_error: false }];
    const weigh = (read: EpochChangeInput["read"]) => buildChangeFromRungs([shorten], input({ read })).ops;
    const shown = estimateParts([
      { type: "tool_result", call_id: "call_1", name: "read", output: shortenToolResult(output, 1_000), is_error: false },
    ]);
    expect(weigh(({ position }) => (position === 20 ? parts : []))).toEqual([
      { op: "shorten", items: [{ position: 20, tokens: shown }], chars: 1_000 },
    ]);
    expect(shown).toBeLessThan(500);
    const offered = buildChangeFromRungs([shorten], input({ state: { ...state, settings: settings() }, read: () => parts })).ops;
    const noticed = { ...parts[0], output: shortenToolResult(output, 1_000, "memory_query with from 20 and to 20 has all") } as Part;
    expect(offered).toMatchObject([{ items: [{ tokens: estimateParts([noticed]) }] }]);
    expect(weigh(() => [])).toEqual([{ op: "shorten", items: [{ position: 20, tokens: 1_000 }], chars: 1_000 }]);
  });

  test("say what left without a summary, and that no model ran", () => {
    const drop: Rung = { rung: "drop", from: 12, to: 15, replaces: [], items: 4, gain: 500, reason: "it would not fit" };
    const given = input({ summarizer: null, economy: null, trigger: "guard" });
    const compaction = { ...given.state.compaction, breaker: { appended: 0, needed: 1 } };
    const { ops, receipt } = buildChangeFromRungs([drop], { ...given, state: { ...given.state, compaction } });
    expect(ops).toEqual([{ op: "drop", overlay: id("ovl", 9), from: 12, to: 15, replaces: [], items: 4 }]);
    expect(receipt).toMatchObject({
      model: null,
      usage: null,
      ms: 0,
      mode: null,
      attempts: 0,
      breaker_open: true,
      dropped_items: 4,
    });
    expect([receipt.items_before, receipt.items_after]).toEqual([10, 6]);
  });

  test("say what it costs to read before and after, and to write again what the cache loses", () => {
    const clear: Rung = { rung: "clear_results", items: [{ position: 14, tokens: 20 }], gain: 80, reason: "old" };
    const anchor = { epoch: 0, holds_in: 0, model: "test-model", up_to: 20, input: 1_250, output: 0, reply_to: 20, fixed: 0, at: 1_000 };
    const dear = { ...limits, prices: { ...prices, cache_write: 1.25 } };
    const drafted = (now: number) =>
      buildChangeFromRungs(
        [clear],
        input({ state: { ...state, anchor }, limits: dear, summarizer: null, economy: null, trigger: "results", now }),
      );
    const { economy: warm } = drafted(2_000).receipt;
    // The summary, the system message and two messages stay.
    expect(warm).toMatchObject({ cache_kept: 300 + 50 + 200 });
    expect(warm?.read_cost_before).toBeCloseTo(0.1 * 1_250);
    expect(warm?.read_cost_after).toBeCloseTo(0.1 * (1_250 - 80));
    expect(warm?.price).toBeCloseTo(1.15 * (1_250 - 80 - 550));
    expect(drafted(1_000 + 300_000).receipt.economy).toEqual({ ...warm, price: 0 });
  });

  test("are one operation each, in their order", () => {
    const clear: Rung = { rung: "clear_results", items: [{ position: 13, tokens: 64 }], gain: 1, reason: "old" };
    const evict: Rung = { rung: "evict_media", items: [{ position: 12, tokens: 24 }], gain: 1, reason: "old" };
    expect(buildChangeFromRungs([clear, evict], input()).ops.map(({ op }) => op)).toEqual(["clear_results", "evict_media"]);
  });
});

describe("a change by hand", () => {
  const back = chat(10, 900);
  const reset = { op: "reset", to: 10, overlays: [], items: back, reduced: [] } as const;

  test("has no rungs, and costs all the same", () => {
    const { receipt } = buildManualChange([reset], input({ summarizer: null, economy: null, trigger: "manual" }));
    expect(receipt).toMatchObject({ rungs: [], mode: null, dropped_items: 0, items_after: 20 });
    expect(receipt.economy).toEqual({
      read_cost_before: 0.1 * receipt.tokens_before,
      read_cost_after: 0.1 * receipt.tokens_after,
      price: 0,
      cache_kept: 0,
    });
  });

  test("is known not to fit before it is done", () => {
    expect(fitsAfter(state, [reset], limits)).toEqual({ fits: true, tokens: 12_446 });
    expect(fitsAfter(state, [reset], { ...limits, window: 12_000 })).toMatchObject({ fits: false });
    expect(fitsAfter(state, [reset], { ...limits, window: null })).toMatchObject({ fits: true });
  });
});

describe("what a rung gains", () => {
  const taught = (tokens: SessionState): SessionState => ({ ...tokens, ratios: [{ model: "test-model", value: 1.6 }] });
  const talk = withoutRecall(taught(viewing(chat(40, 400))));
  const worked = withoutRecall(
    taught(viewing([item(1, "user", { tokens: 20 }), ...rounds(8, 1_500, 2), item(18, "user", { tokens: 20 })])),
  );

  test.each([
    ["a summary", () => [talk, planUnder("oneclaw", talk)] as const],
    ["a drop of the guard's", () => [talk, planGuard({ state: talk, limits: toLimits(16_000), policy: toPolicy("balanced") })] as const],
    ["clearing", () => [worked, planResults({ state: worked, limits: toLimits(64_000), policy: toPolicy("odincode") })] as const],
  ])("by %s is what the tokens before and after differ by, and what the plan expected, all in one unit", (_what, planned) => {
    const [from, plan] = planned();
    if (plan.kind !== "compact") throw new Error(plan.kind);
    const summarize = plan.rungs.find((rung) => rung.rung === "summarize");
    const covering = summarize && { ...summarize, mode: "transcript" as const };
    const text = { text: "They spoke.", tokens: summarize?.expected ?? 0 };
    const { receipt } = covering
      ? buildChangeFromSummary({ summary: text, plan: covering, overlay: id("ovl", 9), also: [] }, input({ state: from }))
      : buildChangeFromRungs(plan.rungs, input({ state: from }));
    const gain = receipt.rungs.reduce((sum, rung) => sum + rung.gain, 0);
    expect(gain).toBeGreaterThan(1_000);
    expect(Math.abs(receipt.tokens_before - receipt.tokens_after - gain)).toBeLessThanOrEqual(2);
    expect(Math.abs(plan.expected.tokens - receipt.tokens_after)).toBeLessThanOrEqual(2);
  });
});

test("what a draft does to a copy is not done to the session", () => {
  const before = structuredClone(state);
  const withTools: SessionState = behind([], rounds(3, 500, 1));
  buildChangeFromRungs(
    [{ rung: "clear_results", items: [{ position: 2, tokens: 64 }], gain: 1, reason: "old" }],
    input({ state: withTools }),
  );
  expect(state).toEqual(before);
  expect(withTools.view.reduced).toEqual([]);
});
