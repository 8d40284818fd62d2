/** Turns a question into a query of the index: few distinct terms, without stop words. */
import { askedDays } from "./dates";
import { guessLanguages, isStopWord } from "./languages";
import { isFunctionPair, type Language } from "./stop-words";
import { stemTerms, toExactTerms } from "./terms";
import { foldWord, splitWords, toTerm, type Word } from "./words";

/** Maximum UTF-16 units of a question that are read, and maximum number of terms. */
const READ_UNITS = 4_000;
const MOST_TERMS = 40;

export interface RecallQuery {
  readonly exact: readonly string[];
  readonly stems: readonly string[];
  /** Words as they occur in a text, folded: for snippets, and to find words that stand together. */
  readonly words: readonly string[];
  readonly languages: readonly Language[];
  /** Length of the question in UTF-16 units. */
  readonly length: number;
  /** The kind of value that the question asks for, if it shows one. */
  readonly wants: "time" | "number" | null;
}

const ASKS_TIME =
  /\b(?:when|what (?:day|date|time|year|month)|wann|quand|cuándo|quando|wanneer|когда)\b|什么时候|几点|哪天|何时|いつ|何時/iu;
const ASKS_NUMBER =
  /\b(?:how (?:many|much|long|old|often)|wie ?viele?|wie (?:lange|alt|oft)|combien|cuánt[oa]s?|quant[oaie]s?|hoeveel|сколько)\b|多少|几个|いくつ|いくら|何人/iu;

/** The query of a question. If it contains no terms, there is nothing to search for. */
export function toQuery(question: string): RecallQuery {
  const text = question.slice(0, READ_UNITS);
  const words = splitWords(text);
  const languages = guessLanguages(words);
  const telling = words.filter((word) => tells(word, languages));
  const asked = telling.length > 0 ? telling : words;
  const exact = unique([...asked.flatMap(askedExact), ...askedDays(text)]);
  const stems = unique(asked.flatMap((word) => askedStems(word, languages)));
  const wants = ASKS_TIME.test(text) ? "time" : ASKS_NUMBER.test(text) ? "number" : null;
  return { exact, stems, words: unique(asked.map(({ text: word }) => foldWord(word))), languages, length: text.length, wants };
}

const unique = (terms: readonly string[]): readonly string[] => [...new Set(terms)].slice(0, MOST_TERMS);

/** A single letter is mostly what an apostrophe left over. */
const tells = ({ kind, text }: Word, languages: readonly Language[]): boolean =>
  kind !== "word" || !(isStopWord(text, languages) || /^[a-z]$/.test(text));

const askedExact = (word: Word): readonly string[] => {
  const terms = toExactTerms(word).map(toTerm);
  return word.kind === "cjk" ? terms.filter((term) => !isFunctionPair(term)) : terms;
};

function askedStems(word: Word, languages: readonly Language[]): readonly string[] {
  const terms = stemTerms(word, languages);
  if (word.kind !== "cjk") return terms;
  const telling = terms.filter((term) => !isFunctionPair(term));
  return telling.length > 0 ? telling : terms;
}
