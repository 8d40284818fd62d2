/** Where a markdown text is best cut: between paragraphs, else between items and lines, else behind a sentence, else behind a word. */
import { findLine, type SourceLine } from "./markdown-lines";

interface CutRange {
  readonly text: string;
  readonly lines: readonly SourceLine[];
  /** A part begins here. */
  readonly from: number;
  /** The part ends here or before. */
  readonly limit: number;
}

/** A coarser place is taken when the part is at least this full, so that parts are few. */
const LEAST_FULL = 1 / 3;

/** The place of the cut, behind `from`, and at most `limit`. It never divides a surrogate pair, nor a grapheme that fits. */
export function chooseCut(range: CutRange): number {
  const { text, from, limit } = range;
  if (limit >= text.length) return text.length;
  const least = from + Math.ceil((limit - from) * LEAST_FULL);
  const between = findLineCuts(range);
  if (between.paragraph >= least) return between.paragraph;
  if (between.line >= (isWholeLines(range) ? from + 1 : least)) return between.line;
  return leaveFence(range, findSentence(range, least) ?? findWord(range, least) ?? findGrapheme(range));
}

/** Code and tables are readable by whole lines only. */
function isWholeLines({ lines, limit }: CutRange): boolean {
  const kind = lines[findLine(lines, limit)]?.kind;
  return kind === "code" || kind === "table_row";
}

/** The last cuts between two lines. 0: there is none. */
function findLineCuts({ lines, from, limit }: CutRange): { readonly paragraph: number; readonly line: number } {
  let line = 0;
  for (let number = findLine(lines, limit); number > 0; number--) {
    const below = lines[number];
    const above = lines[number - 1];
    if (!below || !above || below.from <= from) break;
    const isHeading = above.kind === "blank" && lines[number - 2]?.kind === "heading";
    if (isHeading || isTogether(above, below)) continue;
    if (isBetweenParagraphs(above, below)) return { paragraph: below.from, line: line || below.from };
    line ||= below.from;
  }
  return { paragraph: 0, line };
}

/** Lines that are not divided: the beginning and the end of a code block, a table's head, and a heading with what follows. */
function isTogether(above: SourceLine, below: SourceLine): boolean {
  if (above.kind === "fence" || above.kind === "heading" || above.kind === "table_head" || above.kind === "table_rule") return true;
  return below.kind === "fence_end";
}

function isBetweenParagraphs(above: SourceLine, below: SourceLine): boolean {
  if (above.kind === "code" || below.kind === "code") return false;
  return above.kind === "blank" || below.kind === "fence" || below.kind === "heading" || above.kind === "fence_end";
}

const SENTENCE_END = /[.!?…]["'”’)\]*_]{0,4}\s|[。！？]["'”’」』）)\]*_]{0,4}/g;

function findSentence(range: CutRange, least: number): number | null {
  return findBehind(range, least, SENTENCE_END);
}

/** Languages without spaces are divided by a dictionary, near the limit only. */
const AROUND = 200;
const BLANK = /\s+/g;
const words = new Intl.Segmenter(undefined, { granularity: "word" });
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function findWord(range: CutRange, least: number): number | null {
  const behind = findBehind(range, least, BLANK);
  if (behind !== null) return behind;
  const { text, limit } = range;
  const begin = findGrapheme({ ...range, limit: Math.max(least, limit - AROUND) });
  const segment = words.segment(text.slice(begin, limit + AROUND)).containing(limit - begin);
  const place = begin + (segment?.index ?? 0);
  return segment?.isWordLike && place > begin && place - begin < AROUND ? place : null;
}

/** The last match that ends between `least` and the limit, outside of links, code and bold text if there is any. */
function findBehind({ text, lines, from, limit }: CutRange, least: number, pattern: RegExp): number | null {
  const slice = text.slice(from, limit + 1);
  const spans = findSpans(text.slice(from, limit + MAX_SPAN), from);
  const ends = [...slice.matchAll(pattern)]
    .map((match) => from + match.index + match[0].length)
    .filter((end) => end >= least && end <= limit);
  const clean = ends.filter((end) => !startsBlock(text, end) && isGraphemeStart(text, end));
  const outside = clean.findLast((end) => !isInside(spans, end) && !isTableLine(lines, end));
  return outside ?? clean.at(-1) ?? null;
}

function isTableLine(lines: readonly SourceLine[], place: number): boolean {
  return lines[findLine(lines, place)]?.kind.startsWith("table_") ?? false;
}

const BLOCK_START = /^(?:[-+*]\s|#{1,6}\s|>|\||=|~~~|```|\d{1,9}[.)]\s)/;

/** What is behind the cut would become a list, a heading or a quote. */
function startsBlock(text: string, place: number): boolean {
  return BLOCK_START.test(text.slice(place, place + 12));
}

/** Behind a blank or a mark of punctuation, on which a combining mark may follow. */
function isGraphemeStart(text: string, place: number): boolean {
  return graphemes.segment(text.slice(place - 1, place + 2)).containing(1)?.index === 1;
}

const MAX_SPAN = 600;
const SPAN = /`[^`\n]{1,200}`|!?\[[^\]\n]{0,200}\]\([^)\s]{0,350}\)|\*\*[^*\n]{1,200}\*\*/g;

type Span = readonly [from: number, to: number];

function findSpans(slice: string, offset: number): readonly Span[] {
  return [...slice.matchAll(SPAN)].map(({ index, 0: { length } }) => [offset + index, offset + index + length] as const);
}

/** Spans do not overlap, and are in order. */
function isInside(spans: readonly Span[], place: number): boolean {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.[1] ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return (spans[low]?.[0] ?? place) < place;
}

/** The last boundary of a grapheme. A grapheme that does not fit is divided between characters. */
function findGrapheme({ text, from, limit }: CutRange): number {
  const segment = graphemes.segment(text.slice(from, limit + AROUND)).containing(limit - from);
  const place = from + (segment?.index ?? 0);
  return place > from ? place : endCharacter(text, from, limit);
}

/** The end of the last whole character up to `limit`, and at least of the one at `from`. */
export function endCharacter(text: string, from: number, limit: number): number {
  const isHalf = (text.codePointAt(limit - 1) ?? 0) > 0xffff;
  const end = isHalf ? limit - 1 : limit;
  return end > from ? end : from + ((text.codePointAt(from) ?? 0) > 0xffff ? 2 : 1);
}

/** The end of the grapheme at `from`. */
export function endGrapheme(text: string, from: number): number {
  return from + (graphemes.segment(text.slice(from, from + AROUND)).containing(0)?.segment.length ?? 1);
}

/** A cut is never inside of the first or the last line of a code block. */
function leaveFence({ lines, from }: CutRange, place: number): number {
  const line = lines[findLine(lines, place)];
  const isFence = line?.kind === "fence" || line?.kind === "fence_end";
  return isFence && line.from > from ? line.from : place;
}
