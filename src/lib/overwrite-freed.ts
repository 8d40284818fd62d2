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
const CREATE_FILLER = "CREATE TABLE IF NOT EXISTS scrub (n INTEGER PRIMARY KEY, filler BLOB NOT NULL)";
/** More than SQLite may hand out before the pages that were freed last. */
const LEAST_ROWS = Math.ceil((FILLED_PAGES * PAGE_BYTES) / ROW_BYTES);

/** `n`: the key of a row, from its number among the new ones. Null: any free one. */
const insertFiller = (rows: number, n = "NULL"): string =>
  `INSERT OR REPLACE INTO scrub (n, filler) WITH RECURSIVE rows (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM rows WHERE number < ${rows})
  SELECT ${n}, zeroblob(${ROW_BYTES}) FROM rows`;

/** Statements before pages are freed: filler from before would be freed later, and SQLite would take its pages first. */
export const EMPTY_FILLER: readonly string[] = [CREATE_FILLER, "DELETE FROM scrub"];
/**
 * The statement after pages of so many bytes were freed. They would else be the first of the next table, whose rows do not cover them. The
 * filler stays until `overwriteFreed`, which learns by it how long the write-ahead log may be.
 */
export const fillFreed = (bytes: number): string => insertFiller(LEAST_ROWS + Math.ceil(bytes / ROW_BYTES));

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

/** Empties the filler, and returns the space that the tables take at most. */
function prepare(sql: SyncSql, tables: readonly string[]): number {
  for (const statement of EMPTY_FILLER) sql.rows(statement);
  return tables.reduce((sum, name) => sum + boundSpace(sql, name), 0);
}

function makeAnew(sql: SyncSql, tables: readonly string[], space: number): void {
  const statements = tables.flatMap((name) => sql.rows<{ sql: string }>(SCHEMA, name));
  const sequences = readSequences(sql, statements, tables);
  for (const name of tables) sql.rows(`DROP TABLE "${name}"`);
  sql.rows(fillFreed(space));
  for (const { sql: statement } of statements) sql.rows(statement);
  for (const { name, seq } of sequences) sql.rows("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", name, seq);
}

/**
 * Drops the tables, writes over the pages that they had, and makes them anew without rows: SQLite leaves a deleted row's bytes in a page
 * that its table keeps. Call it inside a transaction, before the transaction deletes anything else.
 */
export function remakeTables(sql: SyncSql, tables: readonly string[]): void {
  makeAnew(sql, tables, prepare(sql, tables));
}

/**
 * Makes a change that deletes rows, and writes the tables anew with the rows that they then have, so that no page keeps a deleted one. Call
 * it inside a transaction.
 */
export function rewriteTables(sql: SyncSql, tables: readonly string[], change: () => void): void {
  const space = prepare(sql, tables);
  change();
  const kept = tables.map((name) => [name, sql.rows(`SELECT * FROM "${name}"`)] as const);
  makeAnew(sql, tables, space);
  for (const [name, rows] of kept) for (const row of rows) insertRow(sql, name, row);
}

function insertRow(sql: SyncSql, table: string, row: SqlRow): void {
  const columns = Object.keys(row).map((column) => `"${column}"`);
  sql.rows(`INSERT INTO "${table}" (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`, ...Object.values(row));
}

interface FreedStorage {
  readonly sql: { exec(statement: string): { toArray(): readonly unknown[] } };
  sync(): Promise<void>;
}

interface Overwriting {
  readonly running: Promise<void>;
  /** Begins when `running` ends, for all who asked meanwhile. */
  next: Promise<void> | null;
}
const overwritings = new WeakMap<FreedStorage, Overwriting>();

/**
 * Overwrites what was freed before the call. Who calls while it runs waits for it, and for one more that all of them share: each writes some
 * 15 MB.
 */
export function overwriteFreed(storage: FreedStorage): Promise<void> {
  const found = overwritings.get(storage);
  if (found) {
    found.next ??= found.running.catch(() => {}).then(() => overwriteFreed(storage));
    return found.next;
  }
  const running = overwrite(storage).finally(() => overwritings.delete(storage));
  overwritings.set(storage, { running, next: null });
  return running;
}

/**
 * The filler takes the pages that were freed last, and its size makes SQLite copy its log and start it again. Then the log is written over
 * to where it may have ended: behind the pages after which it is copied, and behind the largest transaction. That is one which made tables
 * anew, and left its filler, or one of the largest body. Each step is its own commit.
 */
async function overwrite(storage: FreedStorage): Promise<void> {
  const run = async (statement: string): Promise<number> => {
    const rows = storage.sql.exec(statement).toArray().length;
    await storage.sync();
    return rows;
  };
  storage.sql.exec(CREATE_FILLER);
  await run(insertFiller(LEAST_ROWS));
  const rows = await run("DELETE FROM scrub RETURNING n");
  // Rows of its own: what is deleted meanwhile leaves filler for the next overwriting.
  await run(insertFiller(rows + LEAST_ROWS, "-number"));
  await run("DELETE FROM scrub WHERE n < 0");
}
