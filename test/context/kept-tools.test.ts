/** Results that a policy keeps by the name of their tool, and the placeholder of a cleared result. */
import { describe, expect, test } from "vitest";
import { groupItems } from "../../src/context/groups";
import { estimateParts, estimateRough } from "../../src/context/item-tokens";
import { previewRungs } from "../../src/context/ladder";
import type { Policy } from "../../src/context/policy";
import { toPolicy, toPolicyText } from "../../src/context/policy-choice";
import { clearable, clearedTokens, longest, olderResults, previewable } from "../../src/context/reductions";
import { planResults } from "../../src/context/results-rung";
import { wayBack } from "../../src/context/tool-results";
import { buildView, shortenParts } from "../../src/context/view";
import type { ItemMeta, Part } from "../../src/domain/message";
import { call, id, result, sized, viewing } from "../support/builders";
import { listRungs, toLimits } from "./planning";

/** One call and its result for each tool, in order. Results have even positions. */
const calling = (...tools: readonly string[]) =>
  viewing(
    tools.flatMap((name, index): ItemMeta[] => {
      const tool = { execution: id("exe", index), call_id: `call_${index}`, name };
      return [
        call(2 * index + 1, index, { tool }),
        result(2 * index + 2, index, { tokens: 2_000, bytes: 8_000, tool: { ...tool, is_error: false } }),
      ];
    }),
  );
const results = (change: Partial<Policy["results"]>): Policy["results"] => ({ ...toPolicy("odincode").results, ...change });
const positions = (found: readonly { position: number }[]) => found.map(({ position }) => position);

describe("results that are kept in full", () => {
  const state = calling("read", "look", "read", "look", "read", "look", "plan", "look");
  const { items } = state.view;

  test("are the newest of all, whatever their tools, where none is named", () => {
    expect(positions(olderResults(state, items, results({ keep_full: 3 })))).toEqual([2, 4, 6, 8, 10]);
  });

  test("are of a named tool so many of its own, which do not count among the others", () => {
    expect(positions(olderResults(state, items, results({ keep_full: 1, keep_tools: { read: 2 } })))).toEqual([2, 4, 8, 12, 14]);
    expect(positions(olderResults(state, items, results({ keep_full: 8, keep_tools: { look: 0 } })))).toEqual([4, 8, 12, 16]);
  });

  test("are all of an excluded tool, which count for nothing", () => {
    expect(positions(clearable(sized(state), items, results({ keep_full: 1, exclude_tools: ["look"] })))).toEqual([2, 6, 10]);
  });

  test("are not previewed either, and what is named has its own measure there too", () => {
    const policy = results({ preview_beyond: 1, preview_chars: 100, exclude_tools: ["look"], keep_tools: { read: 1 } });
    expect(positions(previewable(sized(state), items, policy))).toEqual([2, 6]);
    const text = toPolicyText({ preset: "balanced", results: { preview_beyond: 0, exclude_tools: ["look", "read", "plan"] } });
    const tail = groupItems(items, new Set());
    expect(previewRungs({ state, policy: toPolicy(text), limits: toLimits(16_000) }, { tail })).toEqual([]);
  });

  test.each([
    ["English", "It says nothing of note about the weather. "],
    ["Chinese", "这一页没有说明天气、道路和路上的人。"],
    ["Russian", "Здесь ничего не сказано о погоде. "],
  ])("are planned as previews with what they weigh as such, in %s", (_, sentence) => {
    const parts = [{ type: "tool_result", call_id: "call_1", name: "look", output: sentence.repeat(300), is_error: false }] as const;
    const meta = result(2, 1, {
      bytes: new TextEncoder().encode(JSON.stringify(parts)).byteLength,
      tokens: estimateParts(parts),
      rough: estimateRough(parts),
    });
    const [planned] = previewable(sized(viewing([meta])), [meta], results({ preview_beyond: 0, preview_chars: 240 }));
    const shown = estimateParts(shortenParts(parts, 480, wayBack(meta)));
    expect(planned?.tokens).toBeGreaterThanOrEqual(shown);
    expect(planned?.tokens).toBeLessThan(1.5 * shown);
  });

  test("are neither cleared before each call under OdinCode's rule", () => {
    const text = toPolicyText({ preset: "odincode", results: { exclude_tools: ["read"], keep_tools: { plan: 0 } } });
    const [rung] = listRungs(planResults({ state, limits: toLimits(16_000), policy: toPolicy(text) }));
    expect(rung).toMatchObject({ rung: "clear_results", items: [{ position: 4 }, { position: 14 }] });
  });

  test("are shortened by the guard all the same, because a request that does not fit is useless", () => {
    expect(positions(longest(sized(state), items, 1))).toHaveLength(1);
  });
});

describe("the placeholder of a cleared result", () => {
  const cleared = (name: string, is_error: boolean, namesRecall: boolean): Part | undefined => {
    const tool = { execution: id("exe", 7), call_id: "call_7", name };
    const output: Part = { type: "tool_result", call_id: "call_7", name, output: "x".repeat(500), is_error };
    const { messages } = buildView({
      system: null,
      pins: [],
      summaries: [],
      dropped: 0,
      placement: "user-message",
      entries: [
        { meta: call(1, 7, { tool }), parts: [{ type: "tool_call", call_id: "call_7", name, arguments: "{}" }] },
        { meta: result(2, 7, { tool: { ...tool, is_error } }), parts: [output] },
      ],
      reduced: [{ position: 2, tokens: 1, how: "cleared" }],
      namesRecall,
      signedFrom: 0,
      model: "m",
    });
    return messages.at(-1)?.parts[0];
  };

  test("is OdinCode's, word for word, where memory_query is offered, and names no tool where it is not", () => {
    const how = "Use memory_query tool with session_id or execution_id to retrieve full details";
    expect(cleared("read", false, true)).toMatchObject({
      output: `[Tool read]: OK - [Old tool result content cleared (execution_id: ${id("exe", 7)}). ${how}]`,
    });
    expect(cleared("read", true, true)).toMatchObject({ output: expect.stringMatching(/^\[Tool read\]: FAILED - /) });
    expect(cleared("read", false, false)).toMatchObject({
      output: `[Tool read]: OK - [Old tool result content cleared (execution_id: ${id("exe", 7)})]`,
    });
  });

  test.each(["read", "get_reservation_details_by_customer_and_date", "x".repeat(256)])("weighs what it is counted for: %s", (name) => {
    for (const is_error of [true, false]) {
      const item = result(2, 7, { tool: { execution: id("exe", 7), call_id: "call_7", name, is_error } });
      const shown = cleared(name, is_error, true);
      const less = cleared(name, is_error, false);
      expect(clearedTokens(item)).toBe(shown && estimateParts([shown]));
      expect(clearedTokens(item)).toBeGreaterThanOrEqual(less ? estimateParts([less]) : Number.POSITIVE_INFINITY);
    }
  });
});
