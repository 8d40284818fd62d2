/**
 * Filler over what deleted rows left in the files of an object's database: the pages that were freed last, and the write-ahead log. The
 * platform allows neither `secure_delete` nor a checkpoint.
 */

import { type Rows, readSchema, readSequences, writeSequences } from "./table-schema";

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
export const CREATE_FILLER = "CREATE TABLE IF NOT EXISTS scrub (n INTEGER PRIMARY KEY, filler BLOB NOT NULL)";
/** More than SQLite may hand out before the pages that were freed last. */
export const LEAST_ROWS = Math.ceil((FILLED_PAGES * PAGE_BYTES) / ROW_BYTES);

/** Rows of filler that take so many bytes. */
export const toFillerRows = (bytes: number): number => Math.ceil(bytes / ROW_BYTES);

/** `n`: the key of a row, from its number among the new ones. Null: any free one. */
export const insertFiller = (rows: number, n = "NULL"): string =>
  `INSERT OR REPLACE INTO scrub (n, filler) WITH RECURSIVE rows (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM rows WHERE number < ${rows})
  SELECT ${n}, zeroblob(${ROW_BYTES}) FROM rows`;

/** Statements before pages are freed: filler from before would be freed later, and SQLite would take its pages first. */
export const EMPTY_FILLER: readonly string[] = [CREATE_FILLER, "DELETE FROM scrub"];
/**
 * The statement after pages of so many bytes were freed. They would else be the first of the next table, whose rows do not cover them. The
 * filler stays until the next scrub (`lib/scrub`), which learns by it how long the write-ahead log may be.
 */
export const fillFreed = (bytes: number): string => insertFiller(LEAST_ROWS + toFillerRows(bytes));

/**
 * The most space that a table takes for each byte of its values: itself, its indexes, which repeat values in pages that may be half full, and
 * what a page keeps for a row.
 */
const SPACE_FACTOR = 3;
const SPACE_OF_ROW = 200;

/** An upper bound: a platform without `dbstat` does not say which pages a table has. */
function boundSpace(sql: Rows, table: string): number {
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

/**
 * Drops the tables, writes over the pages that they had, and makes them anew without rows: SQLite leaves a deleted row's bytes in a page
 * that its table keeps. Call it inside a transaction, before the transaction deletes anything else.
 */
export function remakeTables(sql: Rows, tables: readonly string[]): void {
  for (const statement of EMPTY_FILLER) sql.rows(statement);
  const space = tables.reduce((sum, name) => sum + boundSpace(sql, name), 0);
  const statements = tables.flatMap((name) => readSchema(sql, name));
  const sequences = readSequences(sql, tables);
  for (const name of tables) sql.rows(`DROP TABLE "${name}"`);
  sql.rows(fillFreed(space));
  for (const { sql: statement } of statements) sql.rows(statement);
  writeSequences(sql, sequences);
}
