import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitMarkdown } from "../../../src/app/channels/text/split";
import { discord } from "../../../src/channels/discord/discord";
import { checkMessage } from "../../support/stand-in/discord/message-check";

const text = (markdown: string): string => discord.render(markdown).text;
const J = "\u200b";

describe("markdown as Discord's", () => {
  test.each([
    ["**bold** and *italic* and ~~gone~~", "**bold** and *italic* and ~~gone~~"],
    ["***both***", "***both***"],
    ["# One\n\n### Three\n\n#### Four", "# One\n\n### Three\n\n**Four**"],
    ["`a < b`", "`a < b`"],
    ["snake_case and 2 * 3 * 4 and a ~ b", "snake\\_case and 2 \\* 3 \\* 4 and a \\~ b"],
    ["<@1> <#2> <:a:3> <t:4> ||hidden||", "\\<@1> \\<#2> \\<:a:3> \\<t:4> \\|\\|hidden\\|\\|"],
    ["\\# a\n\\- b\n1\\. c\n-# small\n\\> d", "\\# a\n\\- b\n1\\. c\n\\-# small\n\\> d"],
    ["[the **page**](https://a.example/?x=1&y=(2))", "[the page](<https://a.example/?x=1&y=%282%29>)"],
    ["see https://a.example/x_y_z. Or (http://b.example)", "see <https://a.example/x_y_z>. Or (<http://b.example>)"],
    ["[https://good.example](https://evil.example)", "https://good.example (<https://evil.example>)"],
    ["[x](/relative)", "x (/relative)"],
    ["![a dog](https://a.example/d.png)", "[a dog](<https://a.example/d.png>)"],
    ["- a\n- b\n    1. c\n    2. d", "- a\n- b\n  1. c\n  2. d"],
    ["- [x] done\n- [ ] open", "- ☑ done\n- ☐ open"],
    ["> a\n> b\n\nc", "> a\n> b\n\nc"],
    ["```ts\nif (a < b) {}\n```", "```ts\nif (a < b) {}\n```"],
    ["| a | b |\n|---|---|\n| 1 | 中文 |", "```\na | b\n--------\n1 | 中文\n```"],
    ["a\n\n---\n\nb", "a\n\n──────────\n\nb"],
    ["", ""],
  ])("%j is %j", (markdown, expected) => {
    expect(text(markdown)).toBe(expected);
  });

  test("code cannot end its own block", () => {
    expect(text("````\n```\nx\n````")).toBe(`\`\`\`\n\`${J}\`${J}\`\nx\n\`\`\``);
  });

  test("a long reply of any kind is cut into messages that Discord takes, with no code block left open", () => {
    for (const markdown of [
      `\`\`\`ts\n${"if (a < b && c > d) {}\n".repeat(400)}\`\`\``,
      `| a | b |\n|---|---|\n${"| 中文 & more | _b_ |\n".repeat(200)}`,
      "*_~|".repeat(1_500),
      "😀".repeat(5_000),
      "[page](https://a.example/?x=1) and https://b.example/. ".repeat(150),
      "> - **a** `b`\n>     1. c\n".repeat(200),
      `https://a.example/${"x".repeat(5_000)}`,
    ]) {
      const parts = splitMarkdown(markdown, (part) => discord.traits.fits(text(part)));
      expect(parts.length).toBeGreaterThan(1);
      for (const part of parts) {
        expect(checkMessage({ content: text(part) })).toMatchObject({ ok: true });
        expect((text(part).split("```").length - 1) % 2).toBe(0);
      }
    }
  });

  test("Discord counts code points: 2,000 emoji fit, and one more does not", () => {
    expect(discord.traits.fits("😀".repeat(2_000))).toBe(true);
    expect(discord.traits.fits("😀".repeat(2_001))).toBe(false);
    expect(discord.traits.fits("x".repeat(2_001))).toBe(false);
  });

  test("the text of any markdown is well-formed, calls no person and leaves no code block open", () => {
    const pieces = fc.array(
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
          "||",
          "<@1>",
          "<",
          "[a](",
          ")",
          "https://x.y ",
          "\\",
          "\ud83d",
          "中",
        ),
        fc.string(),
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(pieces, (given) => {
        const rendered = text(given.join(""));
        expect(rendered.isWellFormed()).toBe(true);
        expect(rendered.split("```").length % 2).toBe(1);
        const prose = rendered.replace(/```[\s\S]*?```|`[^`\n]+`/g, "");
        expect(prose).not.toMatch(/(?<!\\)<[@#:t]/);
      }),
    );
  });

  test("hostile nesting grows by a bounded factor", () => {
    for (const given of ["> ".repeat(20_000), "**a _".repeat(10_000), "[".repeat(30_000), "|".repeat(30_000)])
      expect(text(given).length).toBeLessThan(given.length * 6 + 10_000);
  });
});
