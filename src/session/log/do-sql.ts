/** The session's SQL over the object's own storage. */
import type { SqlRow, SqlValue } from "../../lib/sql-row";
import type { Sql } from "./sql";

/** What an object's database may hold, in bytes: 10 GB (docs/platform-facts.md). */
const MAX_DATABASE_BYTES = 10_000_000_000;
/** Kept free of it for the end of what is under way: a reply, its calls and their results, frames, failures, tombstones. */
const RESERVED_BYTES = 64_000_000;

export function createObjectSql(storage: DurableObjectStorage): Sql {
  return {
    all: <Row extends SqlRow>(query: string, ...params: SqlValue[]): Row[] => storage.sql.exec<Row>(query, ...params).toArray(),
    script: (statements) => void storage.sql.exec(statements),
    transaction: (work) => storage.transactionSync(work),
    wipe: () => storage.deleteAll(),
    scrub: () => scrub(storage),
    isFull: () => storage.sql.databaseSize > MAX_DATABASE_BYTES - RESERVED_BYTES,
  };
}

/** One more than the pages after which SQLite copies its write-ahead log into the database and begins it anew (docs/platform-facts.md). */
const FILLED_PAGES = 1_100;
const PAGE_BYTES = 4_096;
const ROWS = 5;
const FILLER = `INSERT INTO scrub (n, filler) WITH RECURSIVE rows (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rows WHERE n < ${ROWS})
  SELECT n, zeroblob(${Math.ceil((FILLED_PAGES * PAGE_BYTES) / ROWS)}) FROM rows`;

/**
 * `secure_delete` and a checkpoint are not ours to ask for. Filler takes the pages that were freed last, and so much of it makes the engine
 * copy its log; the second time it is written over the log itself. Each step is a commit of its own.
 */
async function scrub(storage: DurableObjectStorage): Promise<void> {
  storage.sql.exec("CREATE TABLE IF NOT EXISTS scrub (n INTEGER PRIMARY KEY, filler BLOB NOT NULL)");
  for (let pass = 0; pass < 2; pass++) {
    storage.sql.exec("DELETE FROM scrub");
    storage.sql.exec(FILLER);
    await storage.sync();
    storage.sql.exec("DELETE FROM scrub");
    await storage.sync();
  }
}
