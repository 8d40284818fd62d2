/** Markdown as Telegram's HTML, judged by the stand-in's reading of it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitMarkdown } from "../../../src/app/channels/text/split";
import { telegram } from "../../../src/channels/telegram/telegram";
import { drawn } from "../../support/effort";
import { HtmlFault, readHtml } from "../../support/stand-in/telegram/html";

const render = (markdown: string) => telegram.render(markdown).text;
const { fits } = telegram.traits;

describe("markdown becomes HTML of Telegram", () => {
  test.each([
    ["**b** *i* ~~s~~ `c <&>`", "<b>b</b> <i>i</i> <s>s</s> <code>c &lt;&amp;&gt;</code>"],
    ["***both** then i*", "<b><i>both</i></b><i> then i</i>"],
    ["**a `code` b**", "<b>a </b><code>code</code><b> b</b>"],
    ["# Title with `code`", "<b>Title with </b><code>code</code>"],
    ["[a **b** `c`](https://x.example/?q=1&r=%22)", '<a href="https://x.example/?q=1&amp;r=%22">a <b>b</b> c</a>'],
    ["[a](./docs) [b](javascript:x)", "a (./docs) [b](javascript:x)"],
    [
      "![alt](https://x.example/i.png) ![](https://x.example/j)",
      '<a href="https://x.example/i.png">alt</a> <a href="https://x.example/j">https://x.example/j</a>',
    ],
    ["1 < 2 & 3 > 2 <script>alert(1)</script>", "1 &lt; 2 &amp; 3 &gt; 2 &lt;script&gt;alert(1)&lt;/script&gt;"],
    ["```ts\nif (a < b) {}\n```", '<pre><code class="language-ts">if (a &lt; b) {}</code></pre>'],
    ['```"><b>\nx\n```', "<pre>x</pre>"],
    ["- a\n- [x] b\n  1. c\n  2. d\n\n     more", "• a\n☑ b\n   1. c\n   2. d\n      more"],
    ["- a\n\n  ```\n  x\n    y\n  ```", "• a\n<pre>x\n  y</pre>"],
    ["> q **b**\n> > r\n>\n> `c`", "<blockquote>q <b>b</b>\n\nr\n\n<code>c</code></blockquote>"],
    ["| a | 中文 |\n|---|---|\n| <1> | 2 |", "<pre>a   | 中文\n----------\n&lt;1&gt; | 2</pre>"],
    ["a\n\n---\n\nb  \nc", "a\n\n———\n\nb\nc"],
    ["**not closed and `nor this", "**not closed and `nor this"],
    ["a<br>b", "a\nb"],
  ])("%j", (markdown, html) => {
    expect(render(markdown)).toBe(html);
    expect(() => readHtml(html)).not.toThrow();
  });

  test("with the source in place of a text without visible words", () => {
    expect(telegram.render("[a]: https://x.example '<b>'")).toEqual({
      text: "[a]: https://x.example '&lt;b&gt;'",
      plain: "[a]: https://x.example '<b>'",
    });
  });

  test("and as plain text, which has the addresses of its links", () => {
    expect(telegram.render("**b** [a](https://x.example/?a&b) <https://y.example> 1 < 2").plain).toBe(
      "b a (https://x.example/?a&b) https://y.example 1 < 2",
    );
    const links = Array.from({ length: 40 }, (_, n) => `[a](https://x.example/${n}${"x".repeat(100)})`);
    expect(telegram.render(links.join("")).plain).toBe("a".repeat(40));
  });
});

describe("a message takes", () => {
  test("4,096 UTF-16 units of what is seen", () => {
    expect([fits(render(`**${"x".repeat(4_096)}**`)), fits(render(`**${"x".repeat(4_097)}**`))]).toEqual([true, false]);
    expect([fits(render("&".repeat(4_096))), fits(render("😀".repeat(2_049)))]).toEqual([true, false]);
  });

  test("100 pieces of formatting", () => {
    expect([fits(render("`a` ".repeat(100))), fits(render("`a` ".repeat(101)))]).toEqual([true, false]);
  });
});

describe("every part of a reply", () => {
  const valid = (markdown: string) => {
    const parts = splitMarkdown(markdown, (part) => fits(telegram.render(part).text));
    for (const part of parts) {
      const { text, plain } = telegram.render(part);
      const read = readHtml(text);
      expect(read.text).not.toBe("");
      expect([read.text.length <= 4_096, plain.length <= 4_096, plain.isWellFormed()]).toEqual([true, true, true]);
    }
    return parts.length;
  };

  test.each(["*", "**a ", "[", "> a ", "`", "<b>", "| a ", "- ", "\\", "&lt;", "[a](https://x.example) "])(
    "is valid, of 64 KB of %j",
    (piece) => {
      expect(valid(piece.repeat(65_536 / piece.length))).toBeGreaterThan(0);
    },
  );

  test("is valid HTML of Telegram, whatever the model writes", () => {
    const piece = fc.constantFrom(
      ...[
        "*",
        "**",
        "***",
        "_",
        "~~",
        "`",
        "``",
        "```js\n",
        "```\n",
        "[",
        '](https://x.example/"<>)',
        "![",
        "](",
        ")",
        "<b>",
        "</b>",
        "<br>",
      ],
      ...[
        "> ",
        ">> ",
        "- ",
        "1. ",
        "- [ ] ",
        "    ",
        "\n",
        "\n\n",
        "|a|b|\n|-|-|\n",
        "|",
        "# ",
        "---\n",
        "&lt;",
        "&",
        "<",
        ">",
        '"',
        "\\",
        "a",
        "b c",
        "中",
        "😀",
        "\ud800",
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        valid(pieces.join(""));
      }),
      { numRuns: drawn(1_000) },
    );
  });
});

describe("the stand-in", () => {
  test.each([
    "<b>a",
    "a</b>",
    "<b>a</i>",
    "<div>a</div>",
    "a < b",
    "<b><code>a</code></b>",
    "<code><b>a</b></code>",
    "<pre><i>a</i></pre>",
    "<blockquote>a<blockquote>b</blockquote></blockquote>",
    '<a href="https://x.example"><code>a</code></a>',
  ])("refuses %s", (html) => {
    expect(() => readHtml(html)).toThrow(HtmlFault);
  });

  test("reads texts, entities and blanks as Telegram does", () => {
    expect(readHtml(' <b>a <i>&lt;é😀</i></b> &amp;&#8364;<pre><code class="language-js">x</code></pre> ')).toEqual({
      text: "a <é😀 &€x",
      entities: [
        { type: "bold", offset: 0, length: 6 },
        { type: "italic", offset: 2, length: 4 },
        { type: "pre", offset: 9, length: 1, language: "js" },
      ],
    });
  });
});
