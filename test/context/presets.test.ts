/** The figures of each preset. docs/policy.md explains where its source was ambiguous. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { planGuard } from "../../src/context/guard";
import { estimateRough } from "../../src/context/item-tokens";
import { toPolicy } from "../../src/context/policy-choice";
import { presets } from "../../src/context/presets";
import { toSummaryCap } from "../../src/context/proposal";
import { planResults } from "../../src/context/results-rung";
import { buildView } from "../../src/context/view";
import type { ItemMeta, Part } from "../../src/domain/message";
import type { SessionState } from "../../src/domain/state";
import { call, id, item, result, turnId, viewing } from "../support/builders";
import {
  behind,
  buildSummary,
  carriedOut,
  chat,
  counted,
  findSummarizeRung,
  listRungs,
  planUnder,
  RUNNING,
  rounds,
  toLimits,
} from "./planning";

const text = (value: string): Part => ({ type: "text", text: value });

describe("oneclaw", () => {
  const { summary, results, trigger, on_failure } = presets.oneclaw;

  test("asks for at most 2,048 tokens, twice at most, 15 seconds each; then it trims", () => {
    expect([summary.max_tokens, summary.attempts, summary.timeout_ms, on_failure]).toEqual([2_048, 2, 15_000, "drop"]);
    expect(toSummaryCap(toLimits(128_000, 16_384), presets.oneclaw)).toBe(2_048);
  });

  test("stores 30,000 characters of a result, and looks after a response", () => {
    expect([results.max_chars, trigger.at]).toEqual([30_000, "after_response"]);
  });

  test.each<[what: string, parts: readonly Part[], tokens: number]>([
    ["an empty text", [text("")], 0],
    ["one character", [text("a")], 1],
    ["three characters", [text("abc")], 1],
    ["seven characters", [text("abcdefg")], 1],
    ["eight characters", [text("abcdefgh")], 2],
    ["two emoji, which are four UTF-16 units", [text("😀😀")], 1],
    ["thinking", [{ type: "reasoning", text: "x".repeat(40) }], 10],
    ["a tool's input", [{ type: "tool_call", call_id: "c", name: "a_long_name", arguments: "x".repeat(40) }], 10],
    ["a tool's output", [{ type: "tool_result", call_id: "c", name: "n", output: "x".repeat(40), is_error: false }], 10],
    ["content and thinking", [text("x".repeat(40)), { type: "reasoning", text: "x" }], 11],
  ])("counts %s by characters over 4", (_what, parts, tokens) => {
    expect(estimateRough(parts)).toBe(tokens);
  });

  test.each([
    ["reported", (tokens: number) => counted(viewing(chat(20, 700)), tokens)],
    [
      "estimated by characters over 4",
      (tokens: number) => viewing([...chat(19, 700), item(20, "assistant", { tokens: 9, rough: tokens - 19 * 700 })]),
    ],
  ])("compacts above 85 % of the window, %s, and not at it", (_how, holding) => {
    expect(planUnder("oneclaw", holding(13_600))).toMatchObject({ kind: "none", reason: "below_threshold" });
    expect(planUnder("oneclaw", holding(13_601)).kind).toBe("compact");
  });

  test("protects the newest messages that fit into a quarter of the window", () => {
    const exactly = planUnder("oneclaw", counted(viewing(chat(40, 400)), 16_000));
    // Ten messages of 400 fill it. A long question before nine of them does not fit.
    const longer = [...chat(30, 400), item(31, "user", { tokens: 1_500 }), ...chat(10, 400, 32).slice(1)];
    const oneMore = planUnder("oneclaw", counted(viewing(longer), 16_000));
    expect([findSummarizeRung(exactly).range.to, findSummarizeRung(oneMore).range.to]).toEqual([30, 31]);
  });

  test("holds one cumulative summary: a second compaction merges the first", () => {
    const state = counted(behind([buildSummary(1, 1, 10)], chat(40, 400, 11)), 15_000);
    expect(findSummarizeRung(planUnder("oneclaw", state))).toMatchObject({
      merge: true,
      replaces: [id("ovl", 1)],
      range: { from: 1 },
      source: { from: 11 },
    });
  });

  test("with an unknown window never compacts, whatever the trigger", () => {
    const state = counted(viewing(chat(20, 9_000)), 900_000);
    for (const trigger of ["threshold", "manual", "inline", "overflow"] as const)
      expect(planUnder("oneclaw", state, { limits: toLimits(null), trigger })).toMatchObject({ kind: "none", reason: "unknown_window" });
  });

  test("when no summary can be had trims to the protected quarter, not just below the threshold", () => {
    const state = counted(viewing(chat(40, 400)), 16_000);
    const plan = planUnder("oneclaw", state);
    expect(plan).toMatchObject({ fallback: [{ rung: "drop", from: 1, to: 30, items: 30 }] });
  });
});

test.each([
  ["opal", 32_000],
  ["yeoman", 32_001],
])("%s starts at its share of the window, whatever frames come around what it counts", (policy, least) => {
  const holding = (tokens: number) => {
    const items = [...chat(80, 500), item(81, "user", { tokens: 200, rough: 100 })];
    const anchor = { epoch: 0, holds_in: 0, model: "test-model", up_to: 79, reply_to: 80, output: 50, fixed: 0, at: 1 };
    return planUnder(policy, viewing(items, { anchor: { ...anchor, input: tokens - 150 } }), { limits: toLimits(40_000) }).kind;
  };
  expect([holding(least - 1), holding(least)]).toEqual(["none", "compact"]);
});

describe("opal", () => {
  /** A window of 40,000: a quarter is 10,000, and a fifth 8,000. */
  const opal = (state: SessionState, asked = {}) => planUnder("opal", state, { limits: toLimits(40_000), ...asked });
  const full = counted(viewing(chat(80, 500)), 40_000);

  test("looks at the start of a turn and compacts from 80 % of the window on", () => {
    expect(presets.opal.trigger.at).toBe("before_turn");
    const holding = (tokens: number) => opal(counted(viewing(chat(80, 500)), tokens)).kind;
    expect([holding(31_999), holding(32_000)]).toEqual(["none", "compact"]);
  });

  test.each([
    ["of its own accord, a quarter of the window: the group that exceeds it, from a user message on", {}, 60],
    ["by hand, 20,000", { trigger: "manual" }, 40],
    ["on overflow, a fifth of the window", { trigger: "overflow" }, 64],
    ["by hand with a number, that", { trigger: "manual", options: { keep_recent: 3_000, up_to: null, instructions: null } }, 74],
  ])("keeps %s", (_how, asked, to) => {
    expect(findSummarizeRung(opal(full, asked)).range.to).toBe(to);
  });

  test("cuts at or after the message that exceeds the budget, at a message of the user", () => {
    const items = [...chat(20, 100), item(21, "user", { tokens: 100 }), item(22, "assistant", { tokens: 6_000 }), ...chat(4, 1_500, 23)];
    // 6,000 + 6,000 exceed 10,000 at position 22, which is no user message. Position 23 is one.
    expect(findSummarizeRung(opal(counted(viewing(items), 33_000))).range.to).toBe(22);
  });

  test("forced, with no valid cut, compacts all but the last two messages", () => {
    const state = counted(viewing(chat(8, 100)), 800);
    expect(opal(state)).toMatchObject({ kind: "none" });
    expect(findSummarizeRung(opal(state, { trigger: "overflow" })).range.to).toBe(6);
    const looked = counted(viewing([...chat(7, 100), ...rounds(1, 100, 8)]), 800);
    expect(findSummarizeRung(opal(looked, { trigger: "overflow" })).range.to).toBe(7);
  });

  test.each([
    [5, 11],
    [4, null],
  ])("gives the beginning of a turn a summary of its own from %i messages on", (messages, split) => {
    // A question at 11. `messages` of its turn, including the question, lie before the cut.
    const before = [...Array(messages - 1)].map((_, n) => item(12 + n, "assistant", { tokens: 100 }));
    const next = 12 + before.length;
    const items = [...chat(10, 100), item(11, "user", { tokens: 100 }), ...before, item(next, "assistant", { tokens: 10_001 })];
    const rung = findSummarizeRung(opal(counted(viewing(items), 33_000)));
    expect([rung.range.to, rung.split]).toEqual([next - 1, split]);
  });

  test("counts a response with its calls as one message, and each result as one", () => {
    const turn = turnId(11);
    const called = (position: number) => call(position, position, { tokens: 10, turn });
    const answered = (position: number) => result(position, position - 2, { tokens: 10, turn });
    const findSplit = (before: readonly ItemMeta[]): number | null => {
      const next = 12 + before.length;
      const items = [...chat(10, 100), item(11, "user", { tokens: 100 }), ...before, item(next, "assistant", { tokens: 10_001, turn })];
      return findSummarizeRung(opal(counted(viewing(items), 33_000))).split;
    };
    // A question, two calls of one response and their results: five items, four messages.
    const four = [called(12), called(13), answered(14), answered(15)];
    expect(findSplit(four)).toBeNull();
    expect(findSplit([...four, item(16, "assistant", { tokens: 10, turn })])).toBe(11);
  });

  test("takes an unknown window for 128,000", () => {
    const holding = (tokens: number) => planUnder("opal", counted(viewing(chat(300, 500)), tokens), { limits: toLimits(null) }).kind;
    expect([holding(102_399), holding(102_400)]).toEqual(["none", "compact"]);
  });

  test("updates its summary, in sections, as a message of the user; a note takes its place when there is none", () => {
    const { form, placement } = presets.opal.summary;
    expect([form, placement, presets.opal.on_failure]).toEqual(["structured", "user-message", "note"]);
    const state = counted(behind([buildSummary(1, 1, 10)], chat(80, 500, 11)), 40_000);
    expect(findSummarizeRung(opal(state))).toMatchObject({ merge: true, generation: 1, replaces: [id("ovl", 1)] });
  });
});

