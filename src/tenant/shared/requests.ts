/**
 * Stores, by idempotency key, the ids of what the tenant's requests made. A key is stored as a digest, whatever it made: one key is one request
 * of the tenant, and no file keeps the client's words.
 */
import type { OutcomeStore } from "../../app/idempotency";
import type { SyncSql } from "../../lib/sync-sql";
import { hideKey } from "./digests";

/** Expired keys that are deleted with each new one: more than are added, but few enough to be cheap. */
const PRUNE_BATCH = 50;

export function createRequests(sql: SyncSql): OutcomeStore<string> {
  return {
    find: (key, now) =>
      sql.rows<{ digest: string; outcome: string }>(
        "SELECT digest, session AS outcome FROM idempotency WHERE key = ? AND expires_at > ?",
        hideKey(key),
        now,
      )[0] ?? null,
    keep: ({ key, digest }, { outcome, expires_at, now }) => {
      sql.rows(
        "DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
        now,
        PRUNE_BATCH,
      );
      sql.rows(
        `INSERT INTO idempotency (key, digest, session, expires_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (key) DO UPDATE SET digest = excluded.digest, session = excluded.session, expires_at = excluded.expires_at`,
        hideKey(key),
        digest,
        outcome,
        expires_at,
      );
    },
  };
}
