import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DiffLine, diffLines } from "../../src/lib/line-diff";

const side = (lines: readonly DiffLine[], which: "a" | "b"): string =>
  lines
    .filter((line) => line.in === "both" || line.in === which)
    .map(({ line }) => line)
    .join("\n");

describe("a diff by lines", () => {
  test("reads as either text from top to bottom, whatever they are", () => {
    const texts = fc.array(fc.constantFrom("one", "two", "three", ""), { maxLength: 12 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const lines = diffLines(a, b);
        expect([side(lines, "a"), side(lines, "b")]).toEqual([a, b]);
      }),
      { seed: 7 },
    );
  });

  test("keeps as many lines in common as there are", () => {
    expect(diffLines("one\ntwo\nthree\nfour", "zero\ntwo\nfour\nfive")).toEqual([
      { in: "a", line: "one" },
      { in: "b", line: "zero" },
      { in: "both", line: "two" },
      { in: "a", line: "three" },
      { in: "both", line: "four" },
      { in: "b", line: "five" },
    ]);
  });

  test("of one text has nothing in one alone", () => {
    expect(diffLines("one\ntwo", "one\ntwo").every((line) => line.in === "both")).toBe(true);
  });

  test("of two texts with too many lines to compare each with each shows what differs as a whole, and is still whole", () => {
    const many = (mark: string) => ["same", ...Array.from({ length: 3_000 }, (_, n) => `${mark} ${n}`), "end"].join("\n");
    const lines = diffLines(many("a"), many("b"));
    expect([side(lines, "a"), side(lines, "b")]).toEqual([many("a"), many("b")]);
    expect(lines.filter((line) => line.in === "both")).toEqual([
      { in: "both", line: "same" },
      { in: "both", line: "end" },
    ]);
  });
});
