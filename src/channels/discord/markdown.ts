/** Discord's own markdown: https://support.discord.com/hc/en-us/articles/210298617 */
import type { RenderedText } from "../../app/channels/channel";
import { assertNever } from "../../lib/assert-never";
import { type MarkupStyle, writeInlines } from "../text/light-inlines";
import { type MarkdownBlock, type MarkdownInline, type MarkdownItem, parseMarkdown, toWords } from "../text/markdown";
import { PLAIN_STYLE } from "../text/plain-style";
import { toTableLines } from "../text/text-table";

/** A link that is longer could not be cut into parts. It is written as text. */
const LINK_CHARACTERS = 1_000;
const LINKED = /^https?:\/\/[^\s]/i;
const ADDRESS = /https?:\/\/[^\s<>"\\]+/gi;
const TRAILING = /[.,;:!?)'*_~\]]$/;
/** What formats, hides, or refers to a person, a channel, an emoji or a time. */
const SPECIAL = /[\\*_~`|<[\]]/g;
/** What makes a line a heading, a quote, an item or small print. */
const LINE_START = /^(\s*)(#{1,3}(?=\s|$)|-#|[-+](?=\s|$)|>|\d+(?=\.(?:\s|$)))/;
const RULE = "──────────";
const DEEPEST_HEADING = 3;
/** A code block cannot show its own end. A character without width keeps the backticks apart. */
const SPLIT_FENCE = "`\u200b`\u200b`";
const LANGUAGE = /^[\w+.#-]{1,32}$/;

const asItIs = (text: string): string => text;

const STYLE: MarkupStyle = {
  marks: { strong: "**", emphasis: "*", strikethrough: "~~", code: "`" },
  fence: "```",
  escapeCode: asItIs,
  write: writeProse,
  link: writeLink,
};

/** Discord never refuses the form of a text, so that there is no other. */
export function renderDiscord(markdown: string): RenderedText {
  const text = joinBlocks(parseMarkdown(markdown.toWellFormed())).join("\n").trim();
  return { text, plain: text };
}

/** Blocks have an empty line between them. */
function joinBlocks(blocks: readonly MarkdownBlock[]): readonly string[] {
  return blocks.flatMap((block, index) => [...(index === 0 ? [] : [""]), ...writeBlock(block)]);
}

function writeBlock(block: MarkdownBlock): readonly string[] {
  switch (block.type) {
    case "paragraph":
      return writeLines(block.children);
    case "heading":
      return writeHeading(block.level, block.children);
    case "code_block":
      return writeCode(block.text.split("\n"), block.language);
    case "quote":
      return joinBlocks(block.children).map((line) => `> ${line}`);
    case "list":
      return block.items.flatMap((item, index) => writeItem(item, block.start === null ? "- " : `${block.start + index}. `));
    case "table":
      return writeTable(block);
    case "rule":
      return [RULE];
    default:
      return assertNever(block);
  }
}

function writeLines(children: readonly MarkdownInline[]): readonly string[] {
  return writeInlines(children, STYLE)
    .split("\n")
    .map((line) =>
      line.replace(LINE_START, (_, blank: string, start: string) => (/\d/.test(start) ? `${blank}${start}\\` : `${blank}\\${start}`)),
    );
}

function writeHeading(level: number, children: readonly MarkdownInline[]): readonly string[] {
  if (level > DEEPEST_HEADING) return writeLines([{ type: "strong", children }]);
  const words = writeInlines(children, STYLE).replaceAll("\n", " ").trim();
  return words === "" ? [] : [`${"#".repeat(level)} ${words}`];
}

function writeCode(lines: readonly string[], language: string | null): readonly string[] {
  const name = language !== null && LANGUAGE.test(language) ? language : "";
  return [`\`\`\`${name}`, ...lines.map((line) => line.replaceAll("```", SPLIT_FENCE)), "```"];
}

function writeTable({ header, rows }: Extract<MarkdownBlock, { type: "table" }>): readonly string[] {
  const lines = toTableLines(
    header.map(toWords),
    rows.map((row) => row.map(toWords)),
  );
  return writeCode(lines, null);
}

/** The lines below the first are indented as deep as the marker, and the item's blocks follow one another without an empty line. */
function writeItem({ is_done, children }: MarkdownItem, marker: string): readonly string[] {
  const box = is_done === null ? "" : is_done ? "☑ " : "☐ ";
  const [first = "", ...rest] = children.flatMap(writeBlock);
  const isApart = first.startsWith("```");
  const below = isApart ? [first, ...rest] : rest;
  return [`${marker}${box}${isApart ? "" : first}`.trimEnd(), ...below.map((line) => " ".repeat(marker.length) + line)];
}

/** Addresses are linked here: an escape within them would lead elsewhere. */
function writeProse(text: string): string {
  let written = "";
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const url = trimAddress(found);
    written += escapeText(text.slice(end, index)) + writeLink(url, "");
    end = index + url.length;
  }
  return written + escapeText(text.slice(end));
}

const escapeText = (text: string): string => text.replace(SPECIAL, "\\$&");

function trimAddress(found: string): string {
  let end = found.length;
  while (end > 0 && TRAILING.test(found.charAt(end - 1))) end--;
  return found.slice(0, end);
}

/** Discord shows a link whose label is an address, or has brackets, as it is written. The address then follows the label. */
function writeLink(url: string, label: string): string {
  const words = label.replace(/\s+/g, " ").trim();
  const address = url.replace(/[<>()\\\s]/g, encodeCharacter);
  if (address.length > LINK_CHARACTERS || !LINKED.test(address)) return escapeText(PLAIN_STYLE.link(url, words));
  if (words === "" || words === url) return `<${address}>`;
  if (/[[\]]|:\/\//.test(words)) return `${escapeText(words)} (<${address}>)`;
  return `[${escapeText(words)}](<${address}>)`;
}

/** `encodeURIComponent` leaves parentheses as they are. */
const encodeCharacter = (character: string): string => {
  const code = character === "(" ? "%28" : character === ")" ? "%29" : null;
  return code ?? encodeURIComponent(character);
};