describe("odincode", () => {
  const limits = toLimits(16_000);
  const policy = toPolicy("odincode");
  const plan = (state: SessionState) => planResults({ state, limits, policy });
  const five = [item(1, "user"), ...rounds(5, 400, 2)];

  test("before each call shows all results but the newest three as a placeholder, long or short", () => {
    expect(policy.trigger.at).toBe("each_call");
    expect(listRungs(plan(viewing(five)))).toMatchObject([{ rung: "clear_results", items: [{ position: 3 }, { position: 5 }] }]);
    expect(listRungs(plan(viewing([item(1, "user"), ...rounds(5, 3, 2)])))).toMatchObject([{ items: [{ position: 3 }, { position: 5 }] }]);
  });

  test("has nothing to do with three results, nor twice with the same", () => {
    expect(plan(viewing([item(1, "user"), ...rounds(3, 400, 2)]))).toMatchObject({ kind: "none" });
    const state = viewing(five);
    expect(plan(carriedOut(state, plan(state)))).toMatchObject({ kind: "none", reason: "nothing_older" });
  });

  test.each([
    [false, "[Tool look_up]: OK - [Old tool result content cleared (execution_id: "],
    [true, "[Tool look_up]: FAILED - [Old tool result content cleared (execution_id: "],
  ])("names the execution, and whether it failed (%s), in the plan's words", (is_error, words) => {
    const built = buildView({
      system: null,
      pins: [],
      summaries: [],
      dropped: 0,
      placement: "system-prefix",
      namesRecall: policy.results.clear === "each_call",
      signedFrom: 0,
      model: "m",
      reduced: [{ position: 2, tokens: 64, how: "cleared" }],
      entries: [
        { meta: call(1, 7), parts: [{ type: "tool_call", call_id: "call_7", name: "look_up", arguments: "{}" }] },
        { meta: result(2, 7), parts: [{ type: "tool_result", call_id: "call_7", name: "look_up", output: "a".repeat(900), is_error }] },
      ],
    });
    const end = "). Use memory_query tool with session_id or execution_id to retrieve full details]";
    expect(built.messages[1]?.parts).toMatchObject([{ output: `${words}${id("exe", 7)}${end}` }]);
  });

  test("never summarises; the guard holds the window", () => {
    const state = counted(viewing(chat(40, 400)), 16_000);
    expect(planUnder("odincode", state)).toMatchObject({ kind: "none" });
    expect(planUnder("odincode", state, { trigger: "manual" })).toMatchObject({ kind: "none", reason: "not_by_policy" });
    expect(planGuard({ state, limits, policy })).toMatchObject({ kind: "compact", rungs: [{ rung: "drop" }] });
  });
});

