/** The tree of a markdown text: what is recognised, that no word is lost, and hostile nesting. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type MarkdownBlock, type MarkdownInline, parseMarkdown, toWords } from "../../src/channels/text/markdown";
import { assertNever } from "../../src/lib/assert-never";

const text = (words: string): MarkdownInline => ({ type: "text", text: words });
const paragraph = (...children: MarkdownInline[]): MarkdownBlock => ({ type: "paragraph", children });

/** All words of a tree, read by a recursive walk, as an adapter reads it. */
function readWords(blocks: readonly MarkdownBlock[]): string {
  return blocks.map(readBlock).join("\n");
}

function readBlock(block: MarkdownBlock): string {
  switch (block.type) {
    case "paragraph":
    case "heading":
      return toWords(block.children);
    case "code_block":
      return `${block.language ?? ""} ${block.text}`;
    case "quote":
      return readWords(block.children);
    case "list":
      return block.items.map(({ children }) => readWords(children)).join("\n");
    case "table":
      return [block.header, ...block.rows].flat().map(toWords).join(" ");
    case "rule":
      return "";
    default:
      return assertNever(block);
  }
}

describe("the tree of a markdown text", () => {
  test("has emphasis, code, links, images and breaks inside of a paragraph", () => {
    const markdown = "*a* **b** ~~c~~ `d <e>` [f *g*](https://h.example/?i=1&j=2) ![k](https://l.example)\nm  \nn<br>o";
    const url = "https://h.example/?i=1&j=2";
    expect(parseMarkdown(markdown)).toEqual([
      paragraph(
        { type: "emphasis", children: [text("a")] },
        text(" "),
        { type: "strong", children: [text("b")] },
        text(" "),
        { type: "strikethrough", children: [text("c")] },
        text(" "),
        { type: "code", text: "d <e>" },
        text(" "),
        { type: "link", url, children: [text("f "), { type: "emphasis", children: [text("g")] }] },
        text(" "),
        { type: "image", url: "https://l.example", alt: "k" },
        { type: "break", is_hard: false },
        text("m"),
        { type: "break", is_hard: true },
        text("n"),
        { type: "break", is_hard: true },
        text("o"),
      ),
    ]);
  });

  test("has headings, rules, code with its language, quotes in quotes, lists in lists, and tasks", () => {
    const markdown =
      "## A\n\n    plain code\n\n---\n\n```ts x\nif (a < b) {}\n\n```\n\n> q\n>\n> > r\n\n3. one\n4. two\n   - [ ] three\n   - [x] four **5**";
    expect(parseMarkdown(markdown)).toEqual([
      { type: "heading", level: 2, children: [text("A")] },
      { type: "code_block", language: null, text: "plain code" },
      { type: "rule" },
      { type: "code_block", language: "ts", text: "if (a < b) {}\n" },
      { type: "quote", children: [paragraph(text("q")), { type: "quote", children: [paragraph(text("r"))] }] },
      {
        type: "list",
        start: 3,
        items: [
          { is_done: null, children: [paragraph(text("one"))] },
          {
            is_done: null,
            children: [
              paragraph(text("two")),
              {
                type: "list",
                start: null,
                items: [
                  { is_done: false, children: [paragraph(text("three"))] },
                  { is_done: true, children: [paragraph(text("four "), { type: "strong", children: [text("5")] })] },
                ],
              },
            ],
          },
        ],
      },
    ]);
  });

  test("gives each row of a table as many cells as the header has", () => {
    expect(parseMarkdown("| a | b |\n|---|:-:|\n| 1 | `x\\|y` |\n| 2 |\n| 3 | 4 | 5 |")).toEqual([
      {
        type: "table",
        header: [[text("a")], [text("b")]],
        rows: [
          [[text("1")], [{ type: "code", text: "x|y" }]],
          [[text("2")], []],
          [[text("3")], [text("4")]],
        ],
      },
    ]);
  });

  test("keeps raw HTML, unclosed marks and links that run code as text", () => {
    expect(parseMarkdown("<b>x</b> **y [z](javascript:alert(1)) <!-- c")).toEqual([
      paragraph(text("<b>x</b> **y [z](javascript:alert(1)) <!-- c")),
    ]);
  });

  test("shows what is nested too deep for the parser, as it was written", () => {
    const markdown = `${"> ".repeat(1_000)}deep\nend`;
    expect(parseMarkdown(markdown)).toEqual([paragraph(text(`${"> ".repeat(1_000)}deep`), { type: "break", is_hard: true }, text("end"))]);
  });

  test.each([
    ["emphasis", "*", "*"],
    ["emphasis in words", "*a _b ", "_ *"],
    ["links", "[", "](x)"],
    ["images", "![", "](x)"],
    ["quotes", "> ", ""],
    ["lists", "- ", ""],
    ["numbers", "1. ", ""],
    ["breaks", "<br>", ""],
    ["table cells", "|a", "|\n|-|-|"],
  ])("is shallow enough for a recursive walk, and has the words, in 200 KB of nested %s", (_, open, close) => {
    const times = Math.floor(200_000 / (open.length + close.length));
    const words = readWords(parseMarkdown(`${open.repeat(times)}deep${close.repeat(times)}`));
    expect(words.includes("deep")).toBe(true);
  });

  test("has every word of any text", () => {
    const piece = fc.constantFrom(
      "*",
      "**",
      "_",
      "`",
      "```\n",
      "[",
      "](u)",
      "> ",
      "- ",
      "1. ",
      "    ",
      "\n",
      "\n\n",
      "|",
      "|-|-|\n",
      "# ",
      "~~",
      " ",
    );
    const word = fc.stringMatching(/^[a-z]{4}$/);
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, word), { maxLength: 60 }), (pieces) => {
        const markdown = pieces.join("");
        const words = readWords(parseMarkdown(markdown));
        const wanted = markdown.replaceAll("](u)", "] ").match(/[a-z]{4,}/g) ?? [];
        // The parser has no place for the rest of an info string, for a cell beyond the header's, and for the target of a link.
        const isWhole = !/```[^\n]*[a-z]{4}|\|/.test(markdown);
        for (const each of isWhole ? wanted : []) expect(words).toContain(each);
      }),
    );
  });
});
