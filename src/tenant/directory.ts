/** The tenant's directory of sessions, and the idempotency keys of the requests that made them. */
import type { Idempotency } from "../app/session-api";
import type { SessionPage, TenantError } from "../app/tenant-api";
import { parseId, type SessionId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import type { TenantSql } from "./tenant-sql";

/** A request's key is remembered this long, in milliseconds. */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1000;
/** Expired keys removed at each registration: more than come in, few enough not to be felt. */
const PRUNE_BATCH = 50;
const MAX_PAGE = 1000;
/** Sorts behind every id. */
const AFTER_EVERY_ID = "~";

export interface Registration {
  readonly session: SessionId;
  readonly replayed: boolean;
}

export interface Directory {
  /** Call it inside a transaction: a session and its key are noted together or not at all. */
  register(input: {
    readonly session: SessionId;
    readonly idempotency: Idempotency | null;
    readonly at: number;
  }): Result<Registration, TenantError>;
  /** The key of the request that made it stays, so that a late repetition does not bring an erased session back. */
  forget(session: SessionId): void;
  /** Newest first: ids sort by time. */
  list(page: { readonly after: SessionId | null; readonly limit: number }): SessionPage;
}

function toSessionId(text: string): SessionId {
  const id = parseId("ses", text);
  if (!id) throw new Error("A stored session id is malformed");
  return id;
}

export function createDirectory(sql: TenantSql): Directory {
  /** What the key's first request made; null: the key is new, or its day has passed. */
  function recall({ key, digest }: Idempotency, at: number): Result<Registration, TenantError> | null {
    const seen = sql.rows<{ digest: string; session: string }>(
      "SELECT digest, session FROM idempotency WHERE key = ? AND expires_at > ?",
      key,
      at,
    )[0];
    if (!seen) return null;
    return seen.digest === digest ? ok({ session: toSessionId(seen.session), replayed: true }) : err({ code: "idempotency_conflict" });
  }
  function remember({ key, digest }: Idempotency, session: SessionId, at: number): void {
    sql.rows(
      "DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
      at,
      PRUNE_BATCH,
    );
    sql.rows(
      `INSERT INTO idempotency (key, digest, session, expires_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET digest = excluded.digest, session = excluded.session, expires_at = excluded.expires_at`,
      key,
      digest,
      session,
      at + IDEMPOTENCY_TTL_MS,
    );
  }
  return {
    register: ({ session, idempotency, at }) => {
      const first = idempotency && recall(idempotency, at);
      if (first) return first;
      sql.rows("INSERT INTO sessions (id, created_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING", session, at);
      if (idempotency) remember(idempotency, session, at);
      return ok({ session, replayed: false });
    },
    forget: (session) => {
      sql.rows("DELETE FROM sessions WHERE id = ?", session);
    },
    list: ({ after, limit }) => {
      const size = Math.min(limit, MAX_PAGE);
      const rows = sql.rows<{ id: string; created_at: number }>(
        "SELECT id, created_at FROM sessions WHERE id < ? ORDER BY id DESC LIMIT ?",
        after ?? AFTER_EVERY_ID,
        size + 1,
      );
      const data = rows.slice(0, size).map((row) => ({ id: toSessionId(row.id), created_at: row.created_at }));
      return { data, has_more: rows.length > size };
    },
  };
}
