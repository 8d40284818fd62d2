/**
 * The token estimator. It estimates the tokens of a text without a tokenizer, because o200k's tables alone take most of
 * a Worker's memory. It makes one pass over runs of like characters, which is how byte-pair tokenizers split before
 * merging. So JSON, hex, base64, code and CJK come out near the truth, where characters / 4 is off by a factor of 2 to
 * 4 (docs/estimates.md).
 */

/** Approximate tokens of an image at most providers, whatever its bytes (docs/field.md: between pi's 1,200 and codex's 1,844). */
export const IMAGE_TOKENS = 1_600;
/** Tokens that a message adds around its content: role and delimiters. */
export const MESSAGE_OVERHEAD_TOKENS = 4;

/** A word up to this length is about one token. A longer one splits into pieces. */
const WHOLE_WORD = 8;
const WORD_PIECE = 4.5;
const DIGITS_PER_TOKEN = 3;
const PUNCTUATION_PER_TOKEN = 2.2;
/** Weight of a single sign between words without a space, as in `a.b`, `f(x` and `user_id`. It is mostly part of the next word's token. */
const JOINED_SIGN = 0.6;
/** Letters directly after a digit are seldom a word, but part of a hash, an id or base64. Each but the first adds this weight. */
const LETTER_AFTER_DIGIT = 0.3;

/** Characters outside ASCII are counted one by one, not by run. */
const WIDE = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const SPACE = 4;
const NEWLINE = 5;
const PUNCTUATION = 6;

const asciiClass = new Uint8Array(128).fill(PUNCTUATION);
for (let code = 97; code <= 122; code++) asciiClass[code] = LOWER;
for (let code = 65; code <= 90; code++) asciiClass[code] = UPPER;
for (let code = 48; code <= 57; code++) asciiClass[code] = DIGIT;
asciiClass[32] = SPACE;
asciiClass[9] = SPACE;
asciiClass[10] = NEWLINE;
asciiClass[13] = NEWLINE;

/**
 * Tokens of one character outside ASCII, by script: [upper end of a range of code units, tokens], measured against
 * o200k. About 3 where the vocabulary has almost nothing of a script, so that it is read byte by byte.
 */
const scripts: readonly (readonly [end: number, tokens: number])[] = [
  [0x036f, 0.45], // Latin with marks, phonetic letters, combining marks
  [0x03ff, 0.45], // Greek
  [0x058f, 0.33], // Cyrillic, Armenian
  [0x05ff, 0.48], // Hebrew
  [0x06ff, 0.38], // Arabic
  [0x08ff, 2.1], // Syriac, Thaana, N'Ko
  [0x097f, 0.37], // Devanagari
  [0x09ff, 0.4], // Bengali
  [0x0a7f, 0.62], // Gurmukhi
  [0x0aff, 0.42], // Gujarati
  [0x0b7f, 1], // Oriya
  [0x0bff, 0.37], // Tamil
  [0x0c7f, 0.53], // Telugu
  [0x0cff, 0.45], // Kannada
  [0x0d7f, 0.36], // Malayalam
  [0x0dff, 0.62], // Sinhala
  [0x0e7f, 0.43], // Thai
  [0x0eff, 1.9], // Lao
  [0x0fff, 1.5], // Tibetan
  [0x109f, 0.6], // Burmese
  [0x10ff, 0.33], // Georgian
  [0x139f, 2.15], // single Korean letters, Ethiopic
  [0x177f, 3.1], // Cherokee, Canadian syllables, Philippine scripts
  [0x17ff, 0.63], // Khmer
  [0x1cff, 3], // Mongolian, scripts of Indonesia
  [0x1fff, 0.6], // Vietnamese, old Greek
  [0x2bff, 1], // punctuation, arrows, box drawing, symbols
  [0x2dff, 3], // Glagolitic, Coptic, Tifinagh
  [0x2fff, 1],
  [0x30ff, 0.7], // kana and CJK punctuation
  [0x33ff, 1],
  [0x4dff, 2], // rare Han
  [0x9fff, 0.84], // Han
  [0xabff, 3], // Yi, Vai, Javanese
  [0xd7af, 0.67], // Hangul
  [0xd82f, 2.6], // first halves of surrogate pairs: old scripts
  [0xd83f, 1], // first halves of surrogate pairs: emoji
  [0xdbff, 2.6], // first halves of surrogate pairs: rare Han
  [0xdfff, 1], // second halves of surrogate pairs
  [0xf8ff, 2],
  [0xfdff, 1],
  [0xfe0f, 0.5], // marks that make a symbol an emoji
  [0xffff, 1],
];

/** Tokens per block of 16 code units, because every range above ends on such a block. */
const wideTokens = new Float32Array(0x1000).fill(1);
for (let block = 0; block < wideTokens.length; block++) {
  const first = block << 4;
  wideTokens[block] = scripts.find(([end]) => first <= end)?.[1] ?? 1;
}

const isLetter = (kind: number): boolean => kind === LOWER || kind === UPPER;

/** A kind takes three bits. */
const KIND_BITS = 3;
const KIND_MASK = 7;

/**
 * `beside`: the kinds of the runs before and after, packed into one number. A space belongs to the word after it, but
 * not to a number. A newline belongs to the punctuation before it.
 */
function runTokens(kind: number, length: number, beside: number): number {
  const before = beside >> KIND_BITS;
  const next = beside & KIND_MASK;
  switch (kind) {
    case WIDE:
      return 0;
    case LOWER:
      return (length <= WHOLE_WORD ? 1 : 1 + (length - WHOLE_WORD) / WORD_PIECE) + afterDigit(length, before);
    case UPPER:
      return Math.ceil(length / 2.5) + afterDigit(length, before);
    case DIGIT:
      return Math.ceil(length / DIGITS_PER_TOKEN);
    case SPACE:
      return length === 1 && next !== DIGIT ? 0 : 1;
    case NEWLINE:
      return 1;
    default:
      if (length === 1 && before !== SPACE && isLetter(next)) return JOINED_SIGN;
      return Math.max(1, length / PUNCTUATION_PER_TOKEN) - (next === NEWLINE ? 1 : 0);
  }
}

const afterDigit = (length: number, before: number): number => (before === DIGIT ? (length - 1) * LETTER_AFTER_DIGIT : 0);

/** Estimated tokens of `text`. 0 only for the empty text. Linear time, no allocation. */
export function estimateTokens(text: string): number {
  let total = 0;
  let before = WIDE;
  let kind = WIDE;
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const next = code < 128 ? (asciiClass[code] ?? PUNCTUATION) : WIDE;
    if (next === WIDE) total += wideTokens[code >> 4] ?? 1;
    if (next === kind) {
      length++;
    } else if (kind === UPPER && next === LOWER && length === 1) {
      kind = LOWER; // a capital letter begins the word that follows it
      length = 2;
    } else {
      total += runTokens(kind, length, (before << KIND_BITS) | next);
      before = kind;
      kind = next;
      length = 1;
    }
  }
  total += runTokens(kind, length, before << KIND_BITS);
  return text.length === 0 ? 0 : Math.max(1, Math.round(total));
}
