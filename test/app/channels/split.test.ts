/** How a long markdown text is cut into messages. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitMarkdown } from "../../../src/app/channels/text/split";
import { drawn } from "../../support/effort";

const upTo = (limit: number) => (part: string) => part.length <= limit;
const lines = (...texts: string[]) => texts.join("\n");
const family = "👨‍👩‍👧‍👦";

describe("a text is cut", () => {
  test("not at all when it fits, but for the blank space around it", () => {
    expect(splitMarkdown("\n\nHello **you**.\n\n- a\n", upTo(100))).toEqual(["Hello **you**.\n\n- a"]);
  });

  test("into nothing when it is blank", () => {
    expect(["", " ", "\n \n\t\n"].flatMap((blank) => splitMarkdown(blank, upTo(10)))).toEqual([]);
  });

  test("between paragraphs rather than within one", () => {
    expect(splitMarkdown("One two.\nThree four.\n\nFive six. Seven.", upTo(32))).toEqual(["One two.\nThree four.", "Five six. Seven."]);
  });

  test("within a long paragraph rather than behind a short one", () => {
    expect(splitMarkdown("Hi.\n\nOne two three four. Five six seven eight.", upTo(30))).toEqual([
      "Hi.\n\nOne two three four.",
      "Five six seven eight.",
    ]);
  });

  test("between the items of a list, whose numbers go on, and a nested one moves to the left", () => {
    const list = lines("1. one is first", "2. two", "    - under two", "    - under two too", "3. three");
    expect(splitMarkdown(list, upTo(28))).toEqual(["1. one is first\n2. two", "- under two\n- under two too", "3. three"]);
  });

  test("behind a sentence, also where sentences have no blanks between them", () => {
    expect(splitMarkdown("One is here. Two is there, and it is long.", upTo(30))).toEqual([
      "One is here.",
      "Two is there, and it is long.",
    ]);
    expect(splitMarkdown("这是一个句子。第二个句子也在这里！第三个呢？", upTo(12))).toEqual([
      "这是一个句子。",
      "第二个句子也在这里！",
      "第三个呢？",
    ]);
  });

  test("behind a word, also in a language without blanks", () => {
    expect(splitMarkdown("alpha beta gamma delta", upTo(12))).toEqual(["alpha beta", "gamma delta"]);
    expect(splitMarkdown("สวัสดีชาวโลกนี่คือข้อความทดสอบ", upTo(14))).toEqual(["สวัสดีชาวโลก", "นี่คือข้อความ", "ทดสอบ"]);
  });

  test("between graphemes when a word is too long", () => {
    expect(splitMarkdown(family.repeat(3), upTo(2 * family.length - 1))).toEqual([family, family, family]);
    expect(splitMarkdown("é".normalize("NFD").repeat(4), upTo(5))).toEqual(Array(2).fill("é".normalize("NFD").repeat(2)));
  });

  test("within a grapheme that alone does not fit, and never within a surrogate pair", () => {
    const marks = `a${"\u0301".repeat(25)}`;
    expect(splitMarkdown(marks, upTo(10)).map(({ length }) => length)).toEqual([10, 10, 6]);
    expect(splitMarkdown("😀😀😀", upTo(3))).toEqual(["😀", "😀", "😀"]);
  });

  test("one grapheme at a time when nothing fits", () => {
    expect(splitMarkdown(`a ${family}b`, () => false)).toEqual(["a", family, "b"]);
  });

  test("outside of links, code and bold text, where it can be", () => {
    expect(splitMarkdown("see all of it: [the long page](https://a.example/b) now", upTo(40))).toEqual([
      "see all of it:",
      "[the long page](https://a.example/b) now",
    ]);
    expect(splitMarkdown("aaa bbb ccc `ddd eee` fff", upTo(17))).toEqual(["aaa bbb ccc", "`ddd eee` fff"]);
    expect(splitMarkdown("aaa bbb ccc **ddd eee** fff", upTo(18))).toEqual(["aaa bbb ccc", "**ddd eee** fff"]);
  });

  test("not where the rest would become a list, a heading or a quote", () => {
    const cut = (text: string) => splitMarkdown(text, upTo(11))[0];
    expect(["- good", "# good", "> good", "1. good", "good"].map((rest) => cut(`well rated ${rest}`))).toEqual([
      ...Array(4).fill("well"),
      "well rated",
    ]);
  });

  test("with a heading beside what follows", () => {
    expect(splitMarkdown("Some words come first.\n\n# Head\n\nMore words follow here.", upTo(40))).toEqual([
      "Some words come first.",
      "# Head\n\nMore words follow here.",
    ]);
  });
});

describe("a code block that is cut", () => {
  const code = lines("```ts title", "const a = 1;", "  const b = 2;", "", "const c = 3;", "```");

  test("is closed, and opened again with its info string", () => {
    expect(splitMarkdown(`Look:\n\n${code}\n\nDone.`, upTo(50))).toEqual([
      "Look:\n\n```ts title\nconst a = 1;\n  const b = 2;\n```",
      "```ts title\nconst c = 3;\n```\n\nDone.",
    ]);
  });

  test("is not left empty at either side", () => {
    const parts = [24, 25, 26, 30, 35, 40, 60, 70].map((limit) => splitMarkdown(`Look:\n\n${code}\n\nDone.`, upTo(limit)));
    for (const part of parts.flat()) expect(part).not.toMatch(/```[^\n`]*\s*```/);
  });

  test("has longer fences and tildes as it began", () => {
    expect(splitMarkdown(lines("~~~~md", "aaaa", "~~~", "bbbb", "~~~~"), upTo(21))).toEqual([
      "~~~~md\naaaa\n~~~\n~~~~",
      "~~~~md\nbbbb\n~~~~",
    ]);
  });

  test("in a list stays in its item, and moves to the left", () => {
    const list = lines("1. Do:", "   ```sh", "   echo one", "   echo two", "   ```", "   after", "2. two");
    expect(splitMarkdown(list, upTo(36))).toEqual(["1. Do:\n   ```sh\n   echo one\n   ```", "```sh\necho two\n```\nafter\n2. two"]);
  });

  test("in a quote stays in it", () => {
    expect(splitMarkdown(lines("> ```", "> aaaaaaaa", "> bbbbbbbb", "> ```"), upTo(26))).toEqual([
      "> ```\n> aaaaaaaa\n> ```",
      "> ```\n> bbbbbbbb\n> ```",
    ]);
  });

  test("is cut without its fences when they leave no room", () => {
    expect(splitMarkdown("```typescript\nabcd\n```", upTo(4)).join("")).toContain("abcd");
  });
});

describe("what is cut stays readable", () => {
  test("a table gets its head again", () => {
    const row = (n: number) => `| ${n} | b${n} |`;
    expect(splitMarkdown(lines("| A | B |", "|---|---|", row(1), row(2), row(3), row(4), "", "end"), upTo(46))).toEqual([
      lines("| A | B |", "|---|---|", row(1), row(2)),
      lines("| A | B |", "|---|---|", row(3), row(4), "", "end"),
    ]);
  });

  test("a quote gets its marks again", () => {
    expect(splitMarkdown("> > One sentence here. Another sentence there.", upTo(30))).toEqual([
      "> > One sentence here.",
      "> > Another sentence there.",
    ]);
  });

  test("an info string, a head and marks that are too long are not repeated", () => {
    const long = "x".repeat(150);
    const parts = splitMarkdown(lines(`\`\`\`${long}`, ...Array(40).fill("some code"), "```"), upTo(200));
    expect(parts.slice(1).every((part) => part.startsWith("```\nsome code"))).toBe(true);
    expect(
      splitMarkdown(`${"> ".repeat(60)}${"word ".repeat(60)}`, upTo(140))
        .slice(1)
        .every((part) => part.startsWith("word")),
    ).toBe(true);
  });
});

describe("any text", () => {
  const piece = fc.oneof(
    fc.constantFrom("\n", "\n\n", " ", "  ", "- ", "1. ", "    ", "> ", "# ", "```¶\n", "```\n", "~~~\n", "**", "_", "`", "[a](b)", "<b>"),
    fc.constantFrom("word", "a", "。", "中文", family, "e\u0301", ". ", "! "),
    fc.stringMatching(/^[a-z]{1,30}$/),
  );
  const markdown = fc.array(piece, { maxLength: 80 }).map((pieces) => pieces.join(""));
  /** What may be repeated or lost: blanks, fences with their info string, and the marks of quotes. */
  const strip = (text: string) => text.replaceAll(/[¶\s`~>]/gu, "");

  test("is given back by its parts, which are not empty and fit", () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: family.length, max: 200 }), (text, limit) => {
        const parts = splitMarkdown(text, upTo(limit));
        expect(strip(parts.join("\n"))).toBe(strip(text));
        for (const part of parts) expect([part.trim() !== "", part.isWellFormed(), part.length <= limit]).toEqual([true, true, true]);
      }),
      { numRuns: drawn(500) },
    );
  });

  test("keeps its graphemes, whatever they are", () => {
    const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
    const list = (text: string) => [...graphemes.segment(text)].map(({ segment }) => segment).filter((each) => each.trim() !== "");
    const text = fc.string({ unit: "grapheme", maxLength: 200 }).map((some) => some.replaceAll(/[`~>|]/g, ""));
    fc.assert(
      fc.property(text, fc.integer({ min: 40, max: 80 }), (some, limit) => {
        expect(splitMarkdown(some, upTo(limit)).flatMap(list)).toEqual(list(some));
      }),
      { numRuns: drawn(300) },
    );
  });

  test("is measured a few times for each part", () => {
    const text = "Some words of a sentence. ".repeat(4_000);
    let measured = 0;
    const parts = splitMarkdown(text, (part) => {
      measured += part.length;
      return part.length <= 4_096;
    });
    expect(parts.length).toBeLessThan(30);
    expect(measured).toBeLessThan(text.length * 15);
  });
});
