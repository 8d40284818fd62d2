/** The recorded part of a long tool result: never more than the policy says, and cut at a natural place. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutToolResult, endsNotice } from "../../src/context/cut-result";
import { truncateToolResult } from "../../src/context/tool-results";
import { drawn } from "../support/effort";

const ends = (output: string, max_chars: number): string => cutToolResult(output, { max_chars, cut: "head_tail" });

/** The notice, and the text shown at both ends. */
function shown(cut: string) {
  const match = /^\[\.\.\. content truncated, showing first (\d+) and last (\d+) of (\d+) characters \.\.\.\]\n\n/.exec(cut);
  if (!match) throw new Error(`no notice: ${cut.slice(0, 100)}`);
  const [notice, head, tail, total] = [match[0], Number(match[1]), Number(match[2]), Number(match[3])];
  const rest = cut.slice(notice.length);
  return { notice, head: rest.slice(0, head), tail: rest.slice(rest.length - tail), total };
}

describe("the head alone", () => {
  test("is what it was, to the character, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), fc.integer({ min: 100, max: 300 }), (output, max_chars) => {
        expect(cutToolResult(output, { max_chars, cut: "head" })).toBe(truncateToolResult(output, max_chars));
      }),
    );
  });
});

describe("both ends", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 1_500 }),
    fc.string({ unit: "binary", maxLength: 1_500 }),
    fc.json({ maxDepth: 4 }).map((text) => text.repeat(20)),
    fc.array(fc.jsonValue({ maxDepth: 3 }), { minLength: 20, maxLength: 80 }).map((value) => JSON.stringify(value)),
    fc.array(fc.string({ maxLength: 40 }), { minLength: 20, maxLength: 60 }).map((lines) => lines.join("\n")),
  );

  test("are whole up to the limit, and never more than it with the notice", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 100, max: 600 }), (output, limit) => {
        const cut = ends(output, limit);
        if (output.length <= limit) {
          expect(cut).toBe(output);
          return;
        }
        const { notice, head, tail, total } = shown(cut);
        expect(cut.length).toBeLessThanOrEqual(limit + notice.length);
        expect(notice).toBe(endsNotice(head.length, tail.length, total));
        expect([total, output.startsWith(head), output.endsWith(tail)]).toEqual([output.length, true, true]);
      }),
      { numRuns: drawn(300) },
    );
  });

  test("never begin or end inside a character, and show at least a fifth of what they may", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 100, max: 600 }), (output, limit) => {
        fc.pre(output.length > limit && output.isWellFormed());
        const { head, tail } = shown(ends(output, limit));
        expect([head.isWellFormed(), tail.isWellFormed()]).toEqual([true, true]);
        expect(Math.min(head.length, tail.length)).toBeGreaterThanOrEqual(limit / 10);
      }),
      { numRuns: drawn(300) },
    );
  });

  test("keep an emoji of several parts and a letter with its marks whole", () => {
    const family = "👨‍👩‍👧‍👦";
    for (const unit of [family, "e\u0301\u0323"]) {
      const { head, tail } = shown(ends(unit.repeat(300), 200));
      expect([head.replaceAll(unit, ""), tail.replaceAll(unit, "")]).toEqual(["", ""]);
    }
  });

  test("of lines are cut at the end of one", () => {
    const lines = Array.from({ length: 400 }, (_, n) => `line ${n} of the log`);
    const { head, tail } = shown(ends(lines.join("\n"), 2_000));
    expect([head.endsWith("of the log\n"), tail.startsWith("line ")]).toEqual([true, true]);
  });

  test("of a line's length that no end is near are cut between characters", () => {
    const { head, tail } = shown(ends("x".repeat(5_000), 1_000));
    expect([head.length, tail.length]).toEqual([495, 495]);
  });

  test.each<[string, unknown, number | undefined]>([
    ["an array", Array.from({ length: 300 }, (_, id) => ({ id, name: `a, "quoted" [thing] {${id}}` })), undefined],
    ["an object", Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`key_${n}`, [n, n + 1]])), undefined],
    ["what is printed over lines", Array.from({ length: 300 }, (_, id) => ({ id, tags: ["a", "b"] })), 2],
  ])("of %s are cut between two of its own elements", (_, value, indent) => {
    const { head, tail } = shown(ends(JSON.stringify(value, null, indent), 2_000));
    const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
    const first: unknown = JSON.parse(`${head.trimEnd().replace(/,$/, "")}${close}`);
    const last: unknown = JSON.parse(`${open}${tail}`);
    const entries = (part: unknown) => Object.values(part as object);
    expect(entries(first)).toEqual(Object.values(value as object).slice(0, entries(first).length));
    expect(entries(last)).toEqual(Object.values(value as object).slice(-entries(last).length));
  });

  test("of elements that are large are cut between smaller ones, rather than inside one", () => {
    const value = { rows: Array.from({ length: 300 }, (_, n) => n * 1_000), note: "done" };
    const { head, tail } = shown(ends(JSON.stringify(value), 1_000));
    expect(head).toMatch(/\d000,$/);
    expect(tail).toMatch(/^\d+000,/);
  });

  test("of text that only begins like JSON go by lines", () => {
    const log = Array.from({ length: 300 }, (_, n) => `[${n}] one, two, three`).join("\n");
    expect(shown(ends(log, 1_000)).head.endsWith("three\n")).toBe(true);
  });
});
