/** The estimator: the size of the next request, the source of the figure, and its error. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assumeWindow, toReplyReserve, toRequestLimit } from "../../src/context/budget";
import { countMedia, estimateParts } from "../../src/context/item-tokens";
import { toPolicy } from "../../src/context/policy-choice";
import { PADDING, toUpperBound } from "../../src/context/sizing";
import { estimateTokens, IMAGE_TOKENS, MESSAGE_OVERHEAD_TOKENS } from "../../src/context/tokens";
import type { Reduced } from "../../src/domain/compaction-events";
import { evolve } from "../../src/domain/evolve";
import { learnFrom, learnRatio, RATIO_BOUNDS } from "../../src/domain/learned-ratio";
import type { ItemMeta, Part, TextRef } from "../../src/domain/message";
import { fixedTokens, RECALL_TOOL_TOKENS, type SessionState } from "../../src/domain/state";
import { NO_RESULT_TOKENS, toWeighedView } from "../../src/domain/view";
import { call, id, item, plainModel, result, sized, viewing } from "../support/builders";
import { behind, buildSummary, carriedOut, chat, planUnder, toLimits } from "./planning";

const MODEL = "test-model";
const text = (tokens: number, n = 1): TextRef => ({ body: id("bod", n), bytes: tokens, tokens });

/** The provider counted 100 tokens up to position 1, and the reply up to `replyTo`. */
const counted = (items: readonly ItemMeta[], replyTo: number, change: Partial<SessionState> = {}) =>
  viewing(items, {
    anchor: { epoch: 0, holds_in: 0, model: MODEL, up_to: 1, input: 100, output: 20, reply_to: replyTo, fixed: 0, at: 1 },
    ...change,
  });
/** The error of a figure in addition to a quarter of it. */
const LITTLE = 8;
const taught = (value: number) => ({ ratios: [{ model: MODEL, value }] });

describe("the measure of the next request", () => {
  test("is what the provider counted while nothing was added, without an error", () => {
    const state = counted([item(1, "user"), item(2, "assistant")], 2);
    expect(sized(state).next()).toEqual({ tokens: 120, source: "reported", error_bound: 0 });
  });

  test("adds what came since and the reply's frame, scaled by the learned ratio, and may be off by a quarter of that and a little", () => {
    const state = counted([item(1, "user"), item(2, "assistant"), item(3, "user", { tokens: 400 })], 2, taught(1.5));
    const since = (400 + MESSAGE_OVERHEAD_TOKENS) * 1.5;
    expect(sized(state).next()).toEqual({ tokens: 120 + since, source: "mixed", error_bound: Math.ceil(since / 4) + LITTLE });
  });

  test("is decided by at its most", () => {
    const state = counted([item(1, "user"), item(2, "assistant"), item(3, "user", { tokens: 400 })], 2, taught(1.5));
    const { tokens, error_bound } = sized(state).next();
    expect(sized(state).planned()).toBe(tokens + error_bound);
  });

  test("has what a reply's count leaves out: what frames its message, and the ids of its calls", () => {
    const ref = (n: number) => ({ execution: id("exe", n), call_id: `call_${"0aB9".repeat(8)}${n}`, name: "look_up" });
    const round = [item(1, "user"), item(2, "assistant"), call(3, 1, { tool: ref(1) }), call(4, 2, { tool: ref(2) })];
    const results = [result(5, 1, { tokens: 30, tool: ref(1) }), result(6, 2, { tokens: 30, tool: ref(2) })];
    const ids = estimateTokens(ref(1).call_id) + estimateTokens(ref(2).call_id);
    expect(ids).toBeGreaterThan(20);
    expect(sized(counted([...round, ...results], 4)).next().tokens).toBe(120 + 60 + 3 * MESSAGE_OVERHEAD_TOKENS + ids);
  });

  test("without a count is estimated as a whole: system prompt, tools, pins, summaries and items", () => {
    const state = behind([buildSummary(1, 1, 10, 300)], chat(4, 100, 11), { pins: [text(30), text(20, 2)] });
    const settings = { ...state.settings, system: text(100, 3), tools: text(150, 4) };
    expect(fixedTokens({ ...state, settings })).toBe(300 + RECALL_TOOL_TOKENS);
    expect(sized({ ...state, settings }).next()).toEqual({ tokens: 1_132, source: "estimated", error_bound: 283 + LITTLE });
  });

  test("counts the placeholders for results of calls that were never answered", () => {
    const answered = counted([item(1, "user"), call(2, 1), result(3, 1, { tokens: 0 }), item(4, "user", { tokens: 0 })], 2);
    const abandoned = counted([item(1, "user"), call(2, 1), item(4, "user", { tokens: 0 })], 2);
    expect(sized(answered).next().tokens).toBe(120);
    expect(sized(abandoned).next().tokens).toBeGreaterThanOrEqual(120 + 20);
  });

  test("counts them without a count of the provider as well", () => {
    const abandoned = viewing(Array.from({ length: 100 }, (_, n) => call(n + 1, n + 1, { tokens: 10 })));
    expect(sized(abandoned).next().tokens).toBe(100 * (10 + NO_RESULT_TOKENS));
  });

  test("takes the tools that a message brings for what they weigh more or less than the counted ones", () => {
    const anchor = { epoch: 0, holds_in: 0, model: MODEL, up_to: 4, input: 5_000, output: 0, reply_to: 4, fixed: 200, at: 0 };
    const offering = (tokens: number) => viewing(chat(4, 100), { anchor, settings: { ...viewing([]).settings, tools: text(tokens) } });
    expect([sized(offering(600)).next().tokens, sized(offering(0)).next().tokens]).toEqual([5_400, 4_800]);
  });

  test.each([
    ["before an epoch", { view: toWeighedView({ ...viewing(chat(4, 100)).view, epoch: 1 }) }],
    [
      "of another model",
      {
        ratios: [{ model: "other", value: 2 }],
        anchor: { epoch: 0, holds_in: 0, model: "other", up_to: 4, input: 9_000, output: 0, reply_to: 4, fixed: 0, at: 0 },
      },
    ],
  ])("never counts usage %s, nor triggers by it", (_what, change) => {
    const anchor = { epoch: 0, holds_in: 0, model: MODEL, up_to: 4, input: 15_900, output: 0, reply_to: 4, fixed: 0, at: 0 };
    const state = viewing(chat(4, 100), { anchor, ...change });
    expect(sized(state).next()).toMatchObject({ tokens: 400, source: "estimated" });
    for (const policy of ["oneclaw", "opal", "balanced"]) expect(planUnder(policy, state)).toMatchObject({ kind: "none" });
  });

  test("weighs what is shown of an item, not what is recorded of it", () => {
    const reduced: readonly Reduced[] = [{ position: 2, tokens: 64, how: "cleared" }];
    const base = viewing([call(1, 1, { tokens: 10 }), result(2, 1, { tokens: 5_000, rough: 4_000 })]);
    const state = { ...base, view: toWeighedView({ ...base.view, reduced }) };
    expect(sized(state).raw).toBe(74 + RECALL_TOOL_TOKENS);
    expect(sized(state).planned({ estimator: "chars_4" })).toBe(74 + RECALL_TOOL_TOKENS);
  });

  test("is decided by unscaled, unpadded and without frames under the estimator of characters over 4", () => {
    const state = counted([item(1, "user"), item(2, "assistant"), item(3, "user", { tokens: 400, rough: 100 })], 2, taught(1.5));
    expect(sized(state).planned({ estimator: "chars_4" })).toBe(220);
    expect(sized({ ...state, anchor: null }).planned({ estimator: "chars_4" })).toBe(120);
  });
});

