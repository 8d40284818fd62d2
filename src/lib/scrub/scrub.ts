/**
 * Removes what deleted rows left in the files of an object's database: copies in pages of their tables, bytes in free pages, and the
 * write-ahead log.
 */

import { createSyncSql, type SyncStorage } from "../sync-sql";
import { giveWay, type startTimer } from "../timer";
import { CREATE_FILLER, insertFiller, LEAST_ROWS, toFillerRows } from "./filler";
import { listTables, rewriteTables } from "./rewrite-tables";

interface ScrubbedStorage extends SyncStorage {
  sync(): Promise<void>;
}

export interface ScrubOptions {
  /** Called when the scrub begins. False: tables are left as they are. */
  readonly isRewriting?: () => boolean;
  /** In a larger database no table is written anew. The copies need room, and the object does nothing else while they are made: some 4 s. */
  readonly mostBytes?: number;
  /** Absent: the timers of the platform. */
  readonly schedule?: typeof startTimer;
}
const MOST_BYTES = 256_000_000;

export interface Scrubbed {
  /** False: `isRewriting` has left the tables for later. */
  readonly isComplete: boolean;
}

interface Scrub {
  readonly running: Promise<Scrubbed>;
  /** Begins when `running` ends, for all who asked meanwhile. */
  next: Promise<Scrubbed> | null;
}
const scrubs = new WeakMap<ScrubbedStorage, Scrub>();

/**
 * Scrubs what was deleted before the call. A call that comes while a scrub runs waits until it ends, and then for one second scrub, which serves
 * all such calls: each writes some 25 MB, and the tables four times.
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

/** The keys of the first filler, so that the next scrub after a failed one takes their place. */
const FIRST_KEY = "1000000 + number";

/**
 * Filler takes the pages that were freed last, so that no copy of a table begins in one. Its size makes SQLite copy its log and start it
 * again. Then the tables are written anew, and the log is written over to where it may have ended: behind the pages after which it is copied,
 * and behind the largest transaction. That is the one of the tables, one that left its filler, or one of the largest body. Each step is its own
 * commit. A database that is emptied meanwhile needs none.
 */
async function runScrub(
  storage: ScrubbedStorage,
  { isRewriting = () => true, mostBytes = MOST_BYTES, schedule }: ScrubOptions,
): Promise<Scrubbed> {
  const sql = createSyncSql(storage);
  const isEmptied = (): boolean => sql.rows("SELECT 1 FROM sqlite_master WHERE name = 'scrub'").length === 0;
  const commit = async <T>(work: () => T): Promise<T | null> => {
    if (isEmptied()) return null;
    const done = sql.transaction(work);
    await storage.sync();
    await giveWay(schedule);
    return done;
  };
  if (listTables(sql).length === 0) return { isComplete: true };
  sql.rows(CREATE_FILLER);
  await commit(() => sql.rows(insertFiller(LEAST_ROWS, FIRST_KEY)));
  const tables = await commit(() => {
    const isComplete = isRewriting();
    return { isComplete, written: isComplete && sql.usedBytes() <= mostBytes ? rewriteTables(sql) : 0 };
  });
  const rows = await commit(() => sql.rows("DELETE FROM scrub RETURNING n").length);
  // Rows of its own: what is deleted meanwhile leaves filler for the next scrub.
  await commit(() => sql.rows(insertFiller((rows ?? 0) + toFillerRows(tables?.written ?? 0) + LEAST_ROWS, "-number")));
  await commit(() => sql.rows("DELETE FROM scrub WHERE n < 0"));
  return { isComplete: tables?.isComplete ?? true };
}
