/** What is gentlest first, and nothing is paid for that cannot help (docs/summaries.md). */
import { describe, expect, test } from "vitest";
import { SHORTENED_TOKENS, toRequestLimit } from "../../src/context/budget";
import { toPolicy, toPolicyText } from "../../src/context/policy-choice";
import { clearedTokens } from "../../src/context/reductions";
import { estimateTokens, IMAGE_TOKENS } from "../../src/context/tokens";
import type { CompactionTrigger, Reduced } from "../../src/domain/compaction-events";
import type { ItemMeta } from "../../src/domain/message";
import type { SessionState } from "../../src/domain/state";
import { id, item, result, sized, viewing } from "../support/builders";
import {
  behind,
  buildSummary,
  carriedOut,
  chat,
  counted,
  listRungs,
  planUnder,
  RUNNING,
  rounds,
  toLimits,
  withoutRecall,
} from "./planning";

/** A tenth of the usable window of 30,000 stays. Clearing alone is enough when it frees a fifth of the request. */
const policy = toPolicyText({
  preset: "balanced",
  trigger: { rent_factor: null },
  keep: { ratio: 0.1, min_tokens: 0, cut: "fills" },
  results: { clear_gain_ratio: 0.2 },
});
const limits = toLimits(32_000, 4_000);
const plan = (state: SessionState, asked = {}) => planUnder(policy, withoutRecall(state), { limits, ...asked });
/** The size of a placeholder, and results of which clearing four frees a fifth of 28,000, or slightly less. */
const CLEARED = clearedTokens(result(3, 2));
const ENOUGH = 1_406 + CLEARED;
const TOO_SHORT = 1_386 + CLEARED;
const names = (state: SessionState, asked = {}) => listRungs(plan(state, asked)).map((rung) => rung.rung);

describe("clearing old results", () => {
  /** 7 results of `size` outside the tail, the newest three of which are never cleared, and text that makes 28,000 in all. */
  const holding = (size: number) => {
    const results = rounds(7, size, 2);
    const words = Math.floor((28_000 - 7 * (size + 10)) / 20);
    return counted(viewing([item(1, "user"), ...results, ...chat(20, words, 16)]), 28_000);
  };

  const ordinary = (position: number) => ({ position, tokens: CLEARED });

  test("is enough when it frees a fifth of the request, and no model is asked", () => {
    // Four results become placeholders: 5,600 of 28,000.
    expect(names(holding(ENOUGH))).toEqual(["clear_results"]);
    expect(listRungs(plan(holding(ENOUGH)))).toMatchObject([{ items: [3, 5, 7, 9].map(ordinary), gain: 4 * 1_406 }]);
  });

  test("leaves the id of the call in the request: a placeholder weighs it too", () => {
    const callId = `call_1${"abcdefgh ".repeat(200)}`;
    const state = holding(2_500);
    const named = (meta: ItemMeta): ItemMeta =>
      meta.tool && meta.position === 3 ? { ...meta, tool: { ...meta.tool, call_id: callId } } : meta;
    const [rung] = listRungs(plan({ ...state, view: { ...state.view, items: state.view.items.map(named) } }));
    expect(rung).toMatchObject({
      items: [{ position: 3, tokens: CLEARED + estimateTokens(callId) - estimateTokens("call_2") }, ...[5, 7, 9].map(ordinary)],
    });
  });

  test("is not when it frees less: then a summary is asked for, and nothing is cleared for it", () => {
    expect(names(holding(TOO_SHORT))).toEqual(["summarize"]);
  });

  test.each(["inline", "model_switch"] as const)(
    "is enough for a turn that does not fit too (%s), by the measure that must fit",
    (trigger) => {
      expect(names(holding(ENOUGH), { trigger })).toEqual(["clear_results"]);
      expect(names(holding(TOO_SHORT), { trigger })).toEqual(["summarize"]);
      expect(names(counted(holding(ENOUGH), 31_000), { trigger })).toContain("summarize");
      const byCharacters = toPolicyText({ ...JSON.parse(policy), estimator: "chars_4" });
      const dense = holding(ENOUGH);
      const state = { ...dense, anchor: null, view: { ...dense.view, rough: 10 } };
      expect(listRungs(planUnder(byCharacters, state, { limits, trigger })).map((rung) => rung.rung)).toContain("summarize");
    },
  );

  test.each(["overflow", "manual"] as const)("is never enough when the trigger is %s", (trigger) => {
    expect(names(holding(ENOUGH), { trigger })).toContain("summarize");
  });

  test("is all that a policy without summaries does for a turn that does not fit", () => {
    const text = toPolicyText({ ...JSON.parse(policy), summary: { form: "none" } });
    const rungs = listRungs(planUnder(text, counted(holding(TOO_SHORT), 31_000), { limits, trigger: "inline" }));
    expect(rungs.map((rung) => rung.rung)).toEqual(["clear_results"]);
  });

  test("leaves what is cleared already, and what a placeholder would not make smaller", () => {
    const reduced: readonly Reduced[] = [{ position: 3, tokens: 64, how: "cleared" }];
    const small = holding(60);
    const state = { ...small, view: { ...small.view, reduced } };
    expect(names(state)).not.toContain("clear_results");
  });

  test("names old media instead of showing it", () => {
    const picture = item(1, "user", { tokens: 4 * IMAGE_TOKENS + 20, media: 4 });
    const state = counted(viewing([picture, ...chat(20, 1_080, 2)]), 28_000);
    expect(listRungs(plan(state))).toMatchObject([{ rung: "evict_media", items: [{ position: 1, tokens: 4 * 24 + 20 }] }]);
  });
});