describe("yeoman", () => {
  const full = (items = chat(40, 400)) => counted(viewing(items), 16_000);

  test("looks before a turn and compacts above 80 % of the window", () => {
    expect(presets.yeoman.trigger.at).toBe("before_turn");
    const holding = (tokens: number) => planUnder("yeoman", counted(viewing(chat(40, 400)), tokens)).kind;
    expect([holding(12_800), holding(12_801)]).toEqual(["none", "compact"]);
  });

  test("keeps the last four messages, whatever they weigh", () => {
    expect(findSummarizeRung(planUnder("yeoman", full())).range.to).toBe(36);
    expect(findSummarizeRung(planUnder("yeoman", full([...chat(36, 400), ...chat(4, 5, 37)]))).range.to).toBe(36);
  });

  const turn = turnId(9);
  test.each([
    ["a response and its result are two", [call(32, 1, { turn }), result(33, 1, { turn }), ...chat(2, 10, 34)]],
    [
      "rounded outward to whole groups: a response of words and two calls, with its results, is three and stays whole",
      [
        item(32, "assistant", { turn }),
        ...[call(33, 1, { turn }), call(34, 2, { turn }), result(35, 1, { turn }), result(36, 2, { turn })],
        ...chat(2, 10, 37),
      ],
    ],
  ])("counts messages as a request has them: %s", (_how, newest) => {
    const items = [...chat(30, 400), item(31, "user"), ...newest];
    expect(findSummarizeRung(planUnder("yeoman", full(items))).range.to).toBe(31);
  });

  test("leaves system messages verbatim in front, beside the last four", () => {
    const items = [item(1, "system"), ...chat(30, 400, 2), item(32, "system"), ...chat(3, 400, 33)];
    const rung = findSummarizeRung(planUnder("yeoman", full(items)));
    expect([rung.keeps, rung.range.to]).toEqual([[1], 30]);
  });

  test("takes an unknown window for 8,192", () => {
    const holding = (tokens: number) => planUnder("yeoman", counted(viewing(chat(40, 400)), tokens), { limits: toLimits(null) }).kind;
    expect([holding(6_553), holding(6_554)]).toEqual(["none", "compact"]);
  });

  test("asks once; a failure sends what there is, and the guard still holds", () => {
    expect([presets.yeoman.summary.attempts, presets.yeoman.on_failure, presets.yeoman.summary.placement]).toEqual([
      1,
      "none",
      "system-message",
    ]);
    expect(planUnder("yeoman", full())).toMatchObject({ kind: "compact", fallback: [] });
    expect(planGuard({ state: full(), limits: toLimits(16_000), policy: presets.yeoman })).toMatchObject({ rungs: [{ rung: "drop" }] });
  });
});

