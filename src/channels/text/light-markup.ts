/** Writes markdown in the light markup of chats, where `*` and `_` around words format them: Slack's mrkdwn, and WhatsApp's. */
import { assertNever } from "../../lib/assert-never";
import { type MarkupStyle, writeInlines } from "./light-inlines";
import { type MarkdownBlock, type MarkdownInline, type MarkdownItem, toWords } from "./markdown";
import { toTableLines } from "./text-table";

/** `isCode`: the line is within a code block, so that nothing may be put before it. */
interface Line {
  readonly text: string;
  readonly isCode: boolean;
}

const RULE = "──────────";
const INDENT = "    ";
/** A code block cannot show its own end. A character without width keeps the backticks apart. */
const SPLIT_FENCE = "`\u200b`\u200b`";

export function writeMarkup(blocks: readonly MarkdownBlock[], style: MarkupStyle): string {
  const lines = joinBlocks(blocks, style);
  return lines
    .map(({ text }) => text)
    .join("\n")
    .trim();
}

/** Blocks have an empty line between them. */
function joinBlocks(blocks: readonly MarkdownBlock[], style: MarkupStyle): readonly Line[] {
  return blocks.flatMap((block, index) => [...(index === 0 ? [] : [toLine("")]), ...writeBlock(block, style)]);
}

function writeBlock(block: MarkdownBlock, style: MarkupStyle): readonly Line[] {
  switch (block.type) {
    case "paragraph":
      return writeProse(block.children, style);
    case "heading":
      return writeProse([{ type: "strong", children: block.children }], style);
    case "code_block":
      return writeCode(block.text.split("\n"), style);
    case "quote":
      return joinBlocks(block.children, style).map((line) => prefix("> ", line));
    case "list":
      return block.items.flatMap((item, index) => writeItem(item, toMarker(block.start, index), style));
    case "table":
      return writeCode(
        toTableLines(
          block.header.map(toWords),
          block.rows.map((row) => row.map(toWords)),
        ),
        style,
      );
    case "rule":
      return [toLine(RULE)];
    default:
      return assertNever(block);
  }
}

const toLine = (text: string): Line => ({ text, isCode: false });
const prefix = (before: string, { text, isCode }: Line): Line => ({ text: isCode ? text : `${before}${text}`, isCode });
const toMarker = (start: number | null, index: number): string => (start === null ? "• " : `${start + index}. `);

const writeProse = (children: readonly MarkdownInline[], style: MarkupStyle): readonly Line[] =>
  writeInlines(children, style).split("\n").map(toLine);

function writeCode(lines: readonly string[], { fence, escapeCode }: MarkupStyle): readonly Line[] {
  const code = lines.map((line) => ({ text: fence === "" ? line : escapeCode(line.replaceAll("```", SPLIT_FENCE)), isCode: true }));
  return fence === "" ? code : [{ text: fence, isCode: true }, ...code, { text: fence, isCode: true }];
}

/** The lines below the first are indented, and the item's blocks follow one another without an empty line. */
function writeItem({ is_done, children }: MarkdownItem, marker: string, style: MarkupStyle): readonly Line[] {
  const box = is_done === null ? "" : is_done ? "☑ " : "☐ ";
  const [first = toLine(""), ...rest] = children.flatMap((child) => writeBlock(child, style));
  const head = first.isCode ? [toLine(`${marker}${box}`.trimEnd()), first] : [toLine(`${marker}${box}${first.text}`)];
  return [...head, ...rest.map((line) => prefix(INDENT, line))];
}