function having(state: SessionState, [what, tokens]: readonly ["say" | "tools" | "manual" | "inline", number]): SessionState {
  const at = state.next_position;
  const add = (...items: ItemMeta[]) => evolve(state, { type: "MessagesAppended", items, dequeued: [], seq: state.seq + 1, at });
  switch (what) {
    case "say":
      return add(item(at, at % 2 ? "user" : "assistant", { tokens }));
    case "tools":
      return add(call(at, at, { tokens: 9 }), result(at + 1, at, { tokens, bytes: 4 * tokens }));
    default:
      return carriedOut(state, planUnder("balanced", state, { limits: toLimits(4_000), trigger: what }), { n: 100 + at });
  }
}

describe("the measure of a part of it, from the start", () => {
  const items = [
    item(1, "user", { tokens: 60 }),
    item(2, "assistant", { tokens: 900 }),
    item(3, "user", { tokens: 40 }),
    item(4, "user", { tokens: 30 }),
  ];

  test("takes a reply off as it was counted, however it is estimated, and what came since as it was put on", () => {
    const frame = MESSAGE_OVERHEAD_TOKENS * 2 * PADDING;
    expect(sized(counted(items, 2, taught(2))).upTo(1)).toBe(100 + frame + LITTLE);
    expect(sized(counted(items, 2, taught(2))).upTo(3)).toBe(120 + frame + 40 * 2 * PADDING + LITTLE);
  });

  test("takes off less than was counted, not more, where only the estimate knows it", () => {
    const state = viewing(items, {
      anchor: { epoch: 0, holds_in: 0, model: MODEL, up_to: 3, input: 1_000, output: 0, reply_to: 3, fixed: 0, at: 1 },
    });
    expect(Math.abs(sized(state).upTo(2) - (1_000 - 40 / PADDING + LITTLE))).toBeLessThanOrEqual(1);
  });

  test("without a count is the estimate of that part", () => {
    expect(Math.abs(sized(viewing(items)).upTo(2) - 960 * PADDING - LITTLE)).toBeLessThanOrEqual(1);
  });
});

