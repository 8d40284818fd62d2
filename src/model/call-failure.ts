/**
 * What went wrong with a call, as `ModelFailure`: of a provider's answer, of an event inside its stream, of what was
 * thrown on the way. Nothing of an error leaves here but its class: its message may hold the prompt.
 */
import type { MissingKey, ModelChunk, ModelFailure } from "../app/ports";
import { MAX_REQUEST_BYTES } from "../context/request-bytes";
import { MOST_BYTES_PER_UNIT, utf8Bytes } from "../lib/text-bytes";
import { toModelFailure } from "./classify-failure";
import { describeError, readErrorText } from "./error-body";
import { readRetryAfter, readRetryDelay, readRetryWords } from "./retry-after";
import type { ToEvents } from "./whole-answers";
import { asObject } from "./wire-chunk";

/** The stream ended too early, or held more than a reply may. */
export const CUT_OFF: ModelFailure = { kind: "unavailable", status: null };
export const ABORTED: ModelChunk = { type: "failure", failure: { kind: "aborted", status: null } };

/** No key to call with: nothing was sent, and no provider said so. */
const NO_KEY: ModelFailure = { kind: "auth", status: null };

/** Why a request of that body is not sent: it is larger than any may be; null: it is not. Bytes are counted where it may be that many. */
export function refuseLarge(body: string): ModelFailure | null {
  if (body.length * MOST_BYTES_PER_UNIT <= MAX_REQUEST_BYTES) return null;
  const floor = utf8Bytes(body);
  return floor <= MAX_REQUEST_BYTES ? null : { kind: "payload", status: null, bytes: { floor, limit: MAX_REQUEST_BYTES } };
}

/** Hands the key on, or says why the model is not called; null: it may be. */
export function withKey(key: string | MissingKey | null, set: (key: string | null) => void): ModelFailure | null {
  if (typeof key === "object" && key !== null) return NO_KEY;
  set(key);
  return null;
}

/** A whole answer at most, in UTF-16 units: as much as one line of a stream. */
const MAX_WHOLE_UNITS = 2_000_000;

const isJson = ({ headers }: Response): boolean => headers.get("content-type")?.toLowerCase().startsWith("application/json") ?? false;

/**
 * The answer as a stream, or why there is none. Some were asked for a stream and give the whole reply as one JSON document; so do some
 * gateways report an error under status 200. `signal` ends the wait for a body that does not end.
 */
export async function openReplyStream(response: Response, toEvents: ToEvents, signal: AbortSignal): Promise<Response | ModelFailure> {
  if (!response.ok) return toAnsweredFailure(response, await readErrorText(response, signal));
  if (!isJson(response)) return response.body ? response : { kind: "unavailable", status: response.status };
  const text = await readErrorText(response, signal, MAX_WHOLE_UNITS);
  const events = toEvents(parseJson(text));
  return events ? streamed(events) : toAnsweredFailure(response, text);
}

const streamed = (events: readonly object[]): Response =>
  new Response([...events.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function toAnsweredFailure({ status, headers }: Response, text: string): ModelFailure {
  const error = describeError(text);
  const failure = toModelFailure({ status, ...error });
  const wait = readRetryAfter(headers, Date.now()) ?? readRetryDelay(text) ?? readRetryWords(error.message);
  return { ...failure, ...(wait === null ? {} : { retry_after_ms: wait }) };
}

/** An error that came as an event, where the HTTP status was 200; a code that is a status stands for it. */
export function toEventFailure(text: string): ModelFailure {
  const error = describeError(text);
  const code = Number(error.code);
  const status = Number.isInteger(code) && code >= 400 && code < 600 ? code : null;
  const wait = readRetryDelay(text) ?? readRetryWords(error.message);
  return { ...toModelFailure({ status, ...error }), ...(wait === null ? {} : { retry_after_ms: wait }) };
}

/** Of OpenAI's `response.failed`, the error stands inside the response. */
export function eventText(event: unknown): string {
  const inner = asObject(asObject(event)?.response)?.error;
  return JSON.stringify(inner === undefined || inner === null ? event : { error: inner }) ?? "";
}

export function toThrownFailure(error: unknown, signal: AbortSignal): ModelFailure {
  if (signal.aborted) return { kind: "aborted", status: null };
  const timedOut = error instanceof Error && error.name === "TimeoutError";
  return { kind: timedOut ? "timeout" : "unavailable", status: null };
}
