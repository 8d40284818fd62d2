/** Implements `Sql` over the Durable Object's storage. */
import type { SqlRow, SqlValue } from "../../lib/sql-row";
import type { Sql } from "./sql";

/** The largest size of an object's database, in bytes: 10 GB (docs/platform-facts.md). */
const MAX_DATABASE_BYTES = 10_000_000_000;
/** Reserved for the end of what is under way: a reply, its calls and their results, frames, failures, tombstones. */
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

/**
 * More than the 1,000 pages after which SQLite copies its write-ahead log into the database and starts the log again
 * (docs/platform-facts.md).
 */
const FILLED_PAGES = 1_100;
const PAGE_BYTES = 4_096;
const ROWS = 5;
const FILLER = `INSERT INTO scrub (n, filler) WITH RECURSIVE rows (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rows WHERE n < ${ROWS})
  SELECT n, zeroblob(${Math.ceil((FILLED_PAGES * PAGE_BYTES) / ROWS)}) FROM rows`;

/**
 * Overwrites deleted content. The platform allows neither `secure_delete` nor a checkpoint. The filler takes the pages
 * that were freed last, and its size makes SQLite copy its log. The second pass writes over the log itself. Each step
 * is its own commit.
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
