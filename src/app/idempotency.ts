/**
 * `Idempotency-Key`: does work once for each key, and returns its outcome again for a day. A request without a key, whose client counts its
 * tries, is done once for all of them.
 */
import { err, ok, type Result } from "../lib/result";
import type { Idempotency } from "./session-api";

/** How long a request's key is remembered, in milliseconds: the 24 hours that the API promises. */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1_000;

/** Outcomes by key, as a session's or a tenant's object stores them. `now` and `expires_at`: epoch milliseconds. */
export interface OutcomeStore<T> {
  /** Null when the key is new, or has expired. */
  find(key: string, now: number): { readonly digest: string; readonly outcome: T } | null;
  /** Replaces an outcome that has expired. */
  keep(idempotency: Idempotency, kept: { readonly outcome: T; readonly expires_at: number; readonly now: number }): void;
}

interface OnceOutcome<T> {
  readonly outcome: T;
  /** The key was used before, and this is the first request's outcome. */
  readonly replayed: boolean;
}

/** Call it in the transaction of the work: the work and its key are stored together or not at all. Refused work stores no key. */
export function runOnce<T, E>(
  outcomes: OutcomeStore<T>,
  { idempotency, now }: { readonly idempotency: Idempotency | null; readonly now: number },
  work: () => Result<T, E>,
): Result<OnceOutcome<T>, E | { readonly code: "idempotency_conflict" }> {
  const seen = idempotency && outcomes.find(idempotency.key, now);
  if (seen && seen.digest !== idempotency.digest) return err({ code: "idempotency_conflict" });
  if (seen) return ok({ outcome: seen.outcome, replayed: true });
  const done = work();
  if (!done.ok) return done;
  if (idempotency) outcomes.keep(idempotency, { outcome: done.value, expires_at: now + IDEMPOTENCY_TTL_MS, now });
  return ok({ outcome: done.value, replayed: false });
}

/** One of the times that a client sends a request, whose key is made of the request itself. `id` tells it from every other. */
type Attempt = NonNullable<Idempotency["attempt"]>;

/** The attempt that was accepted, as a session's object stores it. */
export interface KeptAttempt<T> {
  readonly outcome: T;
  readonly id: string;
  readonly tries: number;
  /** When it was accepted, in epoch milliseconds. */
  readonly at: number;
}

/** How long after an answer its client may still repeat the request, for each try: the SDKs give up after ten minutes, and wait for seconds. */
const PATIENCE_MS = 11 * 60 * 1_000;

interface Attempting<T> {
  readonly idempotency: Idempotency;
  readonly attempt: Attempt;
  readonly now: number;
  /** When the answer was complete, in epoch milliseconds. Null: it is not yet. */
  readonly readEnd: (kept: KeptAttempt<T>) => number | null;
}

/** As `runOnce`, for the attempts of one request. The newest request with the same words takes the place of the one before. */
export function runAttempt<T, E>(
  kept: OutcomeStore<KeptAttempt<T>>,
  { idempotency, attempt, now, readEnd }: Attempting<T>,
  work: () => Result<T, E>,
): Result<OnceOutcome<T>, E> {
  const seen = kept.find(idempotency.key, now)?.outcome;
  if (seen && isRepeated(seen, attempt, now - (readEnd(seen) ?? now))) return ok({ outcome: seen.outcome, replayed: true });
  const done = work();
  if (!done.ok) return done;
  const { id, tries } = attempt;
  kept.keep(idempotency, { outcome: { outcome: done.value, id, tries, at: now }, expires_at: now + IDEMPOTENCY_TTL_MS, now });
  return ok({ outcome: done.value, replayed: false });
}

/** Whether both are attempts of one request. `since`: how long ago the answer to the kept one was complete. */
function isRepeated<T>(kept: KeptAttempt<T>, { id, tries, arrived_at }: Attempt, since: number): boolean {
  if (kept.id === id) return true;
  if (tries > 0) return since <= tries * PATIENCE_MS;
  // The first attempt waited in line, and its repetition came before it.
  return kept.tries > 0 && kept.at >= arrived_at;
}
