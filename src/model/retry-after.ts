/** How long a provider asks to wait, from the headers of its answer or from its body. */

/** A wait is capped at one day: a longer one is a mistake. The caller bounds its waits further. */
const MOST_MS = 24 * 60 * 60 * 1_000;

/**
 * Milliseconds; null when the headers name no wait, or none that can be read. `retry-after-ms` (OpenAI, Azure) goes before
 * `retry-after`, which is seconds or a date (RFC 9110 §10.2.3). A date is compared with the answer's own `date` header where
 * there is one, so that the wait is right even if the two clocks differ.
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

/**
 * Milliseconds from Google's `google.rpc.RetryInfo`, in the details of its error (`{"retryDelay": "27.4s"}`); null when
 * there is none.
 */
export function readRetryDelay(text: string): number | null {
  const delay = /"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d{1,9})?)s"/.exec(text)?.[1];
  return delay === undefined ? null : Math.min(Math.ceil(Number(delay) * 1_000), MOST_MS);
}

/** Wording of OpenAI, Groq, Azure and Google: hours, minutes, then seconds or milliseconds, each of which may be missing. */
const IN_WORDS =
  /\b(?:try again|retry) (?:in|after) (?=\d)(?:(\d{1,4})h)?(?:(\d{1,5})m(?![a-z]))?(?:(\d{1,9}(?:\.\d{1,9})?) ?(ms|s(?:econds?)?)\b)?/i;

/**
 * Milliseconds from words such as "Please try again in 1m12.5s"; null when there are none. An error inside a stream names
 * its wait in no other way.
 */
export function readRetryWords(message: string): number | null {
  const found = IN_WORDS.exec(message);
  if (!found || found.slice(1).every((each) => each === undefined)) return null;
  const [, hours = "0", minutes = "0", rest = "0", unit = "s"] = found;
  const ms = Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(rest) * (unit.toLowerCase() === "ms" ? 1 : 1_000);
  return Math.min(Math.ceil(ms), MOST_MS);
}

/**
 * All three forms of a date begin with the name of a day. Without this check, `Date.parse` would take a bare number for a
 * year.
 */
const IS_DATE = /^\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

function asWait(value: string | null, unit: number): number | null {
  if (value === null || !/^\s*\d{1,12}(?:\.\d{1,6})?\s*$/.test(value)) return null;
  return Math.min(Math.ceil(Number(value) * unit), MOST_MS);
}