test("the running sum of the view is what a sum over all of it would be, whatever happens to it", () => {
  const step = fc.tuple(
    fc.constantFrom("say" as const, "tools" as const, "manual" as const, "inline" as const),
    fc.integer({ min: 1, max: 2_000 }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let state = viewing([]);
      for (const next of steps) {
        state = having(state, next);
        expect([state.view.tokens, state.view.rough]).toEqual([toWeighedView(state.view).tokens, toWeighedView(state.view).rough]);
      }
    }),
  );
});

describe("what the provider has counted of the system prompt and tools", () => {
  const system = { body: id("bod", 1), bytes: 4_000, tokens: 1_000 };
  const counted = { tokens: 1_000, bytes: 4_000, most: 900, beside: 50 };
  const knowing = (fixed: Partial<typeof counted> | null) =>
    viewing(chat(2, 100), {
      settings: { ...viewing([]).settings, system },
      ratios: [{ model: MODEL, value: 1, ...(fixed && { fixed: { ...counted, ...fixed } }) }],
    });
  const upper = (state: SessionState) => toUpperBound(sized(state).next());

  test("is not padded, and nothing else is more exact for it", () => {
    const [plain, known] = [knowing(null), knowing({})];
    expect(upper(plain) - upper(known)).toBe(1_250 - 900);
    expect(sized(known).next()).toMatchObject({ source: "mixed", tokens: sized(plain).next().tokens - 100 });
  });

  test.each([
    ["another text", { bytes: 4_001 }],
    ["another weight", { tokens: 1_001 }],
    ["a count that says no more than the estimate", { most: 1_300 }],
  ])("says nothing of %s", (_, change) => {
    expect(sized(knowing(change)).next()).toEqual(sized(knowing(null)).next());
  });

  test("is learned from the request with the least beside it, and again where it changes", () => {
    const heard = { model: MODEL, estimate: 1_100, reported: 1_000, fixed: { tokens: 1_000, bytes: 4_000 } };
    const first = learnFrom([], heard);
    expect(first[0]?.fixed).toEqual({ tokens: 1_000, bytes: 4_000, most: 922, beside: 100 });
    const later = learnFrom(first, { ...heard, estimate: 3_000, reported: 2_900 });
    expect(later[0]?.fixed).toEqual(first[0]?.fixed);
    const other = learnFrom(later, { ...heard, estimate: 3_000, reported: 2_900, fixed: { tokens: 1_500, bytes: 6_000 } });
    expect(other[0]?.fixed).toMatchObject({ tokens: 1_500, beside: 1_500 });
    expect(learnFrom(other, { ...heard, fixed: null })[0]?.fixed).toEqual(other[0]?.fixed);
  });
});

