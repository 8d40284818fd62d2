/** The tenant's directory of sessions. */
import { runOnce } from "../app/idempotency";
import type { SessionPage, SessionRegistration, TenantError } from "../app/tenant-api";
import { parseId, type SessionId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import type { SyncSql } from "../lib/sync-sql";
import { createRequests } from "./requests";

const MAX_PAGE = 1000;
/** A string that sorts after every session id. */
const AFTER_EVERY_ID = "~";

interface Registered {
  readonly session: SessionId;
  readonly replayed: boolean;
}

export interface Directory {
  /** Registers a session with its idempotency key. Call it inside a transaction, so that both are stored or neither. */
  register(
    input: SessionRegistration & { readonly at: number; readonly most?: number | null | undefined },
  ): Result<Registered, TenantError>;
  /** How many sessions there are, those whose erasure has begun among them. */
  count(): number;
  findExternalId(externalId: string): SessionId | null;
  /**
   * Ends one request's claim to the session, and removes the session with the last claim. It keeps the idempotency key of
   * the request that made it: a late repetition must not bring an erased session back.
   */
  forget(session: SessionId): null;
  /** True when the session is registered and its erasure has not begun. */
  has(session: SessionId): boolean;
  /** Lists sessions, newest first: ids sort by time. */
  list(page: { readonly after: SessionId | null; readonly limit: number }): SessionPage;
}

export function toSessionId(text: string): SessionId {
  const id = parseId("ses", text);
  if (!id) throw new Error("A stored session id is malformed");
  return id;
}

export function createDirectory(sql: SyncSql): Directory {
  const requests = createRequests(sql);
  const findExternalId = (externalId: string): SessionId | null => {
    const [row] = sql.rows<{ id: string }>("SELECT id FROM sessions WHERE external_id = ?", externalId);
    return row ? toSessionId(row.id) : null;
  };
  const isBeingErased = (session: string): boolean => sql.rows("SELECT 1 FROM erasures WHERE session = ?", session).length > 0;
  const isRegistered = (session: string): boolean => sql.rows("SELECT 1 FROM sessions WHERE id = ?", session).length > 0;
  const count = (): number => sql.rows<{ n: number }>("SELECT count(*) AS n FROM sessions")[0]?.n ?? 0;
  return {
    count,
    findExternalId,
    register: ({ session, idempotency, external_id: externalId = null, adopt = false, at, most = null }) => {
      const noted = runOnce<string, TenantError>(requests, { idempotency, now: at }, () => {
        const holder = externalId === null ? null : findExternalId(externalId);
        if (holder !== null && holder !== session) {
          if (!adopt) return err({ code: "external_id_taken", session: holder });
          sql.rows("UPDATE sessions SET claims = claims + 1 WHERE id = ?", holder);
          return ok(holder);
        }
        if (most !== null && !isRegistered(session) && count() >= most) return err({ code: "session_limit", limit: most });
        const row = [session, at, externalId] as const;
        sql.rows("INSERT INTO sessions (id, created_at, external_id) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING", ...row);
        return ok(session);
      });
      if (!noted.ok) return noted;
      const { outcome, replayed } = noted.value;
      if (replayed && isBeingErased(outcome)) return err({ code: "session_erased" });
      return ok({ session: toSessionId(outcome), replayed });
    },
    forget: (session) => {
      sql.rows("DELETE FROM sessions WHERE id = ? AND claims <= 1", session);
      sql.rows("UPDATE sessions SET claims = claims - 1 WHERE id = ?", session);
      return null;
    },
    has: (session) => isRegistered(session) && !isBeingErased(session),
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
