/**
 * The terms that the index holds of a passage. `exact`: folded words as written, whole identifiers, single characters
 * of scripts without spaces (Chinese, Japanese, Thai and others), and the day. `stems`: terms that find other forms of
 * a word, and pairs of characters for scripts without spaces.
 */
import { dayTerms } from "./dates";
import { findStems, guessLanguages, isStopWord } from "./languages";
import type { Language } from "./stop-words";
import { foldWord, splitClusters, splitWords, toPairs, toTerm, type Word } from "./words";

interface Terms {
  readonly exact: readonly string[];
  readonly stems: readonly string[];
}

/** `at`: when the message was said, in epoch milliseconds. */
export function toTerms(text: string, at: number): Terms {
  const words = splitWords(text);
  const languages = guessLanguages(words);
  const exact: string[] = [...dayTerms(at)];
  const stems: string[] = [];
  for (const word of words) {
    exact.push(...toExactTerms(word));
    if (word.kind !== "word" || !isStopWord(word.text, languages)) stems.push(...stemTerms(word, languages));
  }
  return { exact, stems };
}

const HAN = /^\p{sc=Han}$/u;
const HANGUL = /^\p{sc=Hangul}+$/u;

export function toExactTerms({ kind, text }: Word): readonly string[] {
  switch (kind) {
    case "cjk":
      return HANGUL.test(text) ? [toTerm(text)] : [...text].filter((character) => HAN.test(character));
    case "clusters":
      return splitClusters(text);
    case "word":
      return [foldWord(text), ...toBeginning(foldWord(text))];
    default:
      return [text];
  }
}

/** Related long words begin alike where no stemmer unites them: allergic and allergies, Zahnarzt and Zahnarzttermin. */
const BEGINNING = 6;
const toBeginning = (word: string): readonly string[] => (word.length > BEGINNING ? [`${word.slice(0, BEGINNING)}${OPEN_END}`] : []);
/** A mark that no word contains. */
const OPEN_END = "¬";

/** A compound has no stem of its own. It is found whole, and by its words. */
export function stemTerms({ kind, text }: Word, languages: readonly Language[]): readonly string[] {
  switch (kind) {
    case "cjk":
      return toPairs([...text]);
    case "clusters":
      return toPairs(splitClusters(text));
    case "word":
      return findStems(text, languages).map(toTerm);
    case "compound":
      return [];
    default:
      return [text];
  }
}