describe("the ratio", () => {
  test("of a model is remembered while others are asked", () => {
    const asked = ["a", "b", "a"].reduce<ReturnType<typeof learnFrom>>(
      (known, model, n) => learnFrom(known, { model, estimate: 1_000, reported: n === 1 ? 500 : 1_500, fixed: null }),
      [],
    );
    const findRatio = (model: string): number => sized(viewing([], { ratios: asked }), plainModel(model)).ratio;
    expect(findRatio("a")).toBeCloseTo(1.18);
    expect([findRatio("b"), findRatio("c"), asked.map(({ model }) => model)]).toEqual([0.9, 1, ["a", "b"]]);
  });

  const EXACT = [1_000, 1_000] as const;
  const learn = (requests: readonly (readonly [estimate: number, reported: number])[]) =>
    requests.reduce<ReturnType<typeof learnFrom>>(
      (known, [estimate, reported]) => learnFrom(known, { model: MODEL, estimate, reported, fixed: null }),
      [],
    );
  const findShare = (...requests: (readonly [number, number])[]): number =>
    sized(viewing([], { ratios: learn([EXACT, ...requests]) })).errorIn(100) / 100;

  test("is not all that is learned: a part whose count is further off than a quarter widens the bound, which then fades", () => {
    expect(findShare([1_100, 1_120])).toBe(0.25);
    expect(findShare([1_100, 1_180])).toBeCloseTo(0.72);
    expect(findShare([1_100, 1_040])).toBeCloseTo(0.52);
    expect(findShare([1_100, 1_180], [1_200, 1_280])).toBeCloseTo(0.65);
    expect(findShare([1_100, 9_000])).toBeCloseTo(3);
  });

  test.each([
    ["the first request, of which a provider may count what no one sees", [[100, 900]]],
    ["what came after a compaction", [[500, 900]]],
    ["too little", [[1_010, 1_100]]],
    ["a count that falls while the request grows", [[2_000, 900]]],
  ] as const)("learns no bound from %s", (_, requests) => {
    const known = _.startsWith("the first") ? learn(requests) : learn([EXACT, ...requests]);
    expect(sized(viewing([], { ratios: known })).errorIn(100)).toBe(25);
  });

  test("holds for whole requests, and the wider bound for what one request adds, up to some times the size of the part that taught it", () => {
    const known = { ratios: [{ model: MODEL, value: 1, spread: { share: 0.5, tokens: 100 } }] };
    const asked = counted([item(1, "user"), item(2, "assistant"), item(3, "user", { tokens: 400 })], 2, known);
    const since = 400 + MESSAGE_OVERHEAD_TOKENS;
    expect(sized(asked).next()).toEqual({ tokens: 120 + since, source: "mixed", error_bound: since / 2 + LITTLE });
    expect(sized(asked).errorIn(10_000)).toBe(10_000 / 4 + 800 / 4);
    const whole = (state: SessionState) => sized({ ...viewing([item(1, "user", { tokens: 400 })]), ratios: state.ratios }).next();
    expect(whole(viewing([], known))).toEqual(whole(viewing([], taught(1))));
  });

  test("is this model's only", () => {
    const state = viewing([], { ratios: [{ model: "other", value: 2 }] });
    expect([sized(state).ratio, sized(state, plainModel("other")).ratio]).toEqual([1, 2]);
  });

  test("moves by a fifth of the difference, by 0.15 at most at once, and stays within its bounds", () => {
    expect(learnRatio(1, 1_000, 1_500)).toBeCloseTo(1.1);
    expect(learnRatio(1, 1_000, 9_000)).toBeCloseTo(1.15);
    expect([learnRatio(1, 0, 9_000), learnRatio(1, 1_000, 0)]).toEqual([1, 1]);
    let [high, low] = [1, 1];
    for (let n = 0; n < 50; n++) [high, low] = [learnRatio(high, 1, 1_000), learnRatio(low, 1_000, 1)];
    expect([high, low]).toEqual([RATIO_BOUNDS.max, RATIO_BOUNDS.min]);
  });
});

describe("what a request may weigh", () => {
  test.each([
    [16_000, 64_000, 1_000],
    [200_000, 64_000, 4_096],
    [128_000, 512, 512],
    [null, 512, 0],
  ])("of a window of %s and an output of %i keeps %i free", (window, maxOutput, reserve) => {
    expect(toReplyReserve({ window, maxOutput })).toBe(reserve);
    expect(toRequestLimit({ window, maxOutput })).toBe(window === null ? null : window - reserve);
  });

  test.each([
    ["oneclaw", null],
    ["opal", 128_000],
    ["yeoman", 8_192],
    ["balanced", 32_768],
  ])("of an unknown window under %s is that of %s", (policy, window) => {
    expect(assumeWindow(toLimits(null), toPolicy(policy)).window).toBe(window);
    expect(assumeWindow(toLimits(5_000), toPolicy(policy)).window).toBe(5_000);
  });
});

const SIGNATURE = "CpYBAdHtim9Xc1J0".repeat(500);

describe("an item", () => {
  const image: Part = { type: "image", url: "https://example.com/a.png", media_type: "image/png" };
  test.each<[string, readonly Part[], number]>([
    ["an empty message", [{ type: "text", text: "" }], 0],
    ["two images, whatever their bytes", [image, image], 2 * IMAGE_TOKENS],
    ["thinking, which is not sent again", [{ type: "reasoning", text: "long thoughts" }], 0],
    [
      "a call",
      [{ type: "tool_call", call_id: "c", name: "look_up", arguments: '{"a":1}' }],
      estimateTokens("c") + estimateTokens("look_up") + estimateTokens('{"a":1}') + MESSAGE_OVERHEAD_TOKENS,
    ],
    [
      "a call's signature, which is sent back",
      [{ type: "tool_call", call_id: "c", name: "f", arguments: "{}", provider_metadata: { google: { thoughtSignature: SIGNATURE } } }],
      estimateTokens("c") + estimateTokens("f") + estimateTokens("{}") + estimateTokens(SIGNATURE) + MESSAGE_OVERHEAD_TOKENS,
    ],
    [
      "a result",
      [{ type: "tool_result", call_id: "c", name: "n", output: "found it", is_error: false }],
      estimateTokens("c") + estimateTokens("found it") + MESSAGE_OVERHEAD_TOKENS,
    ],
  ])("weighs its frame and %s", (_what, parts, tokens) => {
    expect(estimateParts(parts)).toBe(MESSAGE_OVERHEAD_TOKENS + tokens);
  });

  test("counts its images and files", () => {
    expect(countMedia([image, { type: "text", text: "see" }, { type: "file", url: "u", media_type: "application/pdf" }])).toBe(2);
  });
});
