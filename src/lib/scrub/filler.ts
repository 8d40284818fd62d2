/**
 * Filler over what deleted rows left in the files of an object's database: the pages that were freed last, and the write-ahead log. The
 * platform allows neither `secure_delete` nor a checkpoint.
 */

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

/** SQL for a text of as many bytes as the column's. A row that becomes shorter leaves its text in the page, so it is overwritten first. */
export const toFiller = (column: string): string => `replace(hex(zeroblob(length(CAST(${column} AS BLOB)))), '00', '-')`;
