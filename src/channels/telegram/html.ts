/**
 * Markdown as Telegram's HTML: https://core.telegram.org/bots/api#html-style. Telegram refuses a text with an unknown or unclosed tag, and
 * formats neither within code nor within a link's code; so code stands alone, and quotes are not nested.
 */
import type { RenderedText } from "../../app/channels/channel";
import { assertNever } from "../../lib/assert-never";
import { type MarkdownBlock, type MarkdownItem, parseMarkdown, toWords } from "../text/markdown";
import { toTableLines } from "../text/text-table";
import { escapeHtml, toInlineHtml } from "./inline-html";

/** https://core.telegram.org/bots/api#sendmessage, which counts UTF-16 units. */
const MAX_UNITS = 4_096;
/** Telegram ignores the formatting behind the 100th entity of a message: https://limits.tginfo.me */
const MAX_ENTITIES = 100;

const TAG = /<[^<>]*>/g;
const OPENING = /<(?:b|i|s|a|code|pre|blockquote)\b/g;
const ENTITIES = { lt: "<", gt: ">", quot: '"', amp: "&" } as const;

export function renderHtml(markdown: string): RenderedText {
  const html = toBlocksHtml(parseMarkdown(markdown.toWellFormed()), { isQuoted: false }).trim();
  const text = toVisible(html).trim();
  // Markdown without visible text, such as a comment or a link's definition, is sent as it is written.
  if (text === "") return { text: escapeHtml(markdown.toWellFormed().trim()), plain: markdown.toWellFormed().trim() };
  const withAddresses = toVisible(html.replace(/<a href="([^"]*)">([^<]*)<\/a>/g, toAddress)).trim();
  return { text: html, plain: withAddresses.length <= MAX_UNITS ? withAddresses : text };
}

export function fitsMessage(rendered: string): boolean {
  const entities = rendered.match(OPENING)?.length ?? 0;
  return entities <= MAX_ENTITIES && toVisible(rendered).trim().length <= MAX_UNITS;
}

function toAddress(_: string, address: string, words: string): string {
  return words === address ? words : `${words} (${address})`;
}

/** The text that people see. */
function toVisible(html: string): string {
  return html.replace(TAG, "").replace(/&(lt|gt|quot|amp);/g, (_, name: keyof typeof ENTITIES) => ENTITIES[name]);
}

interface BlockContext {
  readonly isQuoted: boolean;
}

function toBlocksHtml(blocks: readonly MarkdownBlock[], context: BlockContext): string {
  return blocks.map((block) => toBlockHtml(block, context)).join("\n\n");
}

function toBlockHtml(block: MarkdownBlock, context: BlockContext): string {
  switch (block.type) {
    case "paragraph":
      return toInlineHtml(block.children, []);
    case "heading":
      return toInlineHtml(block.children, ["b"]);
    case "code_block":
      return toCodeHtml(block.text, block.language);
    case "quote":
      return toQuoteHtml(block.children, context);
    case "list":
      return toListHtml(block.items, block.start, context);
    case "table":
      return toCodeHtml(
        toTableLines(
          block.header.map(toWords),
          block.rows.map((row) => row.map(toWords)),
        ).join("\n"),
        null,
      );
    case "rule":
      return "———";
    default:
      return assertNever(block);
  }
}

const LANGUAGE = /^[\w+#.-]{1,40}$/;

function toCodeHtml(text: string, language: string | null): string {
  if (text.trim() === "") return "";
  const code = escapeHtml(text);
  return language !== null && LANGUAGE.test(language)
    ? `<pre><code class="language-${language}">${code}</code></pre>`
    : `<pre>${code}</pre>`;
}

function toQuoteHtml(blocks: readonly MarkdownBlock[], { isQuoted }: BlockContext): string {
  const inner = toBlocksHtml(blocks, { isQuoted: true });
  if (isQuoted || inner.trim() === "") return inner;
  return `<blockquote>${inner}</blockquote>`;
}

/** Blanks that a line of an item moves to the right. */
const INDENT = "   ";

function toListHtml(items: readonly MarkdownItem[], start: number | null, context: BlockContext): string {
  return items.map((item, place) => toItemHtml(item, start === null ? "•" : `${start + place}.`, context)).join("\n");
}

function toItemHtml({ is_done, children }: MarkdownItem, mark: string, context: BlockContext): string {
  const sign = is_done === null ? mark : is_done ? "☑" : "☐";
  const [first, ...rest] = children;
  const head = `${sign} ${first ? indent(first, context).trimStart() : ""}`;
  return [head, ...rest.map((block) => indent(block, context))].join("\n");
}

/** Code and quotes keep their lines, which would else have the blanks in them. */
function indent(block: MarkdownBlock, context: BlockContext): string {
  const html = toBlockHtml(block, context);
  if (block.type === "code_block" || block.type === "quote" || block.type === "table") return html;
  const isWhole = !/<(?:pre|blockquote)/.test(html);
  return isWhole ? INDENT + html.replaceAll("\n", `\n${INDENT}`) : html;
}