/** The profiles' table in docs/policies.md, by the words of its cells. */
const documented = readFileSync("docs/policies.md", "utf8")
  .split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .filter((cells) => cells.length === 10)
  .map(([, name, ...cells]) => [name?.match(/`(\w+)`/)?.[1], ...cells.slice(0, 6)]);

const thousands = (tokens: number | null): string => `${(tokens ?? 0) / 1_000}k`;

describe("Longhand's own profiles (docs/policies.md)", () => {
  test.each(["economy", "balanced", "retain", "verbatim"] as const)("%s has the constants that are documented", (name) => {
    const { keep, trigger, summary, results } = presets[name];
    expect(documented.find(([known]) => known === name)).toEqual([
      name,
      `${keep.ratio}, ${thousands(keep.max_tokens)}`,
      String(trigger.usable_ratio),
      String(trigger.rent_factor ?? "off"),
      `${summary.chain_ratio?.toFixed(2)} / ${thousands(summary.max_tokens)}`,
      results.preview_beyond === null ? "off" : `newest ${results.preview_beyond}`,
      String(summary.rebuild_after ?? "never"),
    ]);
    expect([keep.of, keep.min_tokens, trigger.window_ratio, trigger.min_gain_ratio, results.preview_chars]).toEqual([
      "usable",
      2_000,
      0.85,
      0.2,
      240,
    ]);
  });

  test.each([
    ["economy", 27_000],
    ["balanced", 27_000],
    ["retain", 27_000],
    ["verbatim", 27_200],
  ])("%s waits until the lower of its share of what fits and 0.85 of the window, %i of 32,000, is exceeded", (name, bound) => {
    // The limit is 30,000.
    const holding = (tokens: number) =>
      planUnder(name, counted(viewing(chat(80, 400)), tokens), { limits: toLimits(32_000, 4_096), now: 0 }).kind;
    expect([holding(bound), holding(bound + 1)]).toEqual(["none", "compact"]);
  });

  test.each(["balanced", "economy", "retain", "verbatim"] as const)("%s never waits beyond 0.85 of the window", (name) => {
    const holding = (tokens: number) => planUnder(name, counted(viewing(chat(80, 400)), tokens), { limits: toLimits(32_000, 256) });
    expect(holding(27_201).kind).toBe("compact");
  });

  test("a turn that is under way keeps the question it answers", () => {
    const items = [...chat(4, 100), item(5, "user", { tokens: 500 }), ...rounds(40, 400, 6)];
    const state = { ...counted(viewing(items), 15_500), turn: RUNNING };
    expect(findSummarizeRung(planUnder("balanced", state, { trigger: "overflow" })).keeps).toEqual([5]);
  });

  test.each([
    ["failed", [5]],
    ["stopped", [5]],
    ["interrupted", [5]],
    ["completed", []],
  ] as const)("the question of a turn that is %s stays if it can be retried", (status, keeps) => {
    const items = [...chat(4, 100), item(5, "user", { tokens: 500 }), ...rounds(40, 400, 6)];
    const state = {
      ...counted(viewing(items), 15_500),
      last_turn: { id: turnId(1), status, failure: null, stop_reason: null, tools: null },
    };
    expect(findSummarizeRung(planUnder("balanced", state, { trigger: "manual" })).keeps).toEqual(keeps);
  });
});
