/** Splits text for search: words of any script, and the identifiers that programmers and machines write. */

/**
 * `compound`: several words joined by signs, such as a path, an address, a date or an identifier. `cjk`, `clusters`:
 * text in scripts without spaces.
 */
export type Word =
  | { readonly kind: "word" | "number" | "symbol" | "compound"; readonly text: string }
  | { readonly kind: "cjk" | "clusters"; readonly text: string };

/** Maximum length of a term. The beginning of a longer one identifies it well enough. */
const MAX_TERM_UNITS = 64;
/** Replaces the signs that join a compound, because the index splits at every ASCII sign. */
const JOINT = "·";

const TOKEN = /[\p{L}\p{N}\p{M}]+(?:(?:[._@:/\\#+-]+|(?<=\d),(?=\d))[\p{L}\p{N}\p{M}]+)*|\p{Extended_Pictographic}/gu;
const CJK = "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\u30fc";
const CLUSTERS = "\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}";
const SCRIPTS = new RegExp(`[${CJK}]+|[${CLUSTERS}]+|[^${CJK}${CLUSTERS}]+`, "gu");
const IS_CJK = new RegExp(`^[${CJK}]`, "u");
const IS_CLUSTERS = new RegExp(`^[${CLUSTERS}]`, "u");
const JOINERS = /[._@:/\\#+,-]+/u;
const JOINER = /[._@:/\\#+,-]/;
/** Word boundaries inside a word, as in `camelCase` and `HTTPServer`. */
const HUMPS = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const ASCII_WORD = /^[a-z]+$/;
const FOLDED_LETTERS = /[\u00c0-\u024f]|[\u0300-\u036f]|[\u0370-\u04ff]|[\u1e00-\u1fff]/;

/** Removes case, and marks on Latin, Greek and Cyrillic letters. Marks of other scripts are part of the word. */
export function foldWord(text: string): string {
  const lower = text.toLowerCase();
  if (!FOLDED_LETTERS.test(lower)) return lower;
  return lower
    .normalize("NFD")
    .replace(/[\u0300-\u036f]+/g, "")
    .normalize("NFC")
    .replaceAll("ß", "ss")
    .replaceAll("ø", "o")
    .replaceAll("æ", "ae");
}

export const toTerm = (text: string): string => (text.length > MAX_TERM_UNITS ? text.slice(0, MAX_TERM_UNITS) : text);

/** The words in the order of the text, lower case and not folded. A compound comes before the words that it consists of. */
export function splitWords(text: string): Word[] {
  const found: Word[] = [];
  for (const [token] of text.normalize("NFKC").matchAll(TOKEN)) addToken(found, token);
  return found;
}

function addToken(found: Word[], token: string): void {
  if (ASCII_WORD.test(token)) {
    found.push({ kind: "word", text: toTerm(token) });
    return;
  }
  const parts = JOINER.test(token) ? token.split(JOINERS) : [token];
  if (parts.length > 1) found.push({ kind: "compound", text: toTerm(parts.map(foldWord).join(JOINT)) });
  for (const part of parts) for (const [run] of part.matchAll(SCRIPTS)) addRun(found, run);
}

function addRun(found: Word[], run: string): void {
  if (IS_CJK.test(run)) found.push({ kind: "cjk", text: run });
  else if (IS_CLUSTERS.test(run)) found.push({ kind: "clusters", text: run });
  else addWord(found, run);
}

function addWord(found: Word[], run: string): void {
  const humps = run.split(HUMPS);
  if (humps.length > 1) found.push({ kind: "compound", text: toTerm(foldWord(run)) });
  for (const hump of humps) found.push({ kind: toWordKind(hump), text: toTerm(hump.toLowerCase()) });
}

function toWordKind(text: string): "word" | "number" | "symbol" {
  if (/^\p{N}/u.test(text)) return "number";
  return /^\p{L}/u.test(text) ? "word" : "symbol";
}

/** Characters with the marks that belong to them. */
export const splitClusters = (text: string): string[] => text.match(/\P{M}\p{M}*|\p{M}+/gu) ?? [];

/** Overlapping pairs. A single unit has none. */
export function toPairs(units: readonly string[]): string[] {
  return units.slice(1).map((unit, index) => (units[index] ?? "") + unit);
}
