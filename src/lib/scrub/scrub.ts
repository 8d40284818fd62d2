/**
 * Removes what deleted rows left in the files of an object's database: copies in pages of their tables, bytes in free pages, and the
 * write-ahead log.
 */

import type { SqlRow, SqlValue } from "../sql-row";
import { boundSpace, CREATE_FILLER, insertFiller, LEAST_ROWS, toFillerRows } from "./filler";
import { listTables, rewriteTables } from "./rewrite-tables";
import type { Rows } from "./table-schema";

interface ScrubbedStorage {
  readonly sql: {
    exec<Row extends SqlRow>(statement: string, ...params: SqlValue[]): { toArray(): Row[] };
    readonly databaseSize: number;
  };
  transactionSync<T>(work: () => T): T;
  sync(): Promise<void>;
}

export interface ScrubOptions {
  /** Called when the scrub begins. False: tables are left as they are. */
  readonly isRewriting?: () => boolean;
  /** The most bytes of tables that are written anew. The object does nothing else meanwhile: some 4 s, and a memory that does not grow. */
  readonly mostBytes?: number;
}
const MOST_BYTES = 256_000_000;

export interface Scrubbed {
  /** True: the tables were written anew. */
  readonly rewritten: boolean;
}

interface Scrub {
  readonly running: Promise<Scrubbed>;
  /** Begins when `running` ends, for all who asked meanwhile. */
  next: Promise<Scrubbed> | null;
}
const scrubs = new WeakMap<ScrubbedStorage, Scrub>();

/**
 * Scrubs what was deleted before the call. Who calls while it runs waits for it, and for one more that all of them share: each writes some
 * 25 MB, and the tables twice.
 */
export function scrub(storage: ScrubbedStorage, options: ScrubOptions = {}): Promise<Scrubbed> {
  const found = scrubs.get(storage);
  if (found) {
    found.next ??= found.running.catch(() => null).then(() => scrub(storage, options));
    return found.next;
  }
  const running = runScrub(storage, options).finally(() => scrubs.delete(storage));
  scrubs.set(storage, { running, next: null });
  return running;
}

/**
 * Filler takes the pages that were freed last, so that no copy of a table begins in one. Its size makes SQLite copy its log and start it
 * again. Then the tables are written anew, and the log is written over to where it may have ended: behind the pages after which it is copied,
 * and behind the largest transaction. That is the one of the tables, one that left its filler, or one of the largest body. Each step is its own
 * commit.
 */
async function runScrub(storage: ScrubbedStorage, options: ScrubOptions): Promise<Scrubbed> {
  const run = async (statement: string): Promise<number> => {
    const rows = storage.sql.exec(statement).toArray().length;
    await storage.sync();
    return rows;
  };
  storage.sql.exec(CREATE_FILLER);
  await run(insertFiller(LEAST_ROWS));
  const sql: Rows = {
    rows: <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => storage.sql.exec<Row>(statement, ...params).toArray(),
  };
  const usedBytes = () => storage.sql.databaseSize;
  const { isRewriting = () => true, mostBytes = MOST_BYTES } = options;
  const { rewritten, copied } = storage.transactionSync(() => {
    if (!isRewriting()) return { rewritten: false, copied: 0 };
    const all = listTables(sql);
    return { rewritten: true, copied: rewriteTables(sql, usedBytes() <= mostBytes ? all : listFitting(sql, all, mostBytes), usedBytes) };
  });
  await storage.sync();
  const rows = await run("DELETE FROM scrub RETURNING n");
  // Rows of its own: what is deleted meanwhile leaves filler for the next scrub.
  await run(insertFiller(rows + toFillerRows(copied) + LEAST_ROWS, "-number"));
  await run("DELETE FROM scrub WHERE n < 0");
  return { rewritten };
}

/** As many tables as fit, the smallest first. */
function listFitting(sql: Rows, tables: readonly string[], mostBytes: number): readonly string[] {
  let room = mostBytes;
  const sized = tables.map((name) => ({ name, bytes: boundSpace(sql, name) })).toSorted((one, other) => one.bytes - other.bytes);
  return sized.flatMap(({ name, bytes }) => {
    room -= bytes;
    return room < 0 ? [] : [name];
  });
}
