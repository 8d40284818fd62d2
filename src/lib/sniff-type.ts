/**
 * Finds a file's media type by its first bytes, whatever a client claims. The patterns are those of the WHATWG MIME
 * Sniffing Standard (https://mimesniff.spec.whatwg.org/): sections 6.1 for images, 7.1 for PDF and 5.1 for bytes that
 * no text has.
 */

/** The number of first bytes that the patterns look at: the standard's resource header. */
export const SNIFFED_BYTES = 1_445;

/** A byte of a pattern. Null matches any byte. */
type Pattern = readonly (number | null)[];

const ascii = (text: string): number[] => [...text].map((character) => character.charCodeAt(0));
const ANY_LENGTH: Pattern = [null, null, null, null];

const PATTERNS: readonly (readonly [type: string, pattern: Pattern])[] = [
  ["image/png", [0x89, ...ascii("PNG\r\n"), 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", ascii("GIF87a")],
  ["image/gif", ascii("GIF89a")],
  ["image/webp", [...ascii("RIFF"), ...ANY_LENGTH, ...ascii("WEBPVP")]],
  ["application/pdf", ascii("%PDF-")],
];

const matches = (head: Uint8Array, pattern: Pattern): boolean =>
  head.length >= pattern.length && pattern.every((byte, at) => byte === null || head[at] === byte);

/** Control characters that no text has: all but tab, line feed, form feed, carriage return and escape. */
const isBinaryByte = (byte: number): boolean =>
  byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f);

/** `text/plain` for anything that may be text in an encoding that extends ASCII. Null when the type is not known. */
export function sniffType(head: Uint8Array): string | null {
  const found = PATTERNS.find(([, pattern]) => matches(head, pattern));
  if (found) return found[0];
  return head.subarray(0, SNIFFED_BYTES).some(isBinaryByte) ? null : "text/plain";
}
