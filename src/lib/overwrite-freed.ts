/**
 * Overwrites what deleted rows left in the files of an object's database: the pages that were freed last, and the write-ahead log. The
 * platform allows neither `secure_delete` nor a checkpoint.
 */

import type { SqlRow } from "./sql-row";
import type { SyncSql } from "./sync-sql";

/**
 * More than the 1,000 pages after which SQLite copies its write-ahead log into the database and starts the log again
 * (docs/platform-facts.md).
 */
const FILLED_PAGES = 1_100;
const PAGE_BYTES = 4_096;
/**
 * A row with its header is 4,061 bytes and 244 times 4,092: SQLite keeps 4,061 bytes in the table's own page and fills each further page, so
 * that no page, the table's first one included, keeps more than 17 bytes of what it held before. A row may have 2 MB.
 */
const ROW_BYTES = 4_061 + 244 * 4_092 - 5;
/** The statements that fill freed pages. They run inside a transaction, too. */
const buildFill = (bytes: number): readonly string[] => [
  "CREATE TABLE IF NOT EXISTS scrub (n INTEGER PRIMARY KEY, filler BLOB NOT NULL)",
  "DELETE FROM scrub",
  `INSERT INTO scrub (n, filler) WITH RECURSIVE rows (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rows WHERE n < ${Math.ceil(bytes / ROW_BYTES)})
  SELECT n, zeroblob(${ROW_BYTES}) FROM rows`,
];
const LEAST_BYTES = FILLED_PAGES * PAGE_BYTES;

/**
 * The most space that a table takes for each byte of its values: itself, its indexes, which repeat values in pages that may be half full, and
 * what a page keeps for a row.
 */
const SPACE_FACTOR = 3;
const SPACE_OF_ROW = 200;

/** An upper bound: a platform without `dbstat` does not say which pages a table has. */
function boundSpace(sql: SyncSql, table: string): number {
  const [row] = sql.rows(`SELECT * FROM "${table}" LIMIT 1`);
  if (!row) return 0;
  const lengths = Object.keys(row).map((column) => `coalesce(length(CAST("${column}" AS BLOB)), 0)`);
  const [sum] = sql.rows<{ bytes: number }>(
    `SELECT sum(${SPACE_FACTOR} * (${lengths.join(" + ")}) + ${SPACE_OF_ROW}) AS bytes FROM "${table}"`,
  );
  return sum?.bytes ?? 0;
}

/** SQL for a text of as many bytes as the column's. A row that becomes shorter leaves its text in the page, so it is overwritten first. */
export const toFiller = (column: string): string => `replace(hex(zeroblob(length(CAST(${column} AS BLOB)))), '00', '-')`;

const SCHEMA = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type <> 'table', type";

/** The last keys of tables that never give out a key twice. The platform lets them be read and written as rows. */
function readSequences(sql: SyncSql, statements: readonly { readonly sql: string }[], tables: readonly string[]) {
  if (!statements.some(({ sql: statement }) => /\bAUTOINCREMENT\b/.test(statement))) return [];
  const query = "SELECT name, seq FROM sqlite_sequence WHERE name IN (SELECT value FROM json_each(?))";
  return sql.rows<{ name: string; seq: number }>(query, JSON.stringify(tables));
}

/**
 * Drops the tables, writes over the pages that they had, and makes them anew without rows: SQLite leaves a deleted row's bytes in a page
 * that its table keeps.
 */
export function remakeTables(sql: SyncSql, tables: readonly string[]): void {
  const statements = tables.flatMap((name) => sql.rows<{ sql: string }>(SCHEMA, name));
  const sequences = readSequences(sql, statements, tables);
  const space = tables.reduce((sum, name) => sum + boundSpace(sql, name), LEAST_BYTES);
  for (const name of tables) sql.rows(`DROP TABLE "${name}"`);
  for (const statement of buildFill(space)) sql.rows(statement);
  for (const { sql: statement } of statements) sql.rows(statement);
  for (const { name, seq } of sequences) sql.rows("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", name, seq);
}

/** Writes the tables anew with the rows that they have, so that no page keeps a deleted one. Call it inside a transaction. */
export function rewriteTables(sql: SyncSql, tables: readonly string[]): void {
  const kept = tables.map((name) => [name, sql.rows(`SELECT * FROM "${name}"`)] as const);
  remakeTables(sql, tables);
  for (const [name, rows] of kept) for (const row of rows) insertRow(sql, name, row);
}

function insertRow(sql: SyncSql, table: string, row: SqlRow): void {
  const columns = Object.keys(row).map((column) => `"${column}"`);
  sql.rows(`INSERT INTO "${table}" (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`, ...Object.values(row));
}

interface FreedStorage {
  readonly sql: { exec(statement: string): unknown };
  sync(): Promise<void>;
}

/**
 * The filler takes the pages that were freed last, and its size makes SQLite copy its log. The second pass writes over the log itself. Each
 * step is its own commit.
 */
export async function overwriteFreed(storage: FreedStorage): Promise<void> {
  for (let pass = 0; pass < 2; pass++) {
    for (const statement of buildFill(LEAST_BYTES)) storage.sql.exec(statement);
    await storage.sync();
    storage.sql.exec("DELETE FROM scrub");
    await storage.sync();
  }
}
