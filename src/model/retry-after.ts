/** How long a provider asks to wait, from the headers of its answer, or from its body where it says it there. */

/** Longer than a day is no wait but a mistake; what waits is bounded by the caller anyway. */
const MOST_MS = 24 * 60 * 60 * 1_000;

/**
 * Milliseconds; null: it did not say, or not in a way that can be read. `retry-after-ms` (OpenAI, Azure) goes before
 * `retry-after`, which is seconds or a date (RFC 9110 §10.2.3). A date is counted from the provider's own clock where
 * the answer tells it, so that a clock that is off here or there changes nothing.
 */
export function readRetryAfter(headers: Headers, now: number): number | null {
  const ms = asWait(headers.get("retry-after-ms"), 1);
  if (ms !== null) return ms;
  const value = headers.get("retry-after");
  const seconds = asWait(value, 1_000);
  if (seconds !== null || value === null) return seconds;
  const until = IS_DATE.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(until)) return null;
  const sent = Date.parse(headers.get("date") ?? "");
  return Math.min(Math.max(0, until - (Number.isNaN(sent) ? now : sent)), MOST_MS);
}

/** Google's `google.rpc.RetryInfo`, among the details of its error: `{"retryDelay": "27.4s"}`. */
export function readRetryDelay(text: string): number | null {
  const delay = /"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d{1,9})?)s"/.exec(text)?.[1];
  return delay === undefined ? null : Math.min(Math.ceil(Number(delay) * 1_000), MOST_MS);
}

/** OpenAI, Groq, Azure, Google: hours, minutes, then seconds or milliseconds, of which some are left out. */
const IN_WORDS =
  /\b(?:try again|retry) (?:in|after) (?=\d)(?:(\d{1,4})h)?(?:(\d{1,5})m(?![a-z]))?(?:(\d{1,9}(?:\.\d{1,9})?) ?(ms|s(?:econds?)?)\b)?/i;

/** What some say in words: "Please try again in 1m12.5s". Of an error inside a stream it is all there is. Null: no such words. */
export function readRetryWords(message: string): number | null {
  const found = IN_WORDS.exec(message);
  if (!found || found.slice(1).every((each) => each === undefined)) return null;
  const [, hours = "0", minutes = "0", rest = "0", unit = "s"] = found;
  const ms = Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(rest) * (unit.toLowerCase() === "ms" ? 1 : 1_000);
  return Math.min(Math.ceil(ms), MOST_MS);
}

/** Begins with the name of a day, as all three forms do: `Date.parse` takes a bare number for a year. */
const IS_DATE = /^\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

function asWait(value: string | null, unit: number): number | null {
  if (value === null || !/^\s*\d{1,12}(?:\.\d{1,6})?\s*$/.test(value)) return null;
  return Math.min(Math.ceil(Number(value) * unit), MOST_MS);
}
