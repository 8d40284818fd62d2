/** Guesses the language of a text for stemming, by script and then by stop words. A wrong guess never loses an exact match. */
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as english } from "@orama/stemmers/english";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { findLemma } from "./irregular";
import { LATIN_LANGUAGES, type Language, STOP_WORDS } from "./stop-words";
import { foldWord, type Word } from "./words";

const stemmers: Readonly<Record<Language, (word: string) => string>> = {
  en: (word) => english(findLemma(word)),
  de: german,
  fr: french,
  es: spanish,
  pt: portuguese,
  it: italian,
  nl: dutch,
  ru: russian,
};

/** Maximum number of words that are examined. */
const SAMPLE = 200;
/** A longer text without a stop word is a list, code or data. A text up to this many words may be a short line in any language. */
const SHORT = 12;
const CYRILLIC = /^\p{sc=Cyrillic}/u;
const LATIN = /^\p{sc=Latin}/u;
/** Maximum number of cached stems. Most words of a conversation repeat. */
const MOST_STEMS = 20_000;
const known = new Map<string, string>();

/** The languages that fit best. Several when they tie. */
export function guessLanguages(words: readonly Word[]): readonly Language[] {
  const scores = new Map<Language, number>();
  let seen = 0;
  for (const { kind, text } of words) {
    // A single letter is often what an apostrophe left over, in several languages.
    if (kind !== "word" || text.length < 2 || ++seen > SAMPLE) continue;
    for (const language of LATIN_LANGUAGES) if (STOP_WORDS[language].has(text)) scores.set(language, (scores.get(language) ?? 0) + 1);
  }
  const best = Math.max(0, ...scores.values());
  if (best > 0) return LATIN_LANGUAGES.filter((language) => scores.get(language) === best);
  return seen > SHORT ? ["en"] : LATIN_LANGUAGES;
}

export function isStopWord(word: string, languages: readonly Language[]): boolean {
  return languages.some((language) => STOP_WORDS[language].has(word)) || (CYRILLIC.test(word) && STOP_WORDS.ru.has(word));
}

/**
 * Folded stems of a word in the given languages, without duplicates. Scripts other than Latin and Cyrillic have no
 * stems, only the folded word.
 */
export function findStems(word: string, languages: readonly Language[]): readonly string[] {
  if (CYRILLIC.test(word)) return [stemIn("ru", word)];
  if (!LATIN.test(word)) return [foldWord(word)];
  const [first, ...others] = languages;
  if (first && others.length === 0) return [stemIn(first, word)];
  return [...new Set(languages.map((language) => stemIn(language, word)))];
}

function stemIn(language: Language, word: string): string {
  const key = `${language} ${word}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const stem = foldWord(stemmers[language](word)) || foldWord(word);
  if (known.size >= MOST_STEMS) known.clear();
  known.set(key, stem);
  return stem;
}
