/** The tenant's directory of sessions. */
import { runOnce } from "../../app/idempotency";
import type { SessionPage, SessionRegistration, TenantError } from "../../app/tenant-api";
import { parseId, type SessionId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import type { SyncSql } from "../../lib/sync-sql";
import { createRequests } from "./requests";

const MAX_PAGE = 1000;
/** A string that sorts after every session id. */
const AFTER_EVERY_ID = "~";
const COLUMNS = "id, created_at, external_id, end_user, labelled, given_to";

const REACHED_LATER = `SELECT 1 FROM sessions s CROSS JOIN erasure_receipts r ON r.target = s.end_user WHERE s.id = ?
  AND r.kind = 'end_user' AND r.gathered = 0 AND r.done_at IS NULL AND r.requested_at >= s.created_at`;

/** Whose a session is. The columns are those of `sessions`. */
type Label = { readonly end_user: string | null; readonly given_to: string | null; readonly labelled: number };

/** Sessions that an end user has or may have (`LABELS`). Each session is in one of them. */
const OF_USER = ["end_user = ?1 AND labelled = 1", "labelled = 0", "labelled = 2"];

/** The session's object has to be asked. */
const UNLABELLED: Label = { end_user: null, given_to: null, labelled: 0 };

interface Registered {
  readonly session: SessionId;
  readonly replayed: boolean;
}

/** `end_user`, `external_id`: the digests. Absent or null: none. */
type Registration = SessionRegistration & { readonly at: number; readonly most?: MostSessions };

/** The most sessions, of the tenant and of one end user. Null or absent: no limit. */
interface MostSessions {
  readonly tenant?: number | null | undefined;
  readonly end_user?: number | null | undefined;
}

export interface Directory {
  /** Registers a session with its idempotency key. Call it inside a transaction, so that both are stored or neither. */
  register(input: Registration): Result<Registered, TenantError>;
  /** How many sessions there are, those whose erasure has begun among them. */
  count(): number;
  /** How many sessions this end user has, as far as the directory knows whose they are. */
  countForUser(endUser: string): number;
  /**
   * Counts the session for this end user from now on, and notes that only its object knows its end user, and that of its forks: the end user
   * is about to be changed.
   */
  give(input: { readonly session: SessionId; readonly end_user: string | null; readonly most?: MostSessions }): Result<null, TenantError>;
  /**
   * The newest session before the given one that the end user has or may have: only its object knows whose it is, if its end user was changed, or
   * it is not opened yet. `endUser`: the digest.
   */
  findOfUser(input: { readonly endUser: string; readonly before: SessionId | null }): SessionId | null;
  /** How many sessions `findOfUser` finds. */
  countOfUser(endUser: string): number;
  /** `externalId`: the digest. */
  findExternalId(externalId: string): SessionId | null;
  /**
   * Enters a restored session, with the time at which it was first made. Refused while it is being erased, and when its external id is taken.
   * `end_user`: the digest. The session counts for that end user, and its object is still asked whose it is: it may have had others.
   */
  restore(input: {
    readonly session: SessionId;
    readonly external_id: string | null;
    readonly end_user: string | null;
    readonly created_at: number;
    readonly most?: MostSessions;
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
  const readLabel = (source: SessionId): Label =>
    sql.rows<Label>("SELECT end_user, given_to, labelled FROM sessions WHERE id = ?", source)[0] ?? UNLABELLED;
  const isErased = (session: SessionId): boolean => sql.rows("SELECT 1 FROM erased_sessions WHERE session = ? LIMIT 1", session).length > 0;
  /** The erasure of its end user has yet to reach the session. */
  const isToBeErased = (session: SessionId): boolean => sql.rows(REACHED_LATER, session).length > 0;
  const isBeingErased = (session: string): boolean => sql.rows("SELECT 1 FROM erasures WHERE session = ?", session).length > 0;
  const isRegistered = (session: string): boolean => sql.rows("SELECT 1 FROM sessions WHERE id = ?", session).length > 0;
  /** Counts all of them once. From then on triggers keep the number. */
  function count(): number {
    const counted = () => sql.rows<{ n: number }>("SELECT n FROM session_count")[0];
    if (!counted()) sql.rows("INSERT INTO session_count (one, n) SELECT 1, count(*) FROM sessions");
    return counted()?.n ?? 0;
  }
  /** Sessions that count for the end user, without this one. */
  const countForUser = (endUser: string, except: string): number =>
    sql.rows<{ n: number }>("SELECT count(*) AS n FROM sessions WHERE (end_user = ?1 OR given_to = ?1) AND id <> ?2", endUser, except)[0]
      ?.n ?? 0;
  /** Null: the end user may have the session, too. */
  function refuseUser(session: SessionId, endUser: string | null, most: number | null | undefined): TenantError | null {
    const isFull = endUser !== null && most != null && countForUser(endUser, session) >= most;
    return isFull ? { code: "session_limit", of: "end_user", limit: most } : null;
  }
  /** Null: there is room for the session, or it is there already. */
  const refuseFull = (session: SessionId, most: MostSessions["tenant"]): TenantError | null =>
    most != null && !isRegistered(session) && count() >= most ? { code: "session_limit", of: "tenant", limit: most } : null;
  function refuseNew({ session, end_user: endUser = null, source = null, most }: Registration): TenantError | null {
    const label = source && readLabel(source);
    const user = label ? (label.given_to ?? label.end_user) : endUser;
    const isNew = most?.end_user != null && !isRegistered(session);
    return refuseFull(session, most?.tenant) ?? (isNew ? refuseUser(session, user, most.end_user) : null);
  }
  function insert({ session, external_id: externalId = null, end_user: endUser = null, source = null, at }: Registration): void {
    const label = source ? readLabel(source) : { end_user: endUser, labelled: 1, given_to: null };
    const row = [session, at, externalId, label.end_user, label.labelled, label.given_to] as const;
    sql.rows(`INSERT INTO sessions (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`, ...row);
    if (source) sql.rows("INSERT OR IGNORE INTO forks (session, source) VALUES (?, ?)", session, source);
  }
  /** Enters the session, or joins the one that has its external id. */
  function place(input: Registration): Result<SessionId, TenantError> {
    const { session, external_id: externalId = null, end_user: endUser = null, source, adopt } = input;
    if (source && (isErased(source) || isToBeErased(source))) return err({ code: "session_erased" });
    const holder = externalId === null ? null : findExternalId(externalId);
    if (holder === null || holder === session) {
      const refused = refuseNew(input);
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
    findOfUser: ({ endUser, before }) => {
      // Each of them is found by an index of its own.
      const newest = OF_USER.map((are) => `SELECT max(id) AS id FROM sessions WHERE ${are} AND id < ?2`).join(" UNION ALL ");
      const [row] = sql.rows<{ id: string | null }>(`SELECT max(id) AS id FROM (${newest})`, endUser, before ?? AFTER_EVERY_ID);
      return row?.id ? toSessionId(row.id) : null;
    },
    countOfUser: (endUser) => {
      const counts = OF_USER.map((are) => `SELECT count(*) AS n FROM sessions WHERE ${are}`).join(" UNION ALL ");
      return sql.rows<{ n: number }>(`SELECT sum(n) AS n FROM (${counts})`, endUser)[0]?.n ?? 0;
    },
    countForUser: (endUser) => countForUser(endUser, ""),
    findExternalId,
    give: ({ session, end_user: endUser, most }) => {
      const refused = isRegistered(session) ? refuseUser(session, endUser, most?.end_user) : null;
      if (refused) return err(refused);
      // Forks count as before. One that is not opened yet may still take on the new end user.
      sql.rows(
        `UPDATE sessions SET given_to = coalesce(given_to, end_user), end_user = NULL, labelled = 0
         WHERE id = ?1 OR id IN (SELECT session FROM forks WHERE source = ?1)`,
        session,
      );
      sql.rows("UPDATE sessions SET given_to = ? WHERE id = ?", endUser, session);
      return ok(null);
    },
    register: (input) => {
      const { idempotency, at } = input;
      const noted = runOnce<string, TenantError>(requests, { idempotency, now: at }, () => place(input));
      if (!noted.ok) return noted;
      const { outcome, replayed } = noted.value;
      if (replayed && isBeingErased(outcome)) return err({ code: "session_erased" });
      return ok({ session: toSessionId(outcome), replayed });
    },
    restore: ({ session, external_id: externalId, end_user: endUser, created_at, most }) => {
      // A restored session never brings back what was erased here, whatever its object remembers.
      if (isBeingErased(session) || isErased(session)) return err({ code: "session_erased" });
      const holder = externalId === null ? null : findExternalId(externalId);
      if (holder !== null && holder !== session) return err({ code: "external_id_taken", session: holder });
      const refused = refuseFull(session, most?.tenant) ?? (isRegistered(session) ? null : refuseUser(session, endUser, most?.end_user));
      if (refused) return err(refused);
      const row = [session, created_at, externalId, endUser] as const;
      sql.rows("INSERT INTO sessions (id, created_at, external_id, given_to) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING", ...row);
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
