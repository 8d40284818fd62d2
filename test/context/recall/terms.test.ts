import { describe, expect, test } from "vitest";
import { askedDays } from "../../../src/context/recall/dates";
import { guessLanguages } from "../../../src/context/recall/languages";
import { toQuery } from "../../../src/context/recall/query";
import { toTerms } from "../../../src/context/recall/terms";
import { splitWords } from "../../../src/context/recall/words";

const AT = Date.UTC(2026, 4, 8, 13, 56);
const all = (text: string): string[] => {
  const { exact, stems } = toTerms(text, AT);
  return [...exact, ...stems];
};

describe("the terms of a text", () => {
  test.each([
    ["English", "She was buying universities and children", ["buying", "buy".replace("y", "i"), "univers", "child"]],
    ["German", "Die Häuser und die Straßen waren nicht alt", ["hauser", "haus", "strassen", "strass"]],
    ["French", "Elle a acheté des maisons avec les enfants", ["maisons", "maison", "enfant"]],
    ["Spanish", "Los niños compraron las casas con el dinero", ["ninos", "nin", "casas", "cas"]],
    ["Russian", "Мы купили билеты", ["билеты", "билет"]],
  ])("hold each word of %s as it is and its stem, without case and marks", (_, text, wanted) => {
    expect(all(text)).toEqual(expect.arrayContaining(wanted));
  });

  test.each([
    ["我们去黄山", ["黄山", "山", "黄"]],
    ["望遠鏡を買う", ["望遠", "遠鏡", "鏡"]],
    ["서울에서", ["서울", "서울에서"]],
    ["ข้าวมัน", ["ข้", "ข้า", "าว"]],
  ])("hold pairs and single characters of %s", (text, wanted) => {
    expect(all(text)).toEqual(expect.arrayContaining(wanted));
  });

  test.each([
    ["getUserById", ["getuserbyid", "user", "id"]],
    ["MAX_RETRY_COUNT", ["max·retry·count", "retry", "count"]],
    ["src/app/user-store.ts", ["src·app·user·store·ts", "store"]],
    ["HTTPServer", ["httpserver", "http", "server"]],
    ["ada@example.org", ["ada·example·org", "ada"]],
    ["1,250.50 on 2026-05-08", ["1·250·50", "2026·05·08", "250"]],
    ["exe_01JD8Z3V6Q4N7R2T5W9X0Y1ABC", ["exe·01jd8z3v6q4n7r2t5w9x0y1abc"]],
  ])("hold %s whole and in parts", (text, wanted) => {
    expect(all(text)).toEqual(expect.arrayContaining(wanted));
  });

  test("are never split again by what stores them: no sign of ASCII but letters and figures is in one", () => {
    const terms = all("a-b_c@d.e/f:g\\h#i+j \"quoted\" (x) * NEAR ข้าวมัน 黄山 Straße ½ ² 🎉 don't 'tis");
    expect(terms.filter((term) => !/^[a-z0-9\u0080-\u{10ffff}]+$/u.test(term))).toEqual([]);
  });

  test("are no longer than 64 units each, whatever the text", () => {
    expect(
      Math.max(...all(`${"x".repeat(5_000)} ${"ab/".repeat(2_000)} ${"B".repeat(300)}`).map(({ length }) => length)),
    ).toBeLessThanOrEqual(64);
  });
});

describe("the language of a text", () => {
  test.each([
    ["I have not seen the dog", ["en"]],
    ["Ich habe den Hund nicht gesehen", ["de"]],
    ["Je n'ai pas vu le chien dans la rue", ["fr"]],
    ["Ik heb de hond niet gezien", ["nl"]],
  ])("%s: by its little words", (text, wanted) => {
    expect(guessLanguages(splitWords(text))).toEqual(wanted);
  });

  test("a short text without any may be in all of them, a long one is taken for English", () => {
    expect(guessLanguages(splitWords("Flüge Rom")).length).toBeGreaterThan(3);
    expect(guessLanguages(splitWords("alpha beta gamma ".repeat(10)))).toEqual(["en"]);
  });
});

describe("a question", () => {
  test("is asked without its little words, and with them where it has no others", () => {
    expect(toQuery("What did she buy at the fair?").stems).toEqual(["bui", "fair"]);
    expect(toQuery("who are you").stems.length + toQuery("who are you").exact.length).toBeGreaterThan(0);
  });

  test("of Chinese is asked without the characters that only ask", () => {
    expect(toQuery("黄山在哪里?").stems).toEqual(["黄山"]);
  });

  test("says whether a time or a number answers it", () => {
    expect(["When was it?", "Wie viele Äpfel?", "什么时候?", "Who?"].map((question) => toQuery(question).wants)).toEqual([
      "time",
      "number",
      "time",
      null,
    ]);
  });

  test("has at most 40 terms of each kind, however long it is", () => {
    const { exact, stems } = toQuery(Array.from({ length: 5_000 }, (_, index) => `word${index}`).join(" "));
    expect(Math.max(exact.length, stems.length)).toBeLessThanOrEqual(40);
  });

  test.each(["What did I say on 8 May 2026?", "on May 8th, what was it", "am 8. Mai", "2026-05-08", "5月8日说了什么"])(
    "%s finds what was said on that day",
    (question) => {
      const { exact } = toTerms("nothing", AT);
      expect(askedDays(question).filter((term) => exact.includes(term)).length).toBeGreaterThan(0);
    },
  );

  test("names no month where it says may", () => {
    expect(askedDays("may I come in")).toEqual([]);
  });
});
