/**
 * Finds sentences by the words that they share with a query; the embedded model answers this way. A word weighs more if it
 * is rarer among the given sentences. Scripts without spaces are read as pairs of characters, so no dictionary is needed.
 */

/** Words that form a question but do not say what it is about. */
const functionWords = new Set(
  (
    "a an and any are as at be been but by can could did do does for from had has have he her his how i if in is it its me my of on or " +
    "our please say she so tell than that the their them then there they this to us was we were what when where which who whom whose " +
    "why will with would you your about again just now " +
    "der die das den dem ein eine einen und ist sind war wie was wer wo wann warum mein meine ich du er sie es wir mit von zu im in " +
    "el la los las un una y es son era como que quien donde cuando mi yo tu de del en por para con cual " +
    "le les des et est sont qui quoi ou quand mon ma je il elle nous dans du au avec quel quelle"
  ).split(" "),
);

const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+|[\p{L}\p{N}\p{M}_]+/gu;
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

const LETTERS = /[\p{L}\p{N}]/u;
/** Characters around a word that are not part of it. */
const AROUND = /^[^\p{L}\p{N}_#$]+|[^\p{L}\p{N}_]+$/gu;

/** The words that say what `text` is about, as written: without function words, with identifiers whole, each word once. */
export function contentWords(text: string): string[] {
  const words = text
    .split(/\s+/u)
    .map((word) => word.replaceAll(/['’]s(?=$|[^\p{L}])/gu, "").replaceAll(AROUND, ""))
    .filter((word) => LETTERS.test(word) && !functionWords.has(word.toLowerCase()));
  return [...new Set(words)];
}

/** The words of `text`, normalised: without differences of case, width, marks and common endings; CJK as bigrams. */
export function matchWords(text: string): string[] {
  const folded = text
    .normalize("NFKD")
    .replaceAll(/\p{Script=Latin}\p{M}+/gu, (letter) => letter.charAt(0))
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/['’]s\b/g, "");
  const words: string[] = [];
  for (const run of folded.match(WORD) ?? []) {
    if (UNSPACED.test(run)) words.push(...bigrams(run));
    else if (!functionWords.has(run)) words.push(stem(run));
  }
  return words;
}

/** Exact enough to match `booking`, `booked` and `books`. A wrong stem does no harm, because both sides get the same one. */
function stem(word: string): string {
  const single = word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
  return single.length > 5 ? single.replace(/(?:ing|ed|ment)$/, "") : single;
}

function bigrams(run: string): string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Matches the end of a sentence: a stop before a space, a full-width stop, a line's end. `3.5` and `a.ts` stay whole. */
const SENTENCE_END = /(?<=[.!?])\s+|(?<=[。！？])|\n+/u;

export const splitSentences = (text: string): string[] =>
  text
    .split(SENTENCE_END)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");

export interface SentenceMatch {
  readonly sentence: string;
  /** Share of the query's weight that the sentence holds, from 0 to 1. */
  readonly coverage: number;
}

/** Ranks the later of two equally good sentences higher, because the later one is more current. */
const RECENCY_BONUS = 0.05;

/** The sentences that share most with `query`, best first. Linear in the size of `sentences`. */
export function findSentences(query: string, sentences: readonly string[]): readonly SentenceMatch[] {
  const wanted = new Set(matchWords(query));
  const shared = sentences.map((sentence) => new Set(matchWords(sentence).filter((word) => wanted.has(word))));
  const seen = new Map<string, number>();
  for (const words of shared) for (const word of words) seen.set(word, (seen.get(word) ?? 0) + 1);
  const weigh = (words: Iterable<string>): number => {
    let sum = 0;
    for (const word of words) sum += Math.log(1 + (sentences.length + 1) / Math.max(1, seen.get(word) ?? 0));
    return sum;
  };
  const total = weigh(wanted);
  if (total === 0) return [];
  return sentences
    .map((sentence, place) => {
      const coverage = weigh(shared[place] ?? []) / total;
      return { sentence, coverage, rank: coverage * (1 + (RECENCY_BONUS * place) / sentences.length) };
    })
    .filter((match) => match.coverage > 0)
    .sort((one, other) => other.rank - one.rank)
    .map(({ sentence, coverage }) => ({ sentence, coverage }));
}
