/**
 * The bound of the tenant's usage: the rows from before it are removed. Two times, because the databases come first. `wanted` is stored before
 * a database is asked, so that a move copies it. `applied` is stored when every database has it and holds no older row: only then this object
 * gives up its own sums, and takes none from before it. Until then the databases still get all of an erased session, and leave out what is too old
 * for each of them. `cleared` is the session up to which the object's older sums are removed: one month has as many as sessions were erased.
 */
import type { SyncSql } from "../../lib/sync-sql";

export const USAGE_BOUND_TABLES: readonly string[] = [
  "CREATE TABLE usage_bound (one INTEGER PRIMARY KEY CHECK (one = 1), wanted INTEGER NOT NULL, applied INTEGER) STRICT",
];

/** Null: all older sums are removed. */
export const USAGE_CLEARED: readonly string[] = ["ALTER TABLE usage_bound ADD COLUMN cleared TEXT"];

/** Sessions whose sums one step looks at. */
const CLEARED_AT_ONCE = 200;
const BEHIND_EVERY_ID = "~";

interface Bound {
  /** Null: nothing was ever to be removed. */
  readonly wanted: number | null;
  /** Null: nothing was removed yet. */
  readonly applied: number | null;
}

export interface UsageBound {
  read(): Bound;
  /** It only grows. */
  want(before: number): void;
  /** Takes no sums from before the wanted bound any more. The object's older ones are removed next. */
  apply(): void;
  isCleared(): boolean;
  /** Removes a part of the object's own sums from before the bound, and of those that wait to be sent. Call it inside a transaction. */
  clearSome(): void;
}

export function createUsageBound(sql: SyncSql): UsageBound {
  return {
    read: () =>
      sql.rows<{ wanted: number; applied: number | null }>("SELECT wanted, applied FROM usage_bound")[0] ?? { wanted: null, applied: null },
    want: (before) => {
      sql.rows(
        "INSERT INTO usage_bound (one, wanted) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET wanted = max(wanted, excluded.wanted)",
        before,
      );
    },
    apply: () => void sql.rows("UPDATE usage_bound SET applied = wanted, cleared = ''"),
    isCleared: () => sql.rows("SELECT 1 FROM usage_bound WHERE cleared IS NOT NULL").length === 0,
    clearSome: () => {
      const [bound] = sql.rows<{ applied: number; after: string }>(
        "SELECT applied, cleared AS after FROM usage_bound WHERE cleared IS NOT NULL",
      );
      if (!bound) return;
      const { applied, after } = bound;
      const next = "SELECT DISTINCT session FROM erased_usage WHERE session > ? ORDER BY session LIMIT ?";
      const sessions = sql.rows<{ session: string }>(next, after, CLEARED_AT_ONCE);
      const last = sessions.length < CLEARED_AT_ONCE ? null : (sessions.at(-1)?.session ?? null);
      const range = [after, last ?? BEHIND_EVERY_ID];
      sql.rows("DELETE FROM erased_usage WHERE session > ? AND session <= ? AND at < ?", ...range, applied);
      const isEmpty = "NOT EXISTS (SELECT 1 FROM erased_usage e WHERE e.session = unsent_usage.session)";
      sql.rows(`DELETE FROM unsent_usage WHERE session > ? AND session <= ? AND ${isEmpty}`, ...range);
      sql.rows("UPDATE usage_bound SET cleared = ?", last);
    },
  };
}
