/** Guesses the language of a text for stemming, by script and then by stop words. A wrong guess never loses an exact match. */
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as english } from "@orama/stemmers/english";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { LATIN_LANGUAGES, type Language, STOP_WORDS } from "./stop-words";
import { foldWord, type Word } from "./words";

/**
 * Irregular English forms and synonyms that no stemmer unites: a question asks "When did she buy it", and the answer
 * says "bought". Each entry of the table: the word, then its other forms.
 */
const TABLE = `
be was were been is are am;become became;begin began begun;bite bit bitten;blow blew blown;break broke broken;bring brought;build built;
burn burnt;buy bought;catch caught;choose chose chosen;come came;deal dealt;dig dug;do did done;draw drew drawn;dream dreamt;drink drank drunk;
drive drove driven;eat ate eaten;fall fell fallen;feed fed;feel felt;fight fought;find found;fly flew flown;forget forgot forgotten;
forgive forgave forgiven;freeze froze frozen;get got gotten;give gave given;go went gone;grow grew grown;hang hung;hear heard;hide hid hidden;
hold held;keep kept;know knew known;lay laid;lead led;learn learnt;leave left;lend lent;lose lost;make made;mean meant;meet met;pay paid;
ride rode ridden;ring rang rung;rise rose risen;run ran;say said;see saw seen;seek sought;sell sold;send sent;shake shook shaken;shine shone;
shoot shot;show shown;shrink shrank shrunk;sing sang sung;sink sank sunk;sit sat;sleep slept;slide slid;speak spoke spoken;spend spent;
spin spun;stand stood;steal stole stolen;stick stuck;strike struck;swear swore sworn;sweep swept;swim swam swum;swing swung;take took taken;
teach taught;tear tore torn;tell told;think thought;throw threw thrown;understand understood;wake woke woken;wear wore worn;win won;wind wound;
write wrote written;child children kid kids;man men;woman women;foot feet;tooth teeth;mouse mice;person people;wife wives;life lives;knife knives;
leaf leaves;mother mom mum mommy mama;father dad daddy papa;photo photograph picture pic;movie film;bike bicycle;phone telephone;
tv television;fridge refrigerator;doctor dr;apartment flat;holiday vacation;favorite favourite;color colour;one 1;two 2;three 3;four 4;five 5;
six 6;seven 7;eight 8;nine 9;ten 10;eleven 11;twelve 12`;

const lemmas: ReadonlyMap<string, string> = new Map(
  TABLE.trim()
    .split(/;\s*/)
    .flatMap((line) => {
      const [lemma = "", ...forms] = line.split(" ");
      return forms.map((form): [string, string] => [form, lemma]);
    }),
);

/** The word that `word` is a form of. `word` itself if the table has none. */
const findLemma = (word: string): string => lemmas.get(word) ?? word;

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
