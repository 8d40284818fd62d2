/** `Idempotency-Key`: does work once for each key, and returns its outcome again for a day. */
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
