/** What a client's idempotency key led to, kept for a day: the same key and body get the first outcome again. */
import type { Accepted, Idempotency } from "../../app/session-api";
import { hasSchema } from "./log-schema";
import type { Sql } from "./sql";

export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1_000;

/** Expired keys that one new key takes along: more than come, so that none is left for long. */
const EXPIRED_AT_ONCE = 8;

export type Seen<T> = { readonly kind: "new" } | { readonly kind: "seen"; readonly outcome: T } | { readonly kind: "conflict" };

/** `T` is what was remembered under a digest of the same route: another route's key is a conflict. */
export function recallOutcome<T>(sql: Sql, asked: Idempotency | null, now: number): Seen<T> {
  if (!asked || !hasSchema(sql)) return { kind: "new" };
  const row = sql.all<{ digest: string; outcome: string }>(
    "SELECT digest, outcome FROM idempotency WHERE key = ? AND expires_at > ?",
    asked.key,
    now,
  )[0];
  if (!row) return { kind: "new" };
  return row.digest === asked.digest ? { kind: "seen", outcome: JSON.parse(row.outcome) as T } : { kind: "conflict" };
}

/** In the transaction of what it remembers. */
export function rememberOutcome<T>(sql: Sql, asked: Idempotency | null, done: { readonly outcome: T; readonly now: number }): void {
  if (!asked) return;
  sql.all("DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE expires_at <= ? LIMIT ?)", done.now, EXPIRED_AT_ONCE);
  const values = [asked.key, asked.digest, JSON.stringify(done.outcome), done.now + IDEMPOTENCY_TTL_MS] as const;
  sql.all("INSERT INTO idempotency (key, digest, outcome, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING", ...values);
}

export type Remembered = { readonly kind: "new" } | { readonly kind: "seen"; readonly accepted: Accepted } | { readonly kind: "conflict" };

/** A message's acknowledgement. */
export function recall(sql: Sql, asked: Idempotency | null, now: number): Remembered {
  const seen = recallOutcome<Accepted>(sql, asked, now);
  return seen.kind === "seen" ? { kind: "seen", accepted: { ...seen.outcome, replayed: true } } : seen;
}

export const remember = (sql: Sql, asked: Idempotency | null, done: { readonly accepted: Accepted; readonly now: number }): void =>
  rememberOutcome(sql, asked, { outcome: done.accepted, now: done.now });
