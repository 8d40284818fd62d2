/**
 * Overwrites what deleted rows left in the files of an object's database: the pages that were freed last, and the write-ahead log. The
 * platform allows neither `secure_delete` nor a checkpoint.
 */

import type { SyncSql } from "./sync-sql";

/**
 * More than the 1,000 pages after which SQLite copies its write-ahead log into the database and starts the log again
 * (docs/platform-facts.md).
 */
const FILLED_PAGES = 1_100;
const PAGE_BYTES = 4_096;
const ROWS = 5;
/** The statements that fill freed pages. They run inside a transaction, too. */
const FILL: readonly string[] = [
  "CREATE TABLE IF NOT EXISTS scrub (n INTEGER PRIMARY KEY, filler BLOB NOT NULL)",
  "DELETE FROM scrub",
  `INSERT INTO scrub (n, filler) WITH RECURSIVE rows (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rows WHERE n < ${ROWS})
  SELECT n, zeroblob(${Math.ceil((FILLED_PAGES * PAGE_BYTES) / ROWS)}) FROM rows`,
];

/** SQL for a text of as many bytes as the column's. A row that becomes shorter leaves its text in the page, so it is overwritten first. */
export const toFiller = (column: string): string => `replace(hex(zeroblob(length(CAST(${column} AS BLOB)))), '00', '-')`;

const SCHEMA = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type <> 'table', type";

/**
 * Drops the tables, writes over the pages that they had, and makes them anew without rows: SQLite leaves a deleted row's bytes in a page
 * that its table keeps.
 */
export function remakeTables(sql: SyncSql, tables: readonly string[]): void {
  const statements = tables.flatMap((name) => sql.rows<{ sql: string }>(SCHEMA, name));
  for (const name of tables) sql.rows(`DROP TABLE "${name}"`);
  for (const statement of FILL) sql.rows(statement);
  for (const { sql: statement } of statements) sql.rows(statement);
}

/**
 * The filler takes the pages that were freed last, and its size makes SQLite copy its log. The second pass writes over the log itself. Each
 * step is its own commit.
 */
export async function overwriteFreed(storage: DurableObjectStorage): Promise<void> {
  for (let pass = 0; pass < 2; pass++) {
    for (const statement of FILL) storage.sql.exec(statement);
    await storage.sync();
    storage.sql.exec("DELETE FROM scrub");
    await storage.sync();
  }
}
