/**
 * What is recorded of a tool's output: cut once, when it is recorded, and never again (RFC-011 §1, OdinCode plan). The head alone as RFC-011 has it,
 * or both ends, cut where a reader would cut. Never throws; linear.
 */
import type { Policy } from "./policy";
import { truncateToolResult } from "./tool-results";

type Cut = Pick<Policy["results"], "max_chars" | "cut">;

/** `output` as it is stored: whole up to `max_chars` UTF-16 units, else so many of it at most, and the notice. */
export function cutToolResult(output: string, { max_chars, cut }: Cut): string {
  return cut === "head" ? truncateToolResult(output, max_chars) : showEnds(output, max_chars);
}

/** Between the two ends; a part of what may be shown. */
const GAP = "\n\n[...]\n\n";

/** A cut may give up this share of an end to fall on a line's, or on an element's that is no part of a smaller one, */
const NEAR = 1 / 10;
/** and this share to fall between two elements at all: half an element is read as a whole one. */
const FAR = 1 / 2;

export const endsNotice = (head: number, tail: number, total: number): string =>
  `[... content truncated, showing first ${head} and last ${tail} of ${total} characters ...]\n\n`;

/** The notice comes first: whoever reads the head must know that it is not all. */
function showEnds(output: string, limit: number): string {
  if (output.length <= limit) return output;
  const each = Math.floor((limit - GAP.length) / 2);
  const boundaries = isOpening(output.trimStart().charCodeAt(0)) ? elementEnds(output, each) : [];
  const head = output.slice(0, endOfHead(output, each, boundaries));
  const tail = output.slice(startOfTail(output, output.length - each, boundaries));
  return `${endsNotice(head.length, tail.length, output.length)}${head}${GAP}${tail}`;
}

/** A place between two elements of an array or members of an object, and how deep that lies. */
interface Boundary {
  readonly at: number;
  readonly depth: number;
}

function endOfHead(text: string, limit: number, boundaries: readonly Boundary[]): number {
  const inHead = boundaries.filter(({ at }) => at <= limit && at > limit * (1 - FAR));
  const near = inHead.filter(({ at }) => at > limit * (1 - NEAR));
  const element = shallowest(near.toReversed()) ?? inHead.at(-1);
  if (element) return element.at;
  const line = text.lastIndexOf("\n", limit - 1) + 1;
  return line > limit * (1 - NEAR) ? line : lastStart(text, limit);
}

function startOfTail(text: string, start: number, boundaries: readonly Boundary[]): number {
  const length = text.length - start;
  const inTail = boundaries.filter(({ at }) => at >= start && at < start + length * FAR);
  const near = inTail.filter(({ at }) => at < start + length * NEAR);
  const element = shallowest(near) ?? inTail[0];
  if (element) return element.at;
  const line = text.indexOf("\n", start - 1) + 1;
  return line > 0 && line < start + length * NEAR ? line : nextStart(text, start);
}

/** The first of the least depth. */
const shallowest = (found: readonly Boundary[]): Boundary | undefined =>
  found.reduce<Boundary | undefined>((least, each) => (least && least.depth <= each.depth ? least : each), undefined);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const isOpening = (code: number): boolean => code === 0x7b || code === 0x5b;
const isClosing = (code: number): boolean => code === 0x7d || code === 0x5d;

/**
 * Where elements end in the first and the last `each` units of what begins as JSON and looks like one value: brackets that close what they opened, from
 * the first character to the last. Of any other text none.
 */
function elementEnds(text: string, each: number): readonly Boundary[] {
  const end = text.trimEnd().length;
  const found: Boundary[] = [];
  let depth = 0;
  for (let index = text.length - text.trimStart().length; index < end; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (isOpening(code)) depth++;
    else if (isClosing(code)) depth--;
    else if (code === COMMA && (index < each || index >= text.length - each - 1)) found.push({ at: index + 1, depth });
    if (depth === 0 && index < end - 1) return [];
  }
  return depth === 0 ? found : [];
}

/** The quote that ends the string which begins at `start`; the text's end where none does. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === BACKSLASH) index++;
    else if (code === QUOTE) return index;
  }
  return text.length;
}

/** So much is looked at around a cut: longer than what people write as one character. A longer row of flags may be cut through one of them. */
const AROUND = 64;

/** The character, as people see it, that `at` lies in or begins; where it is longer than what is looked at, a part of it. */
function graphemeAt(text: string, at: number): { readonly start: number; readonly end: number } {
  const from = Math.max(0, at - AROUND);
  const inside = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text.slice(from, at + AROUND)).containing(at - from);
  if (!inside) return { start: at, end: at };
  const start = from + inside.index;
  return { start, end: start + inside.segment.length };
}

const isSecondHalf = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
};

/** Where a head of at most `at` units ends. */
function lastStart(text: string, at: number): number {
  const { start } = graphemeAt(text, at);
  const end = start > Math.max(0, at - AROUND) ? start : at;
  return isSecondHalf(text, end) ? end - 1 : end;
}

/** Where a tail that begins at `at` or later begins. */
function nextStart(text: string, at: number): number {
  const { start, end } = graphemeAt(text, at);
  const next = start === at ? at : end;
  return isSecondHalf(text, next) ? next + 1 : next;
}
