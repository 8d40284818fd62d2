/** What a client's idempotency key led to, kept for a day: the same key and body get the first outcome again. */
import { IDEMPOTENCY_TTL_MS } from "../../app/idempotency";
import type { Idempotency } from "../../app/session-api";
import type { Accepted } from "../../app/session-views";
import type { Sql } from "./sql";

/** Expired keys that one new key takes along: more than come, so that none is left for long. */
const EXPIRED_AT_ONCE = 8;

export type Remembered = { readonly kind: "new" } | { readonly kind: "seen"; readonly accepted: Accepted } | { readonly kind: "conflict" };

export function recall(sql: Sql, asked: Idempotency | null, now: number): Remembered {
  if (!asked) return { kind: "new" };
  const row = sql.all<{ digest: string; outcome: string }>(
    "SELECT digest, outcome FROM idempotency WHERE key = ? AND expires_at > ?",
    asked.key,
    now,
  )[0];
  if (!row) return { kind: "new" };
  if (row.digest !== asked.digest) return { kind: "conflict" };
  return { kind: "seen", accepted: { ...(JSON.parse(row.outcome) as Accepted), replayed: true } };
}

/** In the transaction of what it remembers. */
export function remember(sql: Sql, asked: Idempotency | null, outcome: { readonly accepted: Accepted; readonly now: number }): void {
  if (!asked) return;
  sql.all("DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE expires_at <= ? LIMIT ?)", outcome.now, EXPIRED_AT_ONCE);
  const values = [asked.key, asked.digest, JSON.stringify(outcome.accepted), outcome.now + IDEMPOTENCY_TTL_MS] as const;
  sql.all("INSERT INTO idempotency (key, digest, outcome, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING", ...values);
}
