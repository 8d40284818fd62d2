/** What the tenant's requests with an idempotency key made, kept for a day: the same key and body lead to the same thing. */
import { IDEMPOTENCY_TTL_MS } from "../app/idempotency";
import type { Idempotency } from "../app/session-api";
import type { TenantError } from "../app/tenant-api";
import { err, ok, type Result } from "../lib/result";
import type { TenantSql } from "./tenant-sql";

/** Expired keys removed at each new one: more than come in, few enough not to be felt. */
const PRUNE_BATCH = 50;

/** Both belong into the transaction of what was made: it and its key are noted together or not at all. */
export interface Requests {
  /** The id of what the key's first request made; null: the key is new, its day has passed, or there is none. */
  recall(asked: Idempotency | null, at: number): Result<string | null, TenantError>;
  remember(asked: Idempotency | null, made: string, at: number): void;
}

export function createRequests(sql: TenantSql): Requests {
  return {
    recall: (asked, at) => {
      if (!asked) return ok(null);
      const seen = sql.rows<{ digest: string; made: string }>(
        "SELECT digest, session AS made FROM idempotency WHERE key = ? AND expires_at > ?",
        asked.key,
        at,
      )[0];
      if (!seen) return ok(null);
      return seen.digest === asked.digest ? ok(seen.made) : err({ code: "idempotency_conflict" });
    },
    remember: (asked, made, at) => {
      if (!asked) return;
      sql.rows(
        "DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
        at,
        PRUNE_BATCH,
      );
      sql.rows(
        `INSERT INTO idempotency (key, digest, session, expires_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (key) DO UPDATE SET digest = excluded.digest, session = excluded.session, expires_at = excluded.expires_at`,
        asked.key,
        asked.digest,
        made,
        at + IDEMPOTENCY_TTL_MS,
      );
    },
  };
}
