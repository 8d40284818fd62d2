/** The object's SQLite as the session uses it, synchronous: workerd's storage in production, `node:sqlite` in plain Node. */
import type { SqlRow, SqlValue } from "../../lib/sql-row";
import { isStorageFull } from "../../lib/sync-sql";

export interface Sql {
  /** Runs one statement with bound parameters and returns its rows. */
  all<Row extends SqlRow>(query: string, ...params: SqlValue[]): Row[];
  /** Runs schema statements, without parameters or rows. */
  script(statements: string): void;
  /** Runs `work` completely or not at all. `work` must not await. */
  transaction<T>(work: () => T): T;
  /** Waits until all writes so far are durable. */
  sync(): Promise<void>;
  /** Empties the whole database, file contents included. */
  wipe(): Promise<void>;
  /** Removes what deleted rows left in the files (`lib/scrub`). */
  scrub(): Promise<unknown>;
  /** The space that the database has in use, in bytes, without free pages. Also inside a transaction. */
  usedBytes(): number;
  /** True when so little room is left that nothing new may begin. What is under way can still be recorded to its end. */
  isFull(): boolean;
}

/** Writes what can be derived again, if there is room for it. Null: the disk is full. */
export function keepIfRoom<T>(sql: Sql, write: () => T): T | null {
  if (sql.isFull()) return null;
  try {
    return sql.transaction(write);
  } catch (error) {
    if (isStorageFull(error)) return null;
    throw error;
  }
}
