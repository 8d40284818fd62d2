/** The database of an object that is no session. It is synchronous, so that no other code runs between a read and its write. */
import type { SqlRow, SqlValue } from "./sql-row";

export interface SyncSql {
  /** Runs one statement with bound parameters. `Row` states the columns that the statement names. */
  rows<Row extends SqlRow>(statement: string, ...params: SqlValue[]): readonly Row[];
  /** Runs `body` completely or not at all: an exception rolls back and is passed on. It must not be nested. */
  transaction<T>(body: () => T): T;
  /** The space that the database has in use, in bytes, without free pages. Also inside a transaction. */
  usedBytes(): number;
}

/** What this takes of an object's storage. */
export interface SyncStorage {
  readonly sql: {
    exec<Row extends SqlRow>(statement: string, ...params: SqlValue[]): { toArray(): Row[] };
    readonly databaseSize: number;
  };
  transactionSync<T>(work: () => T): T;
}

export function createSyncSql(storage: SyncStorage): SyncSql {
  return {
    rows: <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => storage.sql.exec<Row>(statement, ...params).toArray(),
    transaction: (body) => storage.transactionSync(body),
    usedBytes: () => storage.sql.databaseSize,
  };
}

/**
 * True when the engine found no room for a write (SQLITE_FULL). Only the text of its error tells. Where a disk is full, workerd finds it at the
 * commit, after the call: the object is reset, and the error is its caller's.
 */
export const isStorageFull = (error: unknown): boolean =>
  error instanceof Error && /database or disk is full|SQLITE_FULL/.test(error.message);

/**
 * True when workerd hides why an object failed: on a local server's full disk, that it could not begin. The try may free what the next one needs, so that no later
 * read tells whether there was room.
 */
export const isReasonHidden = (error: unknown): boolean =>
  error instanceof Error && /^internal error\b.*; reference = /i.test(error.message);
