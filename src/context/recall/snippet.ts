/** Finds the query's terms in a text, and selects the piece of the text that shows most of them. */
import { findStems } from "./languages";
import type { RecallQuery } from "./query";
import { foldWord } from "./words";

export interface TermMatch {
  /** UTF-16 offset. */
  readonly at: number;
  readonly length: number;
  readonly term: string;
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** Maximum matches of one term. More add nothing. */
const MOST_MATCHES = 20;
/** UTF-16 units shown before the first match. */
const LEAD = 40;

/** The matches, in order of their offset. */
export function findTermMatches(text: string, query: RecallQuery): TermMatch[] {
  const [words, stems] = [new Set([...query.words, ...query.exact]), new Set(query.stems)];
  const found: TermMatch[] = [];
  for (const match of text.matchAll(WORD)) {
    const [word] = match;
    const term = findTerm(word, { words, stems, query });
    if (term !== null) found.push({ at: match.index, length: word.length, term });
  }
  for (const term of [...query.stems, ...query.exact]) if (UNSPACED.test(term)) found.push(...occurrences(text, term));
  return found.sort((a, b) => a.at - b.at);
}

interface Wanted {
  readonly words: ReadonlySet<string>;
  readonly stems: ReadonlySet<string>;
  readonly query: RecallQuery;
}

function findTerm(word: string, { words, stems, query }: Wanted): string | null {
  const stem = findStems(word.toLowerCase(), query.languages).find((each) => stems.has(each));
  if (stem !== undefined) return stem;
  const folded = foldWord(word);
  return words.has(folded) ? folded : null;
}

function occurrences(text: string, term: string): TermMatch[] {
  const found: TermMatch[] = [];
  for (let at = text.indexOf(term); at >= 0 && found.length < MOST_MATCHES; at = text.indexOf(term, at + term.length)) {
    found.push({ at, length: term.length, term });
  }
  return found;
}

/**
 * The part of `text` with the most different terms, on one line: at most `units` UTF-16 units, and an ellipsis at each
 * end that was cut.
 */
export function toSnippet(text: string, matches: readonly TermMatch[], units: number): string {
  if (text.length <= units) return oneLine(text);
  const from = Math.min(findStart(text, bestWindow(matches, units)), text.length - units);
  const to = Math.min(text.length, from + units);
  const piece = wholeCharacters(text.slice(from, to));
  return `${from > 0 ? "…" : ""}${oneLine(piece)}${to < text.length ? "…" : ""}`;
}

/** The offset of the first match of the window that holds the most different terms. */
function bestWindow(matches: readonly TermMatch[], units: number): number {
  let best = { terms: 0, at: 0 };
  for (const [index, first] of matches.entries()) {
    const inside = new Set<string>();
    for (const { at, length, term } of matches.slice(index)) {
      if (at + length > first.at + units - LEAD) break;
      inside.add(term);
    }
    if (inside.size > best.terms) best = { terms: inside.size, at: first.at };
  }
  return best.at;
}

/** A little before the match, at the start of a word where the text has spaces. */
function findStart(text: string, match: number): number {
  if (match <= LEAD) return 0;
  const space = text.indexOf(" ", match - LEAD);
  return space >= 0 && space < match ? space + 1 : match - LEAD / 4;
}

const wholeCharacters = (text: string): string => text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
const oneLine = (text: string): string => text.replace(/\s+/gu, " ").trim();
