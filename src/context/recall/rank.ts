/**
 * Ranks messages. The index scores each passage by its words alone. A conversation offers more: a question and its
 * answer are neighbours, and a sentence's words tend to appear together.
 */
import type { ItemKind } from "../../domain/message";
import { type RecallQuery, toQuery } from "./query";
import type { TermMatch } from "./snippet";

/** A passage that the index found. `score`: above 0, higher is better. */
export interface PassageCandidate {
  readonly position: number;
  readonly passage: number;
  readonly score: number;
}

export interface Ranked extends PassageCandidate {
  /** The score of the message's own words. 0 when it ranks only because of its neighbours. */
  readonly own: number;
}

/** The share of its neighbours' scores that a message gets. An answer gets more from its question than the reverse. */
const SHARES: readonly (readonly [distance: number, share: number])[] = [
  [-1, 0.35],
  [1, 0.25],
  [-2, 0.1],
  [2, 0.08],
];
/** Weight of each further passage of an item. */
const FURTHER_PASSAGE = 0.1;

/** Best first, the newer of equals first. One entry for each position, with its best passage. */
export function rankPositions(candidates: readonly PassageCandidate[], isWanted: (position: number) => boolean): Ranked[] {
  const best = bestPassages(candidates.filter(({ position }) => isWanted(position)));
  const readScore = (position: number): number => best.get(position)?.score ?? 0;
  const near = new Set([...best.keys()].flatMap((position) => [position - 1, position, position + 1]));
  const ranked: Ranked[] = [];
  for (const position of near) {
    if (position < 1 || !isWanted(position)) continue;
    const own = readScore(position);
    const around = SHARES.reduce((sum, [distance, share]) => sum + share * readScore(position + distance), 0);
    ranked.push({ position, passage: best.get(position)?.passage ?? 0, own, score: own + around });
  }
  return ranked.sort(byScore);
}

export const byScore = (a: PassageCandidate, b: PassageCandidate): number => b.score - a.score || b.position - a.position;

/**
 * Whether the item may rank by its neighbours' scores. Messages of people answer each other; a call or a result is
 * seldom about its neighbours.
 */
export const inheritsIn = ({ own }: Ranked, kind: ItemKind): boolean => own > 0 || (kind !== "tool_call" && kind !== "tool_result");

function bestPassages(candidates: readonly PassageCandidate[]): Map<number, PassageCandidate> {
  const best = new Map<number, PassageCandidate>();
  for (const candidate of candidates) {
    const known = best.get(candidate.position);
    const [higher, lower] = known && known.score >= candidate.score ? [known, candidate] : [candidate, known];
    best.set(candidate.position, { ...higher, score: higher.score + FURTHER_PASSAGE * (lower?.score ?? 0) });
  }
  return best;
}

/** Maximum UTF-16 units between two matches that still count as adjacent. */
const TOGETHER = 3;
const PAIR_BONUS = 0.12;
const MOST_PAIRS = 3;
const KIND_BONUS = 0.1;
/** Factor for another message that asks the same question. It holds no answer, though its neighbour may. */
const SAME_QUESTION = 0.4;
/** Minimum share of the message's words that are also the question's. The others may be another name. */
const SAME_SHARE = 0.7;
const QUESTION_END = /[?？]\W*$|吗\W*$|か。?$/u;

/** Signs of an answer to "when": a day, a time, or words for one. */
const TIMES =
  /\d|yesterday|tomorrow|today|tonight|\b(?:last|next|this|ago|since|until)\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day|gestern|morgen|heute|letzte|nächste|woche|hier|demain|ayer|mañana|昨|明日|今日|先週|来週|上周|下周|去年|星期|вчера|завтра/i;
const NUMBERS =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)\b|[一二三四五六七八九十两]/i;

/**
 * The factor by which a passage's own words raise its score: for the question's words side by side, and for the kind of
 * value that the question asks for.
 */
export function computeBoost(
  { text, matches }: { readonly text: string; readonly matches: readonly TermMatch[] },
  query: RecallQuery,
): number {
  if (text.length <= query.length * 2 && QUESTION_END.test(text) && asksTheSame(text, query)) return SAME_QUESTION;
  const wanted = query.wants === "time" ? TIMES : query.wants === "number" ? NUMBERS : null;
  const pairs = 1 + PAIR_BONUS * Math.min(MOST_PAIRS, countPairs(matches));
  return wanted?.test(text) ? pairs * (1 + KIND_BONUS) : pairs;
}

function asksTheSame(text: string, { stems }: RecallQuery): boolean {
  const asked = new Set(stems);
  const said = toQuery(text).stems;
  return said.filter((stem) => asked.has(stem)).length >= SAME_SHARE * said.length;
}

function countPairs(matches: readonly TermMatch[]): number {
  const pairs = new Set<string>();
  for (const [index, match] of matches.entries()) {
    const next = matches[index + 1];
    if (!next || next.term === match.term) continue;
    const gap = next.at - (match.at + match.length);
    if (gap > 0 && gap <= TOGETHER) pairs.add(`${match.term} ${next.term}`);
  }
  return pairs.size;
}