describe("what else is rewritten while the prefix is rewritten anyway", () => {
  /** 14 long results in the tail. All but the newest ten are shortened. */
  const roomy = toPolicyText({ preset: "retain", trigger: { rent_factor: null }, keep: { ratio: 0.5, max_tokens: null, min_tokens: 0 } });
  const long = (position: number) => result(position, position - 1, { tokens: 900, bytes: 3_600 });
  const tail = rounds(14, 900, 102).map((meta) => (meta.kind === "tool_result" ? long(meta.position) : meta));
  const state = counted(viewing([...chat(100, 150), item(101, "user"), ...tail]), 28_000);

  test("older results of the tail show both ends, so many characters each, and the newest ten stay", () => {
    const rungs = listRungs(planUnder(roomy, state, { limits }));
    // 480 characters and a notice of 60, of 3,600 bytes at 900 tokens, with a margin of a fifth, and the hint how to
    // read the rest, with the result's id.
    const tokens = Math.ceil(900 * (540 / 3_600) * 1.2) + 36;
    expect(rungs).toMatchObject([
      { rung: "summarize" },
      { rung: "shorten", chars: 480, items: [103, 105, 107, 109].map((position) => ({ position, tokens })), gain: 4 * (900 - tokens) },
    ]);
  });

  test("a result that is shown by its ends already is left so", () => {
    const reduced: readonly Reduced[] = [{ position: 103, tokens: 162, how: "shortened", chars: 480 }];
    const rungs = listRungs(planUnder(roomy, { ...state, view: { ...state.view, reduced } }, { limits }));
    expect(rungs[1]).toMatchObject({ items: [{ position: 105 }, { position: 107 }, { position: 109 }] });
  });

  test("that is done without a summary too, with the breaker open, where it is enough", () => {
    const full = counted(state, 26_500);
    const broken = { ...full, compaction: { ...full.compaction, breaker: { appended: 0, needed: 1 } } };
    const soon = toPolicyText({ ...JSON.parse(roomy), trigger: { rent_factor: null, usable_ratio: 0.85 } });
    expect(listRungs(planUnder(soon, broken, { limits }))).toMatchObject([{ rung: "shorten", items: { length: 4 } }]);
  });

  test("not under a policy that shows results in full", () => {
    const text = toPolicyText({ ...JSON.parse(roomy), results: { preview_beyond: null } });
    expect(listRungs(planUnder(text, state, { limits }))).toMatchObject([{ rung: "summarize" }]);
  });
});

describe("when the tail alone is too large", () => {
  test("the kept budget is halved for this epoch", () => {
    const greedy = toPolicyText({
      preset: "balanced",
      trigger: { rent_factor: null },
      keep: { ratio: 0.85, max_tokens: null, min_tokens: 0 },
    });
    const state = counted(viewing(chat(60, 500)), 31_000);
    const rungs = listRungs(planUnder(greedy, state, { limits }));
    // 25,500 tokens would stay, of which half do.
    const kept = 30_000 - (rungs[0]?.rung === "summarize" ? rungs[0].tokens : 0);
    expect(kept).toBeGreaterThan(12_000);
    expect(kept).toBeLessThanOrEqual(13_500);
  });

  test.each([
    ["assistant", ["summarize", "shorten"]],
    ["user", ["summarize"]],
  ] as const)("then a long last word of the %s is met by %j: what people asked stays as it is", (kind, expected) => {
    const state = counted(viewing([...chat(10, 200), item(11, "user", { tokens: 500 }), item(12, kind, { tokens: 26_000 })]), 29_000);
    expect(names(state)).toEqual(expected);
    if (kind === "assistant")
      expect(listRungs(plan(state)).at(-1)).toMatchObject({ chars: 1_000, items: [{ position: 12, tokens: SHORTENED_TOKENS }] });
  });
});

