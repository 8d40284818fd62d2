/** The lines of a markdown text, with what must be known of a line to cut the text there: the code block, table, quote and list that it is in. */

interface Fence {
  /** The backticks or tildes that close it. */
  readonly marker: string;
  readonly info: string;
  readonly quote: string;
  readonly indent: number;
}

export interface SourceLine {
  readonly from: number;
  /** The end of its characters, before the line break. */
  readonly to: number;
  /** The beginning of the next line. */
  readonly end: number;
  readonly kind: "blank" | "fence" | "code" | "fence_end" | "heading" | "table_head" | "table_rule" | "table_row" | "item" | "text";
  /** The marks of the quotes that it is in, for example `> > `. */
  readonly quote: string;
  /** The number of blanks before its first character, and before its words: after the mark of a list's item. */
  readonly indent: number;
  readonly content: number;
  /** The block of code that is open. */
  readonly fence: Fence | null;
  /** The first two lines of the row's table. */
  readonly head: string | null;
}

const QUOTE = /^(?:[ \t]{0,3}>[ \t]?)+/;
const MARK = /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)/;
const FENCE = /^(`{3,32}|~{3,32})(?!`|~)([^\n]*)$/;
const TABLE_RULE = /^[|: \t-]+$/;
const HEADING = /^#{1,6}(?:[ \t]|$)/;
/** More is not repeated in the next part: an info string, the marks of quotes, the head of a table. */
const MAX_INFO = 100;
const MAX_QUOTE = 20;
const MAX_HEAD = 400;

interface OpenBlocks {
  fence: Fence | null;
  /** `head`: null when it is too long to be repeated. */
  table: { readonly head: string | null; rows: number } | null;
}

type LineParts = Pick<SourceLine, "from" | "to" | "end" | "quote" | "indent" | "content"> & {
  readonly words: string;
  readonly marked: string;
};

/** The lines of `text`, in order. Together they have every character. */
export function readMarkdownLines(text: string): readonly SourceLine[] {
  const open: OpenBlocks = { fence: null, table: null };
  const lines: SourceLine[] = [];
  let next = text === "" ? null : readParts(text, 0);
  while (next !== null) {
    const parts = next;
    next = parts.end < text.length ? readParts(text, parts.end) : null;
    const { from, to, end, quote, indent, content } = parts;
    const kind = readKind(parts, { open, next, text });
    const fence = kind === "code" || kind === "fence_end" ? open.fence : null;
    const head = kind === "table_row" ? (open.table?.head ?? null) : null;
    lines.push({ from, to, end, kind, quote: quote.length > MAX_QUOTE ? "" : quote, indent, content, fence, head });
    if (kind === "fence_end") open.fence = null;
  }
  return lines;
}

function readParts(text: string, from: number): LineParts {
  const found = text.indexOf("\n", from);
  const to = found < 0 ? text.length : found;
  const line = text.slice(from, to);
  const quote = QUOTE.exec(line)?.[0] ?? "";
  const rest = line.slice(quote.length);
  const marked = rest.trimStart();
  const indent = rest.length - marked.length;
  const mark = MARK.exec(marked)?.[0] ?? "";
  return {
    from,
    to,
    end: Math.min(to + 1, text.length),
    quote,
    indent,
    content: indent + mark.length,
    marked: marked.trimEnd(),
    words: marked.slice(mark.length).trimEnd(),
  };
}

interface Surroundings {
  readonly open: OpenBlocks;
  readonly next: LineParts | null;
  readonly text: string;
}

/** Opens and closes blocks in `open`, but for the end of a fence, which still belongs to its block. */
function readKind(parts: LineParts, { open, next, text }: Surroundings): SourceLine["kind"] {
  if (open.fence && (open.fence.quote === "" || parts.quote !== "")) return isFenceEnd(parts, open.fence) ? "fence_end" : "code";
  open.fence = readFence(parts);
  if (open.fence || !parts.marked.includes("|")) open.table = null;
  if (open.fence) return "fence";
  if (parts.marked === "") return "blank";
  const isOfTable = open.table !== null || (parts.marked.includes("|") && next !== null && isTableRule(next));
  if (isOfTable) return readTableKind(parts, { open, next, text });
  if (HEADING.test(parts.words)) return "heading";
  return parts.content > parts.indent ? "item" : "text";
}

function readTableKind({ from }: LineParts, { open, next, text }: Surroundings): SourceLine["kind"] {
  if (open.table) {
    open.table.rows += 1;
    return open.table.rows === 1 ? "table_rule" : "table_row";
  }
  const end = next?.end ?? from;
  open.table = { head: end - from <= MAX_HEAD ? text.slice(from, end) : null, rows: 0 };
  return "table_head";
}

function isTableRule({ marked }: LineParts): boolean {
  return TABLE_RULE.test(marked) && marked.includes("|") && marked.includes("-");
}

function readFence({ words, quote, content }: LineParts): Fence | null {
  const [, marker = "", info = ""] = FENCE.exec(words) ?? [];
  if (marker === "" || (marker.startsWith("`") && info.includes("`"))) return null;
  return { marker, info: info.length > MAX_INFO ? "" : info, quote: quote.length > MAX_QUOTE ? "" : quote, indent: content };
}

function isFenceEnd({ marked }: LineParts, { marker }: Fence): boolean {
  return marked.length >= marker.length && marked === (marker[0] ?? "").repeat(marked.length);
}

/** Closes the code block that the text leaves open, so that what follows is no code. One without a line of code is removed. */
export function closeCodeBlock(text: string): string {
  const last = readMarkdownLines(text).at(-1);
  if (last?.kind === "fence") return text.slice(0, last.from).trimEnd();
  return last?.kind === "code" && last.fence ? `${text}\n${last.fence.quote}${last.fence.marker}` : text;
}

/** The number of the line that has the character at `place`. A place behind the text is of the last line. */
export function findLine(lines: readonly SourceLine[], place: number): number {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lines[middle]?.from ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}
