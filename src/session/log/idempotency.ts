/** What a client's idempotency key led to, kept for a day: the same key and body get the first outcome again. */
import { IDEMPOTENCY_TTL_MS } from "../../app/idempotency";
import type { Idempotency } from "../../app/session-api";
import type { Accepted } from "../../app/session-views";
import type { Sql } from "./sql";

/** Expired keys that one new key takes along: more than come, so that none is left for long. */
const EXPIRED_AT_ONCE = 8;

export type Seen<T> = { readonly kind: "new" } | { readonly kind: "seen"; readonly outcome: T } | { readonly kind: "conflict" };

/** `T` is what was remembered under a digest of the same route: another route's key is a conflict. */
export function recallOutcome<T>(sql: Sql, asked: Idempotency | null, now: number): Seen<T> {
  if (!asked) return { kind: "new" };
  const row = sql.all<{ digest: string; outcome: string }>(
    "SELECT digest, outcome FROM idempotency WHERE key = ? AND expires_at > ?",
    asked.key,
    now,
  )[0];
  if (!row) return { kind: "new" };
  return row.digest === asked.digest ? { kind: "seen", outcome: JSON.parse(row.outcome) as T } : { kind: "conflict" };
}

/** In the transaction of what it remembers, right after the key was looked up: a row that has it still can only be an expired one. */
export function rememberOutcome<T>(sql: Sql, asked: Idempotency | null, done: { readonly outcome: T; readonly now: number }): void {
  if (!asked) return;
  sql.all("DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE expires_at <= ? LIMIT ?)", done.now, EXPIRED_AT_ONCE);
  const values = [asked.key, asked.digest, JSON.stringify(done.outcome), done.now + IDEMPOTENCY_TTL_MS] as const;
  sql.all(
    `INSERT INTO idempotency (key, digest, outcome, expires_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET digest = excluded.digest, outcome = excluded.outcome, expires_at = excluded.expires_at`,
    ...values,
  );
}

export type Remembered = { readonly kind: "new" } | { readonly kind: "seen"; readonly accepted: Accepted } | { readonly kind: "conflict" };

/** A message's acknowledgement. */
export function recall(sql: Sql, asked: Idempotency | null, now: number): Remembered {
  const seen = recallOutcome<Accepted>(sql, asked, now);
  return seen.kind === "seen" ? { kind: "seen", accepted: { ...seen.outcome, replayed: true } } : seen;
}

export const remember = (sql: Sql, asked: Idempotency | null, done: { readonly accepted: Accepted; readonly now: number }): void =>
  rememberOutcome(sql, asked, { outcome: done.accepted, now: done.now });
