import { describe, expect, test } from "vitest";
import { holds, normalize, TermCounter } from "../../src/context/kept-terms";

function findTerms(...texts: readonly string[]) {
  const counter = new TermCounter();
  for (const text of texts) counter.add(text);
  return counter.most(50);
}
const listNames = (...texts: readonly string[]): string[] => findTerms(...texts).map(({ term }) => term);

describe("terms that cannot be guessed", () => {
  test.each([
    ["an address", "write to mia.li@example.org today", "mia.li@example.org", "identifier"],
    ["a path", "it is in src/app/run-turn.ts now", "src/app/run-turn.ts", "identifier"],
    ["a name in code", "call readItems twice", "readItems", "identifier"],
    ["a number with letters", "seat HAT069 is free", "HAT069", "identifier"],
    ["a date", "on 2026-11-22 we met", "2026-11-22", "number"],
    ["an amount", "it cost 1420 in all", "1420", "number"],
    ["a person", "then we asked Ada about it", "Ada", "name"],
    ["a number in Chinese", "我的电话是13800138000，请记住", "13800138000", "number"],
    ["an identifier in Japanese", "注文番号はHAT069です", "HAT069", "identifier"],
  ])("%s is counted", (_what, text, term, kind) => {
    expect(findTerms(text)).toContainEqual({ term, kind, count: 1 });
  });

  test("ordinary words, single digits and the first word of a sentence are none", () => {
    expect(listNames("Then they rode 3 horses. Nobody fell, well-known as it was.")).toEqual([]);
  });

  test("a sentence that is written without spaces is no identifier for the number in it", () => {
    expect(listNames("订单号12345已经发货，下午3点到。", "サーバー42番と、ตั๋ว987ใบ")).toEqual(["12345", "42", "987"]);
  });

  test("is told by how often it was said, whatever its case", () => {
    expect(findTerms("the file HAT069 of Ada", "again hat069", "so Ada said", "and HAT069")).toMatchObject([
      { term: "HAT069", count: 3 },
      { term: "Ada", count: 2 },
    ]);
  });
});

describe("a text holds what it says in words of its own", () => {
  test.each([
    ["the seat is HAT069.", "hat069", true],
    ["room 1420", "42", false],
    ["Ärger mit Müller", "muller", true],
    ["it  was\nAda  Lovelace", "ada lovelace", true],
    ["他住在北京市", "北京", true],
    ["电话是13800138000请记住", "13800138000", true],
    ["房间1420号", "42", false],
    ["Adalbert", "Ada", false],
    ["anything", "  ", false],
  ])("%j, %j: %s", (text, wanted, expected) => {
    expect(holds(normalize(text), wanted)).toBe(expected);
  });
});
