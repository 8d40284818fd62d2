/**
 * The one estimator: how many tokens a text is, without a tokenizer (o200k's tables alone take most of a Worker's
 * memory). One pass over runs of like characters, in the way that byte-pair tokenizers split before merging, so that
 * JSON, hex, base64, code and CJK come out near the truth where characters / 4 is off by 2 to 4 (docs/platform-facts.md).
 */

/** An image weighs about this much at most providers, whatever its bytes (docs/field.md: between pi's 1,200 and codex's 1,844). */
export const IMAGE_TOKENS = 1_600;
/** What a message adds around its content: role and delimiters. */
export const MESSAGE_OVERHEAD_TOKENS = 4;

/** A word up to this long is about one token; what is longer splits into pieces. */
const WHOLE_WORD = 8;
const WORD_PIECE = 4.5;
const DIGITS_PER_TOKEN = 3;
const PUNCTUATION_PER_TOKEN = 2.2;

/** Outside ASCII: counted by character, not by run. */
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

/** Tokens of one character outside ASCII, by script. Upper ends of code unit ranges, measured against o200k. */
const scripts: readonly (readonly [end: number, tokens: number])[] = [
  [0x024f, 0.45], // Latin with marks
  [0x058f, 0.33], // Greek, Cyrillic, Armenian
  [0x06ff, 0.36], // Hebrew, Arabic
  [0x0dff, 0.45], // scripts of India
  [0x0fff, 0.5], // Thai, Lao, Tibetan
  [0x1fff, 0.6],
  [0x2fff, 1], // punctuation, arrows, box drawing
  [0x30ff, 0.68], // kana and CJK punctuation
  [0xabff, 0.82], // Han
  [0xd7af, 0.62], // Hangul
  [0xdfff, 1.35], // surrogates: emoji and rare Han, two units each
  [0xffff, 1],
];

/** By sixteens: every range above ends on one. */
const wideTokens = new Float32Array(0x1000).fill(1);
for (let block = 0; block < wideTokens.length; block++) {
  const first = block << 4;
  wideTokens[block] = scripts.find(([end]) => first <= end)?.[1] ?? 1;
}

/** `next`: the kind of what follows. A space joins the word after it, but not a number. */
function runTokens(kind: number, length: number, next: number): number {
  switch (kind) {
    case WIDE:
      return 0;
    case LOWER:
      return length <= WHOLE_WORD ? 1 : 1 + (length - WHOLE_WORD) / WORD_PIECE;
    case UPPER:
      return Math.ceil(length / 2.5);
    case DIGIT:
      return Math.ceil(length / DIGITS_PER_TOKEN);
    case SPACE:
      return length === 1 && next !== DIGIT ? 0 : 1;
    case NEWLINE:
      return 1;
    default:
      return Math.max(1, length / PUNCTUATION_PER_TOKEN);
  }
}

/** Estimated tokens of `text`; 0 only for the empty text. Linear, no allocation. */
export function estimateTokens(text: string): number {
  let total = 0;
  let kind = WIDE;
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const next = code < 128 ? (asciiClass[code] ?? PUNCTUATION) : WIDE;
    if (next === WIDE) total += wideTokens[code >> 4] ?? 1;
    if (next === kind) {
      length++;
    } else if (kind === UPPER && next === LOWER && length === 1) {
      kind = LOWER; // a capital begins the word that follows it
      length = 2;
    } else {
      total += runTokens(kind, length, next);
      kind = next;
      length = 1;
    }
  }
  total += runTokens(kind, length, WIDE);
  return text.length === 0 ? 0 : Math.max(1, Math.round(total));
}
