/**
 * Cuts a tool's output, once, when it is recorded: to its head alone, or to both ends, cut at natural boundaries
 * (docs/policy-parameters.md, `results.cut`). Never throws; linear time.
 */
import type { Policy } from "./policy";
import { truncateToolResult } from "./tool-results";

type Cut = Pick<Policy["results"], "max_chars" | "cut">;

/** `output` as it is stored: whole up to `max_chars` UTF-16 units. A longer output keeps at most as many, plus the notice. */
export function cutToolResult(output: string, { max_chars, cut }: Cut): string {
  return cut === "head" ? truncateToolResult(output, max_chars) : showEnds(output, max_chars);
}

/** Separates the two ends. It counts toward `max_chars`. */
const GAP = "\n\n[...]\n\n";

/** The maximum share of an end that a cut gives up to fall on a line's end, or between outer elements. */
const NEAR = 1 / 10;
/**
 * The maximum share of an end that a cut gives up to fall between two elements at all. A reader would take half an
 * element for a whole one.
 */
const FAR = 1 / 2;

export const endsNotice = (head: number, tail: number, total: number): string =>
  `[... content truncated, showing first ${head} and last ${tail} of ${total} characters ...]\n\n`;

/** The notice comes first, because a model that reads only the head must know that it is incomplete. */
function showEnds(output: string, limit: number): string {
  if (output.length <= limit) return output;
  const each = Math.floor((limit - GAP.length) / 2);
  const boundaries = isOpening(output.trimStart().charCodeAt(0)) ? elementEnds(output, each) : [];
  const head = output.slice(0, endOfHead(output, each, boundaries));
  const tail = output.slice(startOfTail(output, output.length - each, boundaries));
  return `${endsNotice(head.length, tail.length, output.length)}${head}${GAP}${tail}`;
}

/** A place between two elements of an array or members of an object, and its nesting depth. */
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

/** The first boundary of the least depth. */
const shallowest = (found: readonly Boundary[]): Boundary | undefined =>
  found.reduce<Boundary | undefined>((least, each) => (least && least.depth <= each.depth ? least : each), undefined);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const isOpening = (code: number): boolean => code === 0x7b || code === 0x5b;
const isClosing = (code: number): boolean => code === 0x7d || code === 0x5d;

/**
 * The boundaries between elements in the first and the last `each` units of a text that looks like one JSON value: its
 * brackets match, from the first character to the last. Empty for any other text.
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

/** The index of the quote that ends the string which begins at `start`. The text's length if none does. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === BACKSLASH) index++;
    else if (code === QUOTE) return index;
  }
  return text.length;
}

/**
 * Number of UTF-16 units that are examined on each side of a cut. Longer than most graphemes; a longer row of flags may
 * be cut inside one.
 */
const AROUND = 64;

/** The bounds of the grapheme that `at` lies in or begins. If it is longer than what is examined, the bounds of a part of it. */
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

/** The end of a head of at most `at` units. */
function lastStart(text: string, at: number): number {
  const { start } = graphemeAt(text, at);
  const end = start > Math.max(0, at - AROUND) ? start : at;
  return isSecondHalf(text, end) ? end - 1 : end;
}

/** The start of a tail that begins at `at` or later. */
function nextStart(text: string, at: number): number {
  const { start, end } = graphemeAt(text, at);
  const next = start === at ? at : end;
  return isSecondHalf(text, next) ? next + 1 : next;
}
