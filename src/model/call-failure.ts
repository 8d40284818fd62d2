/**
 * Converts what went wrong with a call to `ModelFailure`: a provider's error answer, an error event inside its stream, or a
 * thrown error. A provider's message may hold the prompt: it is content, and a thrown error's message never leaves this module.
 */
import type { MissingKey, ModelFailure, ModelStreamPart } from "../app/ports";
import { MAX_REQUEST_BYTES } from "../context/model-quirks";
import { MOST_BYTES_PER_UNIT, utf8Bytes } from "../lib/text-bytes";
import { toModelFailure } from "./classify-failure";
import { describeError } from "./error-body";
import { readRetryAfter, readRetryDelay, readRetryWords } from "./retry-after";
import { asObject } from "./wire-chunk";

/** The stream ended too early, or exceeded the limits of a reply. */
export const CUT_OFF: ModelFailure = { kind: "unavailable", status: null };
export const ABORTED: ModelStreamPart = { type: "failure", failure: { kind: "aborted", status: null } };

const WORD = /[^\s"'`,;()<>[\]{}]{4,}/g;
/** A word with so much of the key's beginning or end is a part of it. Providers shorten the key that they repeat: `sk-ab***wxyz`. */
const KEY_ENDS = 4;

/** Hides the call's key in the provider's message: an error may repeat the key that it refused, whole or in part. */
export function hideCallKey(part: ModelStreamPart, key: string | null): ModelStreamPart {
  if (part.type !== "failure" || part.failure.message === undefined || !key) return part;
  const begins = key.slice(0, KEY_ENDS);
  const ends = key.slice(-KEY_ENDS);
  const hide = (word: string): string => (word.includes(begins) || word.includes(ends) ? "[secret:key]" : word);
  const message = part.failure.message.replaceAll(key, "[secret:key]").replaceAll(WORD, hide);
  return { ...part, failure: { ...part.failure, message } };
}

/** There is no key to call with. Nothing was sent, so there is no status. */
const NO_KEY: ModelFailure = { kind: "auth", status: null };

/**
 * The failure of a request whose body exceeds the maximum; null when it does not. The bytes are counted only if the length
 * makes an excess possible.
 */
export function refuseLarge(body: string): ModelFailure | null {
  if (body.length * MOST_BYTES_PER_UNIT <= MAX_REQUEST_BYTES) return null;
  const floor = utf8Bytes(body);
  return floor <= MAX_REQUEST_BYTES ? null : { kind: "payload", status: null, bytes: { floor, limit: MAX_REQUEST_BYTES } };
}

/** Passes the key on. Returns a failure when there is none to call with; null when the model may be called. */
export function withKey(key: string | MissingKey | null, set: (key: string | null) => void): ModelFailure | null {
  if (typeof key === "object" && key !== null) return NO_KEY;
  set(key);
  return null;
}

/** An error as an answer of its own. `text`: the beginning of its body. */
export function toAnsweredFailure({ status, headers }: Response, text: string): ModelFailure {
  const error = describeError(text);
  const failure = toModelFailure({ status, ...error });
  const wait = readRetryAfter(headers, Date.now()) ?? readRetryDelay(text) ?? readRetryWords(error.message);
  return { ...failure, ...(wait === null ? {} : { retry_after_ms: wait }) };
}

/** An error that came as an event, under HTTP status 200. If its code is an HTTP status, it is used as the status. */
export function toEventFailure(text: string): ModelFailure {
  const error = describeError(text);
  const code = Number(error.code);
  const status = Number.isInteger(code) && code >= 400 && code < 600 ? code : null;
  const wait = readRetryDelay(text) ?? readRetryWords(error.message);
  return { ...toModelFailure({ status, ...error }), ...(wait === null ? {} : { retry_after_ms: wait }) };
}

/** The event as JSON text. In OpenAI's `response.failed`, the error is inside the response. */
export function eventText(event: unknown): string {
  const inner = asObject(asObject(event)?.response)?.error;
  return JSON.stringify(inner === undefined || inner === null ? event : { error: inner }) ?? "";
}

export function toThrownFailure(error: unknown, signal: AbortSignal): ModelFailure {
  if (signal.aborted) return { kind: "aborted", status: null };
  const timedOut = error instanceof Error && error.name === "TimeoutError";
  return { kind: timedOut ? "timeout" : "unavailable", status: null };
}
