import { describe, expect, test } from "vitest";
import { toPassages } from "../../../src/context/recall/passages";
import { toQuery } from "../../../src/context/recall/query";
import { computeBoost, rankPositions } from "../../../src/context/recall/rank";
import { findTermMatches, toSnippet } from "../../../src/context/recall/snippet";

const filler = "nothing of any note happened on that long day ";

describe("a snippet", () => {
  test("of a short text is all of it, on one line", () => {
    expect(toSnippet("one\n\n  two\tthree ", [], 100)).toBe("one two three");
  });

  test.each([
    [
      "English",
      `${filler.repeat(30)}She bought a telescope at the fair. ${filler.repeat(30)}`,
      "What did she buy at the fair?",
      "bought a telescope at the fair",
    ],
    ["Chinese", `${"今天没什么事。".repeat(100)}我们在黄山迷路了。${"今天没什么事。".repeat(100)}`, "黄山", "在黄山迷路了"],
  ])("of a long text in %s is the part with most of the words in it", (_, text, question, wanted) => {
    const snippet = toSnippet(text, findTermMatches(text, toQuery(question)), 160);

    expect(snippet).toContain(wanted);
    expect(snippet.length).toBeLessThanOrEqual(162);
    expect(snippet.startsWith("…") && snippet.endsWith("…")).toBe(true);
  });

  test("never ends inside a character", () => {
    for (let units = 20; units < 40; units++)
      expect(toSnippet("🎉".repeat(100), [], units)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
  });
});

describe("passages", () => {
  test.each(["x".repeat(5_000), filler.repeat(200), "🎉".repeat(3_000), "一行。\n".repeat(1_000), ""])(
    "are the whole text, piece by piece: %#",
    (text) => {
      const passages = toPassages(text);

      expect(passages.map((passage) => passage.text).join("")).toBe(text);
      expect(passages.every((passage) => passage.text.length <= 1_200)).toBe(true);
      expect(passages.every(({ text: piece, from }) => text.startsWith(piece, from))).toBe(true);
      expect(passages.some(({ text: piece }) => /^[\udc00-\udfff]/.test(piece))).toBe(false);
    },
  );
});

describe("the order of hits", () => {
  const ranked = (candidates: Parameters<typeof rankPositions>[0], isWanted = (_: number) => true): number[] =>
    rankPositions(candidates, isWanted).map(({ position }) => position);

  test("an answer has a share of its question's score, more than the message before the question", () => {
    expect(ranked([{ position: 10, passage: 0, score: 5 }])).toEqual([10, 11, 9]);
  });

  test("text between two hits has priority over a weak hit elsewhere", () => {
    const candidates = [10, 12].map((position) => ({ position, passage: 0, score: 5 }));
    expect(ranked([...candidates, { position: 50, passage: 0, score: 2 }]).indexOf(11)).toBeLessThan(
      ranked([...candidates, { position: 50, passage: 0, score: 2 }]).indexOf(50),
    );
  });

  test("what is not wanted neither comes nor lends", () => {
    expect(ranked([{ position: 10, passage: 0, score: 5 }], (position) => position !== 10)).toEqual([]);
  });

  test("words that stand together count more than the same words apart, and the same question less than any answer", () => {
    const query = toQuery("When was the second hand telescope sold?");
    const boost = (text: string): number => computeBoost({ text, matches: findTermMatches(text, query) }, query);

    expect(boost("a second hand telescope")).toBeGreaterThan(boost("the second time a hand broke the big telescope"));
    expect(boost("it was sold last week")).toBeGreaterThan(boost("it was sold"));
    expect(boost("When was the telescope sold?")).toBeLessThan(1);
  });
});
