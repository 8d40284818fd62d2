/** Counts the bytes of texts without copying them. Each half of a surrogate pair counts as two of the pair's four bytes. */

/** The most UTF-8 bytes of one UTF-16 unit. */
export const MOST_BYTES_PER_UNIT = 3;

export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) bytes += plainBytes(text.charCodeAt(index));
  return bytes;
}

/** Bytes of a text inside a JSON string, escapes included. */
export function jsonBytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) bytes += escapedBytes(text.charCodeAt(index));
  return bytes;
}

function plainBytes(code: number): number {
  if (code < 0x80) return 1;
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  return code < 0x800 || isHalf ? 2 : MOST_BYTES_PER_UNIT;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `\b`, `\t`, `\n`, `\f` and `\r`. Other control characters become `\u` and four digits. */
const SHORT_ESCAPES = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);
const SHORT = 2;
const WRITTEN_OUT = 6;

function escapedBytes(code: number): number {
  if (code < 0x20) return SHORT_ESCAPES.has(code) ? SHORT : WRITTEN_OUT;
  return code === QUOTE || code === BACKSLASH ? SHORT : plainBytes(code);
}
