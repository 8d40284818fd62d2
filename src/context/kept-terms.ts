/**
 * Measures what a text keeps of a conversation: names, numbers and identifiers, which cannot be guessed or paraphrased.
 * Terms are counted in the conversation and found again by their letters, regardless of case and diacritics. The
 * measure counts terms; it does not judge meaning.
 */
import { foldWord } from "./recall/words";

export const TERM_KINDS = ["identifier", "number", "name"] as const;
type TermKind = (typeof TERM_KINDS)[number];

export interface Term {
  /** The term as it was first written. */
  readonly term: string;
  readonly kind: TermKind;
  /** Number of occurrences. */
  readonly count: number;
}

/** Scripts that are written without spaces. There a word has no edges, and a term next to such a letter has one. */
const NO_EDGES = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const IN_WORD = /[\p{L}\p{N}\p{M}]/u;
const LETTERS = `(?:(?!${NO_EDGES.source})${IN_WORD.source})+`;

/** Paths, addresses, dates, versions, `snake_case`, `HAT069`: words joined by signs, or letters with digits. */
const WORDS = new RegExp(`${LETTERS}(?:[._@:/\\\\#+-]+${LETTERS})*`, "gu");
const HAS_DIGIT = /\p{N}/u;
const HAS_LETTER = /\p{L}/u;
const IS_NUMBER = /^\p{N}[\p{N}.,:/-]*$/u;
const JOINED = /[_@/\\#]|[.:]\S*[.:]|\p{Ll}\p{Lu}/u;
/** A capitalised word within a sentence. The first word of a sentence is always capitalised, so it does not count. */
const NAME = /(?<=[\p{L}\p{N},;)"] )\p{Lu}\p{Ll}[\p{L}'’-]*/gu;

/** Maximum length of a term. Longer ones are data, and searching for them takes their length at each place. */
const MAX_TERM_UNITS = 200;
/** Maximum UTF-16 units that are read of one message. Longer messages are files or outputs. */
const READ_UNITS = 100_000;

export class TermCounter {
  readonly #counts = new Map<string, { term: string; kind: TermKind; count: number }>();

  add(text: string): void {
    const read = text.slice(0, READ_UNITS);
    for (const [word] of read.matchAll(WORDS)) {
      const kind = toTermKind(word);
      if (kind) this.#count(word, kind);
    }
    for (const [name] of read.matchAll(NAME)) if (!toTermKind(name)) this.#count(name, "name");
  }

  /** The most frequent terms first. Among equals, the one that was read first. */
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

/** Null for an ordinary word or a single digit. */
function toTermKind(word: string): TermKind | null {
  if (IS_NUMBER.test(word)) return word.length > 1 ? "number" : null;
  return JOINED.test(word) || (HAS_DIGIT.test(word) && HAS_LETTER.test(word)) ? "identifier" : null;
}

const BLANKS = /\s+/gu;

export const normalize = (text: string): string => foldWord(text.normalize("NFKC")).replace(BLANKS, " ").trim();

/** Whether a normalized text contains `wanted` as separate words: 42 is not in 1420. */
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
