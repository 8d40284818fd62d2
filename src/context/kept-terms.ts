/**
 * What a text keeps of what was said: names, numbers and identifiers, which nobody can guess and no other words stand for. Counted in what was said,
 * found again by their letters, whatever case and marks they are written with. A measure of what can be counted, not of sense.
 */
import { foldWord } from "./recall/words";

export const TERM_KINDS = ["identifier", "number", "name"] as const;
export type TermKind = (typeof TERM_KINDS)[number];

export interface Term {
  /** As it was written first. */
  readonly term: string;
  readonly kind: TermKind;
  /** How often it was said. */
  readonly count: number;
}

/** Written without spaces: there a word has no edges, and what stands beside such a letter has one. */
const NO_EDGES = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const IN_WORD = /[\p{L}\p{N}\p{M}]/u;
const LETTERS = `(?:(?!${NO_EDGES.source})${IN_WORD.source})+`;

/** Paths, addresses, dates, versions, `snake_case`, `HAT069`: words joined by signs, or letters with digits. */
const WORDS = new RegExp(`${LETTERS}(?:[._@:/\\\\#+-]+${LETTERS})*`, "gu");
const HAS_DIGIT = /\p{N}/u;
const HAS_LETTER = /\p{L}/u;
const IS_NUMBER = /^\p{N}[\p{N}.,:/-]*$/u;
const JOINED = /[_@/\\#]|[.:]\S*[.:]|\p{Ll}\p{Lu}/u;
/** A capital within a sentence; at its beginning every word has one. */
const NAME = /(?<=[\p{L}\p{N},;)"] )\p{Lu}\p{Ll}[\p{L}'’-]*/gu;

/** What is longer is data, and looking for it takes its length at each place. */
const MAX_TERM_UNITS = 200;
/** So many units of one message are read: what is longer is a file or an output. */
const READ_UNITS = 100_000;

export class TermCounter {
  readonly #counts = new Map<string, { term: string; kind: TermKind; count: number }>();

  add(text: string): void {
    const read = text.slice(0, READ_UNITS);
    for (const [word] of read.matchAll(WORDS)) {
      const kind = kindOf(word);
      if (kind) this.#count(word, kind);
    }
    for (const [name] of read.matchAll(NAME)) if (!kindOf(name)) this.#count(name, "name");
  }

  /** What was said most often first; of two as often said, what was read first. */
  most(limit: number): readonly Term[] {
    return [...this.#counts.values()].sort((a, b) => b.count - a.count).slice(0, limit);
  }

  #count(term: string, kind: TermKind): void {
    if (term.length > MAX_TERM_UNITS) return;
    const key = foldWord(term);
    const known = this.#counts.get(key);
    if (known) known.count++;
    else this.#counts.set(key, { term, kind, count: 1 });
  }
}

/** Null: an ordinary word, or a digit alone. */
function kindOf(word: string): TermKind | null {
  if (IS_NUMBER.test(word)) return word.length > 1 ? "number" : null;
  return JOINED.test(word) || (HAS_DIGIT.test(word) && HAS_LETTER.test(word)) ? "identifier" : null;
}

const BLANKS = /\s+/gu;

export const normalize = (text: string): string => foldWord(text.normalize("NFKC")).replace(BLANKS, " ").trim();

/** Whether a text that was normalized holds `wanted`, as words of its own: 42 is not in 1420. */
export function holds(normalized: string, wanted: string): boolean {
  const sought = normalize(wanted);
  if (sought === "") return false;
  for (let at = normalized.indexOf(sought); at >= 0; at = normalized.indexOf(sought, at + 1)) {
    const [before, after] = [normalized.charAt(at - 1), normalized.charAt(at + sought.length)];
    if (isEdge(before, sought.charAt(0)) && isEdge(after, sought.charAt(sought.length - 1))) return true;
  }
  return false;
}

const isEdge = (beside: string, own: string): boolean =>
  !IN_WORD.test(beside) || !IN_WORD.test(own) || NO_EDGES.test(own) || NO_EDGES.test(beside);
