/** Stores the usage of the tenant's erased sessions. Their logs are gone, so the tenant's object owns what is left of their ledgers. */
import type { ErasedSessionUsage } from "../../app/tenant-api";
import type { ErasedUsage } from "../../domain/erased-usage";
import type { SessionId } from "../../domain/ids";
import { CALL_PURPOSES } from "../../domain/model-call";
import { toFiller } from "../../lib/scrub/filler";
import type { SyncSql } from "../../lib/sync-sql";
import { toSessionId } from "../shared/directory";

/** A string that sorts before every session id. */
const BEFORE_EVERY_ID = "";
/** Usage has no earlier times. */
const BEFORE_EVERY_TIME = 0;
/** Stands for a key or an end user that is not known. */
const NONE = "";

interface Names {
  /** An erased end user is known by the digest alone. */
  readonly digest: (endUser: string) => string;
  /** False for a deleted tenant: of its usage the sums alone are kept. */
  readonly areKept: () => boolean;
}

/** Methods that change rows are called inside a transaction. */
export interface ErasedUsageStore {
  /**
   * Stores a session's sums and returns all sums that are stored for it. They take the place of all that the session has handed over
   * before. An empty list changes nothing, because the session's log is already wiped then. Nor does a late list, once a name was
   * forgotten in the session's sums: a session hands over before its erasure ends, and the name is forgotten after.
   */
  keep(session: SessionId, usage: readonly ErasedUsage[]): readonly ErasedUsage[];
  /** The sums that are stored for the id, from a time on. */
  listFrom(session: SessionId, at: number): readonly ErasedUsage[];
  /** Adds to the sums that are stored for the id. */
  add(session: SessionId, usage: readonly ErasedUsage[]): void;
  /** Whether a name is stored for the digest, or with null any name. */
  isNamed(digest: string | null): boolean;
  /** Forgets the name of an end user, by its digest. Calls stay counted, without one. Returns the sessions whose sums have changed. */
  forgetEndUser(digest: string): readonly SessionId[];
  /** Forgets the end users and keys of the next sessions. Null in place of the last of them: there are no more. */
  forgetOwners(after: string): { readonly changed: readonly SessionId[]; readonly last: string | null };
  /** The sums of at most `sessions` sessions, ordered by their ids. */
  list(page: { readonly after: SessionId | null; readonly sessions: number }): readonly ErasedSessionUsage[];
}

type Row = Readonly<Record<(typeof SUMS)[number] | "at" | "revision", number>> & {
  readonly session: string;
  readonly model: string;
  readonly purpose: string;
  readonly key_id: string;
  readonly end_user: string;
};

const SUMS = ["calls", "failed", "input", "uncached", "cached", "cache_write", "output", "reasoning", "cost", "unpriced"] as const;
const GROUP = ["at", "model", "purpose", "key_id", "end_user"] as const;
const COLUMNS = [...GROUP, ...SUMS] as const;

/** A row has the digest of its end user. A name is in one place, where it can be overwritten. */
const NAME = "coalesce((SELECT name FROM usage_names n WHERE n.digest = user_digest), '') AS end_user";
const SELECT = `SELECT session, ${COLUMNS.map((column) => (column === "end_user" ? NAME : column)).join(", ")},
  coalesce((SELECT revision FROM usage_revisions r WHERE r.session = erased_usage.session), 0) AS revision FROM erased_usage`;
const ADD = `ON CONFLICT (session, ${GROUP.join(", ")}) DO UPDATE SET ${SUMS.map((sum) => `${sum} = ${sum} + excluded.${sum}`).join(", ")}`;
const INTO = `INSERT INTO erased_usage (session, ${COLUMNS.join(", ")}, user_digest)`;

function toUsage({ session: _session, revision, ...row }: Row): ErasedUsage {
  const purpose = CALL_PURPOSES.find((known) => known === row.purpose);
  if (!purpose) throw new Error("A stored purpose is unknown");
  return { ...row, purpose, ...(revision > 0 && { revision }) };
}

/** Sessions, or names, whose owners are forgotten in one transaction. */
const FORGOTTEN_AT_ONCE = 200;

/** Removes one name, by its digest, or some. Returns how many. */
function forgetNames(sql: SyncSql, digest: string | null = null): number {
  const which = digest === null ? `n IN (SELECT n FROM usage_names ORDER BY n LIMIT ${FORGOTTEN_AT_ONCE})` : "digest = ?1";
  const params = digest === null ? [] : [digest];
  sql.rows(`UPDATE usage_names SET name = ${toFiller("name")} WHERE ${which}`, ...params);
  return sql.rows(`DELETE FROM usage_names WHERE ${which} RETURNING n`, ...params).length;
}

/** The read model drops what the session sent before, and refuses it from then on. */
const REVISE = "INSERT INTO usage_revisions (session, revision) VALUES (?, 1) ON CONFLICT (session) DO UPDATE SET revision = revision + 1";
const HAS_OWNER = "(key_id <> '' OR end_user <> '')";

