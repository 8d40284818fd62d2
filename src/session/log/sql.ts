/** The object's SQLite as the session needs it: synchronous. workerd's storage in production, `node:sqlite` in plain Node. */
import type { SqlRow, SqlValue } from "../../lib/sql-row";

export interface Sql {
  /** Runs one statement with bound parameters and returns its rows. */
  all<Row extends SqlRow>(query: string, ...params: SqlValue[]): Row[];
  /** Runs statements without parameters or rows: schema. */
  script(statements: string): void;
  /** All or nothing; `work` must not await. */
  transaction<T>(work: () => T): T;
  /** Empties the whole database, file contents included. */
  wipe(): Promise<void>;
  /** Writes over what deleted rows have left in the files, as far as the engine lets us: its free pages and its write-ahead log. */
  scrub(): Promise<void>;
  /** Whether so little room is left that nothing new may begin: what is under way still comes to its recorded end. */
  isFull(): boolean;
}

/** The engine found no room for a write (SQLITE_FULL): of its error only the words reach us. */
export const isStorageFull = (error: unknown): boolean =>
  error instanceof Error && /database or disk is full|SQLITE_FULL/.test(error.message);