describe("what cannot help is not paid for", () => {
  test.each(["inline", "overflow", "model_switch"] as const)(
    "a floor above the limit is refused first (%s), with the biggest of it",
    (trigger) => {
      const state = { ...viewing([...chat(10, 900), item(11, "user", { tokens: 26_000 })]), turn: RUNNING };
      expect(plan(state, { trigger })).toMatchObject({
        kind: "cannot_fit",
        fit: {
          limit: 30_000,
          floor: expect.any(Number),
          biggest: expect.arrayContaining([{ what: "user at position 11", tokens: 32_500 }]),
        },
      });
    },
  );

  test("an open breaker leaves only what needs no model: the oldest go, and only above the bound", () => {
    const broken = (input: number) => {
      const state = counted(viewing(chat(60, 500)), input);
      return { ...state, compaction: { ...state.compaction, breaker: { appended: 0, needed: 1 }, rent: 10 ** 9 } };
    };
    expect(planUnder("balanced", broken(31_000), { limits })).toMatchObject({
      kind: "compact",
      breaker_open: true,
      rungs: [{ rung: "drop" }],
    });
    expect(planUnder("balanced", broken(20_000), { limits })).toMatchObject({ kind: "none" });
  });

  test("a share of nothing is not enough: where there is nothing to clear, a summary is planned", () => {
    const { results, ...others } = JSON.parse(policy);
    const plan = planUnder(
      toPolicyText({ ...others, results: { ...results, clear_gain_ratio: 0 } }),
      counted(viewing(chat(80, 400)), 31_000),
      {
        limits,
      },
    );
    expect(listRungs(plan)[0]).toMatchObject({ rung: "summarize" });
  });

  describe("an open breaker lets the rungs without a model run first", () => {
    /** Clearing alone never suffices here. */
    const { results, ...others } = JSON.parse(policy);
    const choice = { ...others, results: { ...results, clear_gain_ratio: 1 } };
    const run = (input: number, size: number, { change = {}, ...asked }: { change?: object; trigger?: CompactionTrigger } = {}) => {
      const whole = viewing([item(1, "user"), ...rounds(7, size, 2), ...chat(20, Math.floor((input - 7 * (size + 10)) / 20), 16)]);
      const state = counted(whole, input);
      const broken = { ...withoutRecall(state), compaction: { ...state.compaction, breaker: { appended: 0, needed: 1 } } };
      return planUnder(toPolicyText({ ...choice, ...change }), broken, { limits, ...asked });
    };
    const rungs = (...of: Parameters<typeof run>) => listRungs(run(...of)).map((rung) => rung.rung);
    const boundAt = (usable_ratio: number) => ({ change: { trigger: { ...choice.trigger, usable_ratio } } });

    test("old results are cleared where that leaves room, and nothing is dropped", () => {
      // Four results: 28,000 less 5,624 are 22,376, of 24,000.
      expect(rungs(28_000, ENOUGH)).toEqual(["clear_results"]);
      expect(rungs(28_000, ENOUGH, { trigger: "inline" })).toEqual(["clear_results"]);
      expect(run(28_000, ENOUGH)).toMatchObject({ breaker_open: true, expected: { tokens: 22_376 } });
    });

    test("the oldest go where that is not enough: for the request, for the policy's bound, or to be worth a change", () => {
      expect(rungs(28_000, 1_000)).toEqual(["drop"]);
      expect(rungs(28_000, ENOUGH, boundAt(0.7))).toEqual(["drop"]);
      expect(rungs(28_000, ENOUGH, { ...boundAt(0.7), trigger: "inline" })).toEqual(["clear_results"]);
      expect(rungs(15_300, 200, boundAt(0.5))).toEqual(["drop"]);
    });

    test("not where a provider refused what fitted by our measure, nor where a failure is to change nothing", () => {
      expect(rungs(28_000, ENOUGH, { trigger: "overflow" })).toEqual(["drop"]);
      expect(run(28_000, ENOUGH, { change: { on_failure: "none" } })).toMatchObject({ kind: "none" });
    });
  });

  test("a revert suspends the soft trigger until the view has grown, and nothing that must be done", () => {
    const state = counted(viewing(chat(60, 500)), 29_000);
    const quiet = { ...state, compaction: { ...state.compaction, quiet_until: state.view.tokens + 1 } };
    expect(plan(quiet)).toMatchObject({ kind: "none", reason: "suspended" });
    expect(plan(quiet, { trigger: "inline" }).kind).toBe("compact");
    expect(plan({ ...quiet, compaction: { ...quiet.compaction, quiet_until: state.view.tokens } }).kind).toBe("compact");
  });
});

describe("a plan", () => {
  const state = counted(withoutRecall(behind([buildSummary(1, 1, 20, 500)], chat(60, 500, 21))), 31_000);

  test("says what every rung gains and why, and what it costs to read before and after", () => {
    const made = plan(state);
    if (made.kind !== "compact") throw new Error("nothing is planned");
    const gain = made.rungs.reduce((sum, rung) => sum + rung.gain, 0);
    expect(made.rungs.every((rung) => rung.reason.length > 0)).toBe(true);
    expect(made.expected.tokens).toBe(made.next.tokens - gain);
    expect(made.economy?.read_cost_before).toBeCloseTo(0.1 * 31_000);
    expect(made.economy?.read_cost_after).toBeCloseTo(0.1 * (31_000 - gain));
    expect(made.economy?.cache_kept).toBe(500);
  });

  test("carried out, brings the request under its bound, and the same plan is not due again", () => {
    const after = carriedOut(state, plan(state), { limits });
    expect(sized(after).next().tokens).toBeLessThan((toRequestLimit(limits) ?? 0) * toPolicy(policy).guard_target_ratio);
    expect(plan(after)).toMatchObject({ kind: "none" });
    expect(after.view.overlays.map((overlay) => overlay.id)).toContain(id("ovl", 50));
  });
});
