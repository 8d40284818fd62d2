/**
 * Removes what deleted rows left in the files of an object's database: copies in pages of their tables, bytes in free pages, and the
 * write-ahead log.
 */

import type { SqlRow, SqlValue } from "../sql-row";
import { CREATE_FILLER, insertFiller, LEAST_ROWS, toFillerRows } from "./filler";
import { listTables, rewriteTables } from "./rewrite-tables";

interface ScrubbedStorage {
  readonly sql: {
    exec<Row extends SqlRow>(statement: string, ...params: SqlValue[]): { toArray(): Row[] };
    readonly databaseSize: number;
  };
  transactionSync<T>(work: () => T): T;
  sync(): Promise<void>;
}

/** Returns the tables to be written anew. Called when the scrub begins. Default: all. */
export type ScrubbedTables = () => readonly string[];

interface Scrub {
  readonly running: Promise<void>;
  /** Begins when `running` ends, for all who asked meanwhile. */
  next: Promise<void> | null;
}
const scrubs = new WeakMap<ScrubbedStorage, Scrub>();

/**
 * Scrubs what was deleted before the call. Who calls while it runs waits for it, and for one more that all of them share: each writes some
 * 25 MB, and the tables twice.
 */
export function scrub(storage: ScrubbedStorage, tables?: ScrubbedTables): Promise<void> {
  const found = scrubs.get(storage);
  if (found) {
    found.next ??= found.running.catch(() => {}).then(() => scrub(storage, tables));
    return found.next;
  }
  const running = runScrub(storage, tables).finally(() => scrubs.delete(storage));
  scrubs.set(storage, { running, next: null });
  return running;
}

/**
 * Filler takes the pages that were freed last, so that no copy of a table begins in one. Its size makes SQLite copy its log and start it
 * again. Then the tables are written anew, and the log is written over to where it may have ended: behind the pages after which it is copied,
 * and behind the largest transaction. That is the one of the tables, one that left its filler, or one of the largest body. Each step is its own
 * commit.
 */
async function runScrub(storage: ScrubbedStorage, tables?: ScrubbedTables): Promise<void> {
  const run = async (statement: string): Promise<number> => {
    const rows = storage.sql.exec(statement).toArray().length;
    await storage.sync();
    return rows;
  };
  storage.sql.exec(CREATE_FILLER);
  await run(insertFiller(LEAST_ROWS));
  const copied = storage.transactionSync(() => {
    const sql = {
      rows: <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => storage.sql.exec<Row>(statement, ...params).toArray(),
    };
    return rewriteTables(sql, tables ? tables() : listTables(sql), () => storage.sql.databaseSize);
  });
  await storage.sync();
  const rows = await run("DELETE FROM scrub RETURNING n");
  // Rows of its own: what is deleted meanwhile leaves filler for the next scrub.
  await run(insertFiller(rows + toFillerRows(copied) + LEAST_ROWS, "-number"));
  await run("DELETE FROM scrub WHERE n < 0");
}
