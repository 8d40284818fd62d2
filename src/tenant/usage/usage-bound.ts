/**
 * The bound of the tenant's usage: the rows from before it are removed. Two times, because the databases come first. `wanted` is stored before
 * a database is asked, so that a move copies it. `applied` is stored when every database has it and holds no older row: only then this object
 * gives up its own sums. Until then the databases still get all of an erased session, and leave out what is too old for each of them.
 */
import type { SyncSql } from "../../lib/sync-sql";

export const USAGE_BOUND_TABLES: readonly string[] = [
  "CREATE TABLE usage_bound (one INTEGER PRIMARY KEY CHECK (one = 1), wanted INTEGER NOT NULL, applied INTEGER) STRICT",
];

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
  /** Removes the object's own sums from before the wanted bound, and those that wait to be sent. Call it inside a transaction. */
  apply(): void;
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
    apply: () => {
      sql.rows("UPDATE usage_bound SET applied = wanted");
      sql.rows("DELETE FROM erased_usage WHERE at < (SELECT applied FROM usage_bound)");
      sql.rows("DELETE FROM unsent_usage WHERE session NOT IN (SELECT session FROM erased_usage)");
    },
  };
}
