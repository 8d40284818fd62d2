/** Edge cases, and hostile conversations: each has a defined plan. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toRequestLimit } from "../../src/context/budget";
import { planGuard } from "../../src/context/guard";
import { estimateParts, estimateRough } from "../../src/context/item-tokens";
import { toPolicy } from "../../src/context/policy-choice";
import { POLICY_NAMES } from "../../src/context/presets";
import { truncateToolResult } from "../../src/context/tool-results";
import { COMPACTION_TRIGGERS } from "../../src/domain/compaction-events";
import { id, item, plainModel, play, result, sized, viewing } from "../support/builders";
import { drawn } from "../support/effort";
import { behind, buildSummary, carriedOut, chat, counted, findSummarizeRung, listRungs, planUnder, toLimits } from "./planning";

const guard = (state: Parameters<typeof carriedOut>[0], window = 16_000) =>
  planGuard({ state, limits: toLimits(window), policy: toPolicy("oneclaw") });

describe.each(POLICY_NAMES)("under %s", (name) => {
  test.each(COMPACTION_TRIGGERS)("a session without messages has nothing to compact (%s)", (trigger) => {
    expect(planUnder(name, viewing([]), { trigger })).toMatchObject({ kind: "none" });
  });

  test.each(COMPACTION_TRIGGERS)("the only message stays, whatever it weighs (%s)", (trigger) => {
    for (const tokens of [1, 14_000]) expect(listRungs(planUnder(name, viewing([item(1, "user", { tokens })]), { trigger }))).toEqual([]);
  });

  test("a view that fits is never planned larger than it is, and what goes is never the newest", () => {
    const shape = fc.array(fc.tuple(fc.constantFrom("user" as const, "assistant" as const), fc.integer({ min: 0, max: 3_000 })), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(shape, fc.constantFrom(...COMPACTION_TRIGGERS), (given, trigger) => {
        const state = viewing(given.map(([kind, tokens], index) => item(index + 1, kind, { tokens })));
        const plan = planUnder(name, state, { trigger });
        if (plan.kind !== "compact") return;
        expect(plan.expected.tokens).toBeLessThanOrEqual(plan.next.tokens);
        expect(carriedOut(state, plan).view.items.at(-1)).toEqual(state.view.items.at(-1));
      }),
      { numRuns: drawn(60) },
    );
  });
});

describe("a session", () => {
  test("of questions only is compacted like any other", () => {
    const items = Array.from({ length: 40 }, (_, n) => item(n + 1, "user", { tokens: 400 }));
    expect(findSummarizeRung(planUnder("oneclaw", counted(viewing(items), 14_000)))).toMatchObject({ range: { from: 1, to: 30 } });
  });

  test("whose messages are all protected has nothing to do, though it is over the threshold", () => {
    const state = counted(viewing(chat(4, 900)), 15_000);
    expect(planUnder("oneclaw", state)).toMatchObject({ kind: "none", reason: "nothing_older" });
  });

  test("exactly at the limit of a request is left alone, and one token above it is not", () => {
    const limit = toRequestLimit(toLimits(16_000)) ?? 0;
    expect([guard(counted(viewing(chat(40, 370)), limit)).kind, guard(counted(viewing(chat(40, 370)), limit + 1)).kind]).toEqual([
      "none",
      "compact",
    ]);
  });

  test("that is already being compacted is not compacted twice", () => {
    const asked = (n: number) =>
      ({ type: "RequestCompaction", at: n, compaction: id("cmp", n), trigger: "threshold", options: null }) as const;
    expect(play([asked(1), asked(2)], viewing(chat(4, 10))).events).toHaveLength(1);
  });

  test("that was just compacted is under the threshold, and has nothing to do", () => {
    const state = counted(viewing(chat(40, 400)), 16_000);
    expect(planUnder("oneclaw", carriedOut(state, planUnder("oneclaw", state)))).toMatchObject({ kind: "none", reason: "below_threshold" });
  });

  test("with a summary that was compacted again has one summary over both ranges", () => {
    const state = counted(behind([buildSummary(1, 1, 10)], chat(40, 400, 11)), 15_000);
    const after = carriedOut(state, planUnder("oneclaw", state));
    expect(after.view.overlays).toMatchObject([{ kind: "summary", from: 1, to: 40, items: 40 }]);
    expect(after.view.items[0]).toMatchObject({ position: 41 });
  });

  test("that goes on with a smaller model is compacted for its window, by an estimate: the old model's count does not hold", () => {
    const state = counted(viewing(chat(40, 400)), 16_500);
    const limits = { ...toLimits(8_000), model: plainModel("smaller-model") };
    expect(sized(state, limits.model).next().source).toBe("estimated");
    const plan = planUnder("oneclaw", state, { limits, trigger: "model_switch" });
    expect(findSummarizeRung(plan).range.to).toBe(34);
    expect(sized(carriedOut(state, plan, { limits }), limits.model).next().tokens).toBeLessThanOrEqual(toRequestLimit(limits) ?? 0);
  });

  test("of only results has nothing that may leave, and says what weighs most when it does not fit", () => {
    const state = viewing([result(1, 1, { tokens: 900 }), result(2, 2, { tokens: 900 })]);
    expect(guard(state).kind).toBe("none");
    expect(listRungs(guard(viewing([result(1, 1, { tokens: 9_000 }), result(2, 2, { tokens: 9_000 })])))).toMatchObject([
      { rung: "shorten" },
    ]);
    expect(planUnder("oneclaw", state, { trigger: "manual" })).toMatchObject({ kind: "none" });
  });

  test("of 500 empty messages weighs little and is cut like any other", () => {
    const tokens = estimateParts([{ type: "text", text: "" }]);
    const state = viewing(Array.from({ length: 500 }, (_, n) => item(n + 1, "user", { tokens, rough: 0, bytes: 0 })));
    expect(planUnder("oneclaw", state)).toMatchObject({ kind: "none", reason: "below_threshold" });
    expect(findSummarizeRung(planUnder("opal", state, { trigger: "inline" })).range.to).toBe(498);
  });

  test("whose floor is above the window is told so before anything is paid for, with the numbers", () => {
    const heavy = { body: id("bod", 1), bytes: 90_000, tokens: 20_000 };
    const base = viewing(chat(10, 200));
    const state = { ...base, settings: { ...base.settings, system: heavy } };
    const report = { kind: "cannot_fit", fit: { limit: 15_000, biggest: [{ what: "system prompt and tools", tokens: 25_000 }, {}, {}] } };
    expect(guard(state)).toMatchObject(report);
    for (const trigger of ["inline", "overflow", "model_switch"] as const)
      expect(planUnder("balanced", state, { trigger })).toMatchObject(report);
  });
});

describe("text of several bytes a character", () => {
  test.each([
    ["emoji", "😀".repeat(20_000)],
    ["a family of joined emoji", "👨‍👩‍👧‍👦".repeat(5_000)],
    ["Han", "长".repeat(40_000)],
    ["right to left", "שלום \u202e עולם ".repeat(4_000)],
    ["zero-width characters", "a\u200b\u200d\ufeff".repeat(10_000)],
  ])("is cut at 30,000 UTF-16 units and never inside one: %s", (_what, output) => {
    const stored = truncateToolResult(output);
    expect(stored.isWellFormed()).toBe(true);
    expect(stored.endsWith(`\n\n[... content truncated, showing first 30000 of ${output.length} characters ...]`)).toBe(true);
  });

  test("weighs by UTF-16 units under the estimator chars_4 and by script under by_script", () => {
    const parts = [{ type: "text" as const, text: "长".repeat(400) }];
    expect(estimateRough(parts)).toBe(100);
    expect(estimateParts(parts)).toBeGreaterThan(300);
  });

  test("a message of 900 KB is weighed, and leaves the view like any other", () => {
    const tokens = estimateParts([{ type: "text", text: "word ".repeat(184_320) }]);
    const state = viewing([item(1, "user", { tokens }), item(2, "assistant"), item(3, "user")]);
    expect(listRungs(guard(state))).toMatchObject([{ rung: "drop", from: 1, to: 1 }]);
    expect(guard(viewing([item(1, "user", { tokens })]))).toMatchObject({ kind: "cannot_fit" });
  });
});
