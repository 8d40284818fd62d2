/** The tenant's directory of sessions. */
import { runOnce } from "../app/idempotency";
import type { SessionPage, SessionRegistration, TenantError } from "../app/tenant-api";
import { parseId, type SessionId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import type { SyncSql } from "../lib/sync-sql";
import { isDigest } from "./digests";
import { createRequests } from "./requests";

const MAX_PAGE = 1000;
/** A string that sorts after every session id. */
const AFTER_EVERY_ID = "~";
const COLUMNS = "id, created_at, external_id, end_user, labelled";
/** The session's object has to be asked. */
const UNLABELLED = { end_user: null, labelled: 0 };

interface Registered {
  readonly session: SessionId;
  readonly replayed: boolean;
}

/** `end_user`, `external_id`: the digests. Absent or null: none. */
type Registration = SessionRegistration & { readonly at: number; readonly most?: number | null | undefined };

export interface Directory {
  /** Registers a session with its idempotency key. Call it inside a transaction, so that both are stored or neither. */
  register(input: Registration): Result<Registered, TenantError>;
  /** How many sessions there are, those whose erasure has begun among them. */
  count(): number;
  /** Notes that only the session's object knows its end user, and that of its forks: the end user is about to be changed. */
  unlabel(session: SessionId): void;
  /** `externalId`: the digest. */
  findExternalId(externalId: string): SessionId | null;
  /** Replaces the text of an external id, which an earlier build stored, by its digest. */
  hideExternalId(text: string, digest: string): void;
  /** Enters a restored session, with the time at which it was first made. Refused while it is being erased, and when its external id is taken. */
  restore(input: {
    readonly session: SessionId;
    readonly external_id: string | null;
    readonly created_at: number;
    readonly most?: number | null | undefined;
  }): Result<null, TenantError>;
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
  /** A fork has the end user of its source, where that is known. */
  const readLabel = (source: SessionId): { readonly end_user: string | null; readonly labelled: number } =>
    sql.rows<{ end_user: string | null; labelled: number }>("SELECT end_user, labelled FROM sessions WHERE id = ?", source)[0] ??
    UNLABELLED;
  const isErased = (session: SessionId): boolean => sql.rows("SELECT 1 FROM erased_sessions WHERE session = ? LIMIT 1", session).length > 0;
  const isBeingErased = (session: string): boolean => sql.rows("SELECT 1 FROM erasures WHERE session = ?", session).length > 0;
  const isRegistered = (session: string): boolean => sql.rows("SELECT 1 FROM sessions WHERE id = ?", session).length > 0;
  const count = (): number => sql.rows<{ n: number }>("SELECT count(*) AS n FROM sessions")[0]?.n ?? 0;
  /** Null: there is room for the session, or it is there already. */
  const refuseFull = (session: SessionId, most: number | null): TenantError | null =>
    most !== null && !isRegistered(session) && count() >= most ? { code: "session_limit", limit: most } : null;
  function insert({ session, external_id: externalId = null, end_user: endUser = null, source = null, at }: Registration): void {
    const label = source ? readLabel(source) : { end_user: endUser, labelled: 1 };
    const row = [session, at, externalId, label.end_user, label.labelled] as const;
    sql.rows(`INSERT INTO sessions (${COLUMNS}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`, ...row);
    if (source) sql.rows("INSERT OR IGNORE INTO forks (session, source) VALUES (?, ?)", session, source);
  }
  /** Enters the session, or joins the one that has its external id. */
  function place(input: Registration): Result<SessionId, TenantError> {
    const { session, external_id: externalId = null, end_user: endUser = null, source, adopt, most = null } = input;
    if (source && isErased(source)) return err({ code: "session_erased" });
    const holder = externalId === null ? null : findExternalId(externalId);
    if (holder === null || holder === session) {
      const refused = refuseFull(session, most);
      if (refused) return err(refused);
      insert(input);
      return ok(session);
    }
    if (!adopt) return err({ code: "external_id_taken", session: holder });
    // Whichever request opens the session says whose it is.
    const claim = "UPDATE sessions SET claims = claims + 1, labelled = CASE WHEN end_user IS ? THEN labelled ELSE 0 END WHERE id = ?";
    sql.rows(claim, endUser, holder);
    return ok(holder);
  }
  return {
    count,
    findExternalId,
    hideExternalId: (text, digest) => {
      if (!isDigest(text)) sql.rows("UPDATE sessions SET external_id = ? WHERE external_id = ?", digest, text);
    },
    unlabel: (session) => {
      sql.rows(
        "UPDATE sessions SET end_user = NULL, labelled = 0 WHERE id = ?1 OR id IN (SELECT session FROM forks WHERE source = ?1)",
        session,
      );
    },
    register: (input) => {
      const { idempotency, at } = input;
      const noted = runOnce<string, TenantError>(requests, { idempotency, now: at }, () => place(input));
      if (!noted.ok) return noted;
      const { outcome, replayed } = noted.value;
      if (replayed && isBeingErased(outcome)) return err({ code: "session_erased" });
      return ok({ session: toSessionId(outcome), replayed });
    },
    restore: ({ session, external_id: externalId, created_at, most = null }) => {
      // A restored session never brings back what was erased here, whatever its object remembers.
      if (isBeingErased(session) || isErased(session)) return err({ code: "session_erased" });
      const holder = externalId === null ? null : findExternalId(externalId);
      if (holder !== null && holder !== session) return err({ code: "external_id_taken", session: holder });
      const refused = refuseFull(session, most);
      if (refused) return err(refused);
      const row = [session, created_at, externalId] as const;
      sql.rows("INSERT INTO sessions (id, created_at, external_id) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING", ...row);
      return ok(null);
    },
    forget: (session) => {
      sql.rows("DELETE FROM forks WHERE session IN (SELECT id FROM sessions WHERE id = ? AND claims <= 1)", session);
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
