/**
 * Stores the session's outcomes by idempotency key. The digest covers the route, so a key that another route used is a
 * conflict, and the stored outcome is always a `T`.
 */
import type { OutcomeStore } from "../../app/idempotency";
import type { Sql } from "./sql";

/** Expired keys that are deleted with each new key. It is more than one, so that expired keys do not accumulate. */
const EXPIRED_AT_ONCE = 8;

export function createOutcomes<T>(sql: Sql): OutcomeStore<T> {
  return {
    find: (key, now) => {
      const row = sql.all<{ digest: string; outcome: string }>(
        "SELECT digest, outcome FROM idempotency WHERE key = ? AND expires_at > ?",
        key,
        now,
      )[0];
      return row ? { digest: row.digest, outcome: JSON.parse(row.outcome) as T } : null;
    },
    keep: ({ key, digest }, { outcome, expires_at, now }) => {
      sql.all("DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE expires_at <= ? LIMIT ?)", now, EXPIRED_AT_ONCE);
      sql.all(
        `INSERT INTO idempotency (key, digest, outcome, expires_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (key) DO UPDATE SET digest = excluded.digest, outcome = excluded.outcome, expires_at = excluded.expires_at`,
        key,
        digest,
        JSON.stringify(outcome),
        expires_at,
      );
    },
  };
}

export function forgetOutcome(sql: Sql, key: string): void {
  sql.all("DELETE FROM idempotency WHERE key = ?", key);
}
