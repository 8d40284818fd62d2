import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SHORTENED_CHARS, SHORTENED_TOKENS } from "../../src/context/budget";
import { estimateTokens } from "../../src/context/tokens";
import { shortenToolResult, TOOL_RESULT_MAX_CHARS, takeHead, takeTail, truncateToolResult, wayBack } from "../../src/context/tool-results";
import type { ExecutionId } from "../../src/domain/ids";
import { id, item, result } from "../support/builders";

const isWellFormed = (text: string): boolean => text === text.toWellFormed();

describe("a tool result", () => {
  test("of exactly the limit is stored unchanged", () => {
    const output = "x".repeat(TOOL_RESULT_MAX_CHARS);
    expect(truncateToolResult(output)).toBe(output);
  });

  test("over the limit keeps its head and a marker with its full length", () => {
    const output = "x".repeat(TOOL_RESULT_MAX_CHARS + 1);
    expect(truncateToolResult(output)).toBe(
      `${"x".repeat(30_000)}\n\n[... content truncated, showing first 30000 of 30001 characters ...]`,
    );
  });

  test("is never cut inside a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.integer({ min: 1, max: 50 }), (text, limit) => {
        expect(isWellFormed(takeHead(text, limit))).toBe(true);
        expect(isWellFormed(takeTail(text, limit))).toBe(true);
        expect(text.startsWith(takeHead(text, limit))).toBe(true);
        expect(text.endsWith(takeTail(text, limit))).toBe(true);
      }),
    );
  });

  test("of emoji at the edge loses the half character, not the text", () => {
    expect(truncateToolResult("😀".repeat(20_000)).startsWith("😀".repeat(15_000))).toBe(true);
    expect(takeHead("a😀", 2)).toBe("a");
    expect(takeTail("😀a", 2)).toBe("a");
  });

  test("shortened for the view shows both ends and counts what is missing", () => {
    const shown = shortenToolResult(`start${"-".repeat(500)}end`, 20);
    expect(shown).toBe("start-----\n\n[... 488 characters left out of this view ...]\n\n-------end");
  });

  test("shortened where it can be looked up says how, and its notice weighs what is planned for it", () => {
    const shown = shortenToolResult("x".repeat(500), 20, wayBack(result(3, 7)));
    expect(shown).toContain(
      `\n\n[... 480 characters left out of this view (memory_query with execution_id ${id("exe", 7)} has all) ...]\n\n`,
    );
    expect(wayBack(item(12, "assistant"))).toBe("memory_query with from 12 and to 12 has all");
    const dense = { call_id: "call_1", name: "look_up", execution: "exe_0A1B2C3D4E5F6G7H8J9K0M1N2P" as ExecutionId };
    const notice = shortenToolResult("x".repeat(123_456), 0, wayBack(result(3, 7, { tool: dense })));
    expect(estimateTokens(notice)).toBeLessThanOrEqual(SHORTENED_TOKENS - SHORTENED_CHARS);
  });
});