interface Merge {
  /** Which rows. None of those that take their place may be among them. */
  readonly where: string;
  /** SQL for the key that the sums are counted for from then on. */
  readonly key: string;
  readonly params: readonly string[];
}

/** Adds the sums of some rows to those of the same group without an end user, and deletes the rows. Returns their sessions. */
function merge(sql: SyncSql, { where, key, params }: Merge): readonly SessionId[] {
  const changed = sql.rows<{ session: string }>(`SELECT DISTINCT session FROM erased_usage WHERE ${where}`, ...params);
  const sums = SUMS.map((sum) => `sum(${sum})`).join(", ");
  const merged = `SELECT session, at, model, purpose, ${key} AS owner, '', ${sums}, '' FROM erased_usage WHERE ${where}`;
  sql.rows(`${INTO} ${merged} GROUP BY session, at, model, purpose, owner ${ADD}`, ...params);
  sql.rows(`DELETE FROM erased_usage WHERE ${where}`, ...params);
  for (const { session } of changed) sql.rows(REVISE, session);
  return changed.map(({ session }) => toSessionId(session));
}

export function createErasedUsage(sql: SyncSql, names: Names): ErasedUsageStore {
  const known = (usage: ErasedUsage): ErasedUsage => (names.areKept() ? usage : { ...usage, key_id: NONE, end_user: NONE });
  function toDigest(name: string): string {
    const digest = names.digest(name);
    sql.rows("INSERT INTO usage_names (digest, name) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING", digest, name);
    return digest;
  }
  /** Rows of a deleted tenant become equal without their owners, so that each is added. */
  function insert(session: SessionId, usage: readonly ErasedUsage[]): void {
    const digests = new Map([[NONE, NONE]]);
    const [{ applied = null } = {}] = sql.rows<{ applied: number | null }>("SELECT applied FROM usage_bound");
    for (const row of usage.map(known)) {
      if (applied !== null && row.at < applied) continue;
      const digest = digests.get(row.end_user) ?? toDigest(row.end_user);
      digests.set(row.end_user, digest);
      const values = COLUMNS.map((column) => (column === "end_user" ? digest : row[column]));
      sql.rows(`${INTO} VALUES (?${", ?".repeat(COLUMNS.length + 1)}) ${ADD}`, session, ...values, digest);
    }
  }
  /** The last of the next `sessions` sessions. Null: there are no more. */
  const findLast = (after: string, sessions: number): string | null =>
    sql
      .rows<{ session: string }>("SELECT DISTINCT session FROM erased_usage WHERE session > ? ORDER BY session LIMIT ?", after, sessions)
      .at(-1)?.session ?? null;
  const hasForgotten = (session: SessionId): boolean => sql.rows("SELECT 1 FROM usage_revisions WHERE session = ?", session).length > 0;
  const hasOwner = (session: SessionId): boolean =>
    sql.rows(`SELECT 1 FROM erased_usage WHERE session = ? AND ${HAS_OWNER} LIMIT 1`, session).length > 0;
  const listFrom = (session: SessionId, at: number): readonly ErasedUsage[] =>
    sql.rows<Row>(`${SELECT} WHERE session = ? AND at >= ? ORDER BY ${GROUP.join(", ")}`, session, at).map(toUsage);
  return {
    listFrom,
    add: insert,
    keep: (session, usage) => {
      if (usage.length > 0 && !hasForgotten(session)) {
        // The session may have written owners to the read model, if it first reported before its tenant was deleted.
        if (!names.areKept() && hasOwner(session)) sql.rows(REVISE, session);
        sql.rows("DELETE FROM erased_usage WHERE session = ?", session);
        insert(session, usage);
      }
      return listFrom(session, BEFORE_EVERY_TIME);
    },
    isNamed: (digest) =>
      (digest === null ? sql.rows("SELECT 1 FROM usage_names LIMIT 1") : sql.rows("SELECT 1 FROM usage_names WHERE digest = ?", digest))
        .length > 0,
    forgetEndUser: (digest) => {
      forgetNames(sql, digest);
      return merge(sql, { where: "user_digest = ? AND user_digest <> ''", key: "key_id", params: [digest] });
    },
    forgetOwners: (after) => {
      const names = forgetNames(sql);
      const last = findLast(after, FORGOTTEN_AT_ONCE);
      // The sums wait for the names: the object may die, and begins with both again.
      if (names > 0) return { changed: [], last: after };
      if (last === null) return { changed: [], last };
      const where = `session > ?1 AND session <= ?2 AND ${HAS_OWNER}`;
      return { changed: merge(sql, { where, key: "''", params: [after, last] }), last };
    },
    list: ({ after, sessions }) => {
      const last = findLast(after ?? BEFORE_EVERY_ID, sessions);
      if (last === null) return [];
      const rows = sql.rows<Row>(
        `${SELECT} WHERE session > ? AND session <= ? ORDER BY session, ${GROUP.join(", ")}`,
        after ?? BEFORE_EVERY_ID,
        last,
      );
      const bySession = Map.groupBy(rows, (row) => row.session);
      return [...bySession].map(([session, own]) => ({ session: toSessionId(session), usage: own.map(toUsage) }));
    },
  };
}
