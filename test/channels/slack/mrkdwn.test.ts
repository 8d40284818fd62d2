import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { slack } from "../../../src/channels/slack/slack";

const text = (markdown: string): string => slack.render(markdown).text;
const plain = (markdown: string): string => slack.render(markdown).plain;
const J = "\u200b";

describe("markdown as Slack's mrkdwn", () => {
  test.each([
    ["**bold** and *italic* and ~~gone~~", "*bold* and _italic_ and ~gone~"],
    ["***both***", "_*both*_"],
    ["# Title with **bold**", "*Title with bold*"],
    ["`a < b`", "`a &lt; b`"],
    ["a & b <c>", "a &amp; b &lt;c&gt;"],
    ["<!channel> <@U1>", "&lt;!channel&gt; &lt;@U1&gt;"],
    ["[the **page**](https://a.example/?x=1&y=2)", "<https://a.example/?x=1&amp;y=2|the page>"],
    ["see https://a.example/x. Or (http://b.example)", "see <https://a.example/x>. Or (<http://b.example>)"],
    ["[x](/relative)", "x (/relative)"],
    ["![a dog](https://a.example/d.png)", "<https://a.example/d.png|a dog>"],
    ["- a\n- b\n    1. c\n    2. d", "• a\n• b\n    1. c\n    2. d"],
    ["3. a\n4. b", "3. a\n4. b"],
    ["- [x] done\n- [ ] open", "• ☑ done\n• ☐ open"],
    ["> a\n> b\n\nc", "> a\n> b\n\nc"],
    ["```ts\nif (a < b) {}\n```", "```\nif (a &lt; b) {}\n```"],
    ["> a\n> ```\n> b\n> ```", "> a\n> \n```\nb\n```"],
    ["a\n\n---\n\nb", "a\n\n──────────\n\nb"],
    ["| a | b |\n|---|---|\n| 1 | 中文 |\n| long | |", "```\na    | b\n-----------\n1    | 中文\nlong\n```"],
    ["", ""],
  ])("%j is %j", (markdown, expected) => {
    expect(text(markdown)).toBe(expected);
  });

  test("formatting is set apart from letters, because Slack formats whole words only", () => {
    expect(text("这是**重点**内容")).toBe(`这是${J}*重点*${J}内容`);
    expect(text("un**believ**able, **a**`b`")).toBe(`un${J}*believ*${J}able, *a*${J}\`b\``);
    expect(text("(**a**), “**b**”")).toBe(`(*a*), “${J}*b*${J}”`);
  });

  test("formatting ends with its line and goes on in the next", () => {
    expect(text("**a\nb** c")).toBe("*a*\n*b* c");
    expect(text("**a<br>**")).toBe("*a*");
    expect(text("**a *b\nc* d**")).toBe("*a _b_*\n*_c_ d*");
  });

  test("code cannot end its own block", () => {
    expect(text("````\n```\nx\n```\n````")).toBe(`\`\`\`\n\`${J}\`${J}\`\nx\n\`${J}\`${J}\`\n\`\`\``);
    expect(text("`` a`b ``")).toBe("a`b");
    expect(text("\\`\\`\\` not code")).toBe(`\`${J}\`${J}\` not code`);
  });

  test("an address cannot leave its link", () => {
    expect(text("[a|b>](<https://x.example/a|b c>)")).toMatch(/^<https:\/\/x\.example\/a%7Cb%20c\|a\|b&gt;>$/);
    expect(text(`[a](https://x.example/${"y".repeat(1_000)})`)).not.toContain("<");
  });

  test("the plain text has no formatting, and keeps code, lists and addresses", () => {
    expect(plain("**b** [p](https://a.example)\n\n- `x < y`\n\n```\n# c\n```")).toBe("b p (https://a.example)\n\n• x < y\n\n# c");
  });

  test("the text of any markdown has no open code block, no stray bracket and no lone half of a character", () => {
    const markdown = fc.array(
      fc.oneof(
        fc.constantFrom(
          "*",
          "_",
          "~~",
          "`",
          "```",
          "\n",
          "> ",
          "- ",
          "# ",
          "|",
          "<",
          ">",
          "&",
          "[a](",
          ")",
          "https://x.y ",
          "\\",
          "\ud83d",
          "中",
        ),
        fc.string(),
      ),
    );
    fc.assert(
      fc.property(
        markdown.map((pieces) => pieces.join("")),
        (given) => {
          const rendered = text(given);
          const [, ...fences] = rendered.split("```");
          expect(fences.length % 2).toBe(0);
          const outside = rendered.replace(/<(?:https?|mailto|tel):[^<>|\s]+(?:\|[^<>\n]+)?>/g, "").replace(/^[> •☐☑\d.]*/gm, "");
          expect(outside).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
          expect(rendered.isWellFormed()).toBe(true);
        },
      ),
    );
  });

  test("hostile nesting and huge tables take a moment, and grow by a bounded factor", () => {
    for (const given of [
      "> ".repeat(20_000),
      "**a _".repeat(10_000),
      `${"|".repeat(2_000)}\n${"|-".repeat(2_000)}|\n${"|\n".repeat(2_000)}`,
      "[".repeat(30_000),
      "&".repeat(30_000),
    ])
      expect(text(given).length).toBeLessThan(given.length * 6 + 10_000);
  });
});
