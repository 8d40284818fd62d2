/**
 * Normalises the text of a provider's error: lower case, plain quotes and spaces, numbers without separators. Providers,
 * gateways and locales differ in these, and the differences mean nothing. Takes linear time, on at most `FAILURE_TEXT_LIMIT`
 * UTF-16 units.
 */

/** Maximum length of an error's text that is read, in UTF-16 units. */
export const FAILURE_TEXT_LIMIT = 4_096;

/** Typographic quotes, as in `‘max_tokens’` and `“max_tokens”`. */
const SINGLE_QUOTES = /[\u2018\u2019\u201a\u201b\u2032\u00b4]/g;
const DOUBLE_QUOTES = /[\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb]/g;
const DASHES = /[\u2010-\u2015\u2212]/g;
const SPACES = /\\[nrt]|[\s\u200b\u2060\ufeff]+/g;
/** Digits in groups of three: `200,000`, `200.000`, `200 000`, `200_000`, `200'000`. */
const GROUPED = /(?<![\w.,'])[1-9]\d{0,2}(?:([,._' ])\d{3})(?:\1\d{3}){0,3}(?![\d]|[.,_']\d)/g;
/** Thousands: `128k tokens`, `a context window of 128K`. The end of a model's name (`-16k`) does not match. */
const THOUSANDS = /(?<![\w.-])(\d{1,4})k\b(?!-)/g;

export function normalizeFailureText(text: string): string {
  return text
    .slice(0, FAILURE_TEXT_LIMIT)
    .normalize("NFKC")
    .slice(0, FAILURE_TEXT_LIMIT)
    .toLowerCase()
    .replaceAll(SINGLE_QUOTES, "'")
    .replaceAll(DOUBLE_QUOTES, '"')
    .replaceAll(DASHES, "-")
    .replaceAll(SPACES, " ")
    .replaceAll("\\", "")
    .replaceAll(GROUPED, (digits) => digits.replaceAll(/\D/g, ""))
    .replaceAll(THOUSANDS, "$1000");
}
