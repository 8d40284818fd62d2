/** `memory_query` is offered once something leaves the view, so every planned change includes its tokens. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toRequestLimit } from "../../src/context/budget";
import { toCompactionPrice, tokensAfter, UNKNOWN_PRICES } from "../../src/context/economy";
import { stateAfter } from "../../src/context/epoch-change";
import { planGuard } from "../../src/context/guard";
import { keptPrefix } from "../../src/context/kept-prefix";
import { toPolicy } from "../../src/context/policy-choice";
import { propose } from "../../src/context/proposal";
import { RECALL_TOOL } from "../../src/context/recall-tool";
import { planResults } from "../../src/context/results-rung";
import { buildResetOp } from "../../src/context/revert-reset";
import { PADDING } from "../../src/context/sizing";
import { estimateTokens } from "../../src/context/tokens";
import type { EpochOp } from "../../src/domain/compaction-events";
import { fixedTokens, isRecallOffered, RECALL_TOOL_TOKENS } from "../../src/domain/state";
import { id, item, settings, sized, viewing } from "../support/builders";
import { behind, buildSummary, carriedOut, chat, counted, planUnder, rounds, toLimits, withoutRecall } from "./planning";

const guard = (state: ReturnType<typeof viewing>, window: number) =>
  planGuard({ state, limits: toLimits(window), policy: toPolicy("balanced") });

describe("the definition of memory_query", () => {
  test("says what the model may write as a session_id, for which a placeholder asks", () => {
    expect(RECALL_TOOL.parameters.properties).toMatchObject({ session_id: { type: "string", description: 'this session: "current"' } });
  });

  test("weighs exactly what it is counted for", () => {
    const { runs: _, ...sent } = RECALL_TOOL;
    expect(estimateTokens(JSON.stringify(sent))).toBe(RECALL_TOOL_TOKENS);
  });

  test("weighs in the request as soon as something is out of the view or shown as less, and not before", () => {
    const whole = viewing(chat(4, 100));
    const cut = behind([buildSummary(1, 1, 10)], chat(4, 100, 11));
    expect([fixedTokens(whole), fixedTokens(cut), fixedTokens(withoutRecall(cut))]).toEqual([0, RECALL_TOOL_TOKENS, 0]);
  });
});

describe("what the guard leaves fits with it", () => {
  test("whatever the conversation, if it can be made to fit at all", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(weights, fc.integer({ min: 2_000, max: 8_000 }), (tokens, window) => {
        const state = viewing(tokens.map((weight, index) => item(index + 1, index % 2 === 0 ? "user" : "assistant", { tokens: weight })));
        const plan = guard(state, window);
        if (plan.kind !== "compact") return;
        const after = sized(carriedOut(state, plan, { limits: toLimits(window) })).next();
        expect(after.tokens).toBeLessThanOrEqual(toRequestLimit(toLimits(window)) ?? 0);
      }),
    );
  });

  test("a floor that fits only without it is refused, and nothing is paid for", () => {
    // 2,000 less a reserve of 125 leave 1,450 raw tokens, padded 1,813. With the tool they are 1,973.
    const state = viewing([item(1, "user", { tokens: 300 }), item(2, "assistant", { tokens: 150 }), item(3, "user", { tokens: 1_450 })]);
    expect(guard(state, 2_000)).toMatchObject({ kind: "cannot_fit", fit: { floor: Math.ceil((1_450 + RECALL_TOOL_TOKENS) * PADDING) } });
    expect(guard(withoutRecall(state), 2_000).kind).toBe("compact");
  });

  test("what frees less than it weighs is left alone", () => {
    // Only the count says that it does not fit, so the provider is called and counts again.
    const state = counted(viewing([item(1, "user", { tokens: 100 }), item(2, "user", { tokens: 900 })]), 5_000);
    expect(guard(state, 4_000)).toMatchObject({ kind: "none", reason: "nothing_older" });
    expect(guard(withoutRecall(state), 4_000).kind).toBe("compact");
  });
});

describe("a plan counts it once: with the first change", () => {
  const first = viewing([...rounds(30, 400, 1), ...chat(2, 400, 61)]);
  const later = behind([buildSummary(1, 1, 4)], first.view.items.slice(4));
  const input = (state: typeof first) =>
    ({ state, limits: toLimits(16_000), policy: toPolicy("balanced"), trigger: "threshold", now: 0 }) as const;

  test("in what stays, in what clearing leaves, and in what the provider's cache must write again", () => {
    const sizes = propose(input(first))?.sizes;
    if (!sizes) throw new Error("nothing can leave");
    expect(sizes.offer).toBe(RECALL_TOOL_TOKENS);
    expect(propose(input(later))?.sizes.offer).toBe(0);
    expect(tokensAfter(sizes) - tokensAfter({ ...sizes, offer: 0 })).toBe(RECALL_TOOL_TOKENS);
    const by = { prices: UNKNOWN_PRICES, warm: true, samePrefix: false, room: 10 ** 6, instruction: 400 };
    const price = (offer: number) => toCompactionPrice({ ...sizes, fixed: 500, offer }, by).price;
    expect(price(RECALL_TOOL_TOKENS) - price(0)).toBeCloseTo(0.9 * (500 + RECALL_TOOL_TOKENS));
    const cleared = planResults({ state: first, limits: toLimits(16_000), policy: toPolicy("odincode") });
    if (cleared.kind !== "compact") throw new Error("nothing is cleared");
    const gain = cleared.rungs.reduce((sum, rung) => sum + rung.gain, 0);
    expect(cleared.expected.tokens).toBe(cleared.next.tokens - gain + RECALL_TOOL_TOKENS);
  });

  test("and is none where it would weigh more than what goes", () => {
    const state = counted(viewing(chat(20, 4)), 15_000);
    expect(planUnder("balanced", state)).toMatchObject({ kind: "none" });
    expect(planUnder("balanced", withoutRecall(state), { trigger: "manual" }).kind).not.toBe("cannot_fit");
  });
});

describe("the provider's cache", () => {
  const drop: EpochOp = { op: "drop", overlay: id("ovl", 9), from: 3, to: 4, replaces: [], items: 2 };
  const kept = (state: typeof first) => keptPrefix(sized(state), stateAfter(state, [drop], "guard"));
  const first = viewing(chat(10, 100), { settings: settings({ policy: "balanced" }) });

  test("holds nothing of a request that is the first to offer it, or the first not to: tools stand at its head", () => {
    const back = stateAfter(stateAfter(first, [drop], "guard"), [], "guard");
    const revert: EpochOp = { op: "revert", compaction: id("cmp", 1), to: 10, overlays: [], items: first.view.items, reduced: [] };
    expect(kept(first)).toBe(0);
    expect(keptPrefix(sized(back), stateAfter(back, [revert], "manual"))).toBe(0);
  });

  test("holds the head of one that offered it before", () => {
    const trimmed = stateAfter(first, [drop], "guard");
    const next: EpochOp = { ...drop, overlay: id("ovl", 10), from: 7, to: 8 };
    expect(keptPrefix(sized(trimmed), stateAfter(trimmed, [next], "guard"))).toBe(RECALL_TOOL_TOKENS);
  });
});

describe("a reset that brings everything back", () => {
  test("has the room that memory_query leaves", () => {
    const items = chat(10, 100);
    const state = behind([buildSummary(1, 1, 8, 300)], items.slice(8));
    // The guard's target leaves 1,000 raw tokens, which the messages fill.
    const limits = toLimits(Math.ceil((1_000 * PADDING) / 0.75 / (15 / 16)) + 1);
    const reset = () =>
      buildResetOp({ state, limits, policy: toPolicy("balanced"), history: items.toReversed(), newOverlay: () => id("ovl", 9) });
    expect(reset()).toMatchObject({ overlays: [], items: { length: 8 } });
    const after = stateAfter(state, [reset()], "manual");
    expect([isRecallOffered(after), sized(after).raw]).toEqual([false, 1_000]);
  });
});
