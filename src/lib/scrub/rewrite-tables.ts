/**
 * Writes tables anew with the rows that they have. SQLite copies rows when it splits or merges pages, and leaves the old copies in pages that
 * the table keeps, so that a row that is overwritten before it is deleted may still be there.
 */
import { fillFreed } from "./filler";
import { type Rows, readSchema, readSequences, writeSequences } from "./table-schema";

/** The tables of a database, without those of the platform, of SQLite, of full-text indexes, and the filler. */
export function listTables(sql: Rows): readonly string[] {
  const found = sql.rows<{ name: string }>(
    `SELECT name FROM sqlite_master AS found WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' AND name <> 'scrub'
       AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*' AND name NOT GLOB '__*'
       AND NOT EXISTS (SELECT 1 FROM sqlite_master AS index_of WHERE index_of.sql LIKE 'CREATE VIRTUAL%' AND found.name GLOB index_of.name || '_*')`,
  );
  return found.map(({ name }) => name);
}

/**
 * Writes all tables anew: a page that one of them frees may go to another. Call it inside a transaction that does nothing else, when filler has
 * taken the pages that were freed last. `usedBytes`: the space that the database has in use, without free pages. Returns how many bytes it
 * wrote, without filler.
 */
export function rewriteTables(sql: Rows, usedBytes: () => number): number {
  const before = usedBytes();
  const tables = listTables(sql);
  const old = tables.map((name) => ({ name, statements: readSchema(sql, name) }));
  const sequences = readSequences(sql, tables);
  for (const { name, statements } of old) copyTable(sql, name, statements[0]?.sql ?? "");
  const copied = usedBytes() - before;
  for (const { name } of old) sql.rows(`DROP TABLE "${name}"`);
  // Indexes are made in the pages that are free then.
  sql.rows(fillFreed(before + copied - usedBytes()));
  const filled = usedBytes();
  for (const { name } of old) sql.rows(`ALTER TABLE "${toCopy(name)}" RENAME TO "${name}"`);
  for (const { type, sql: statement } of old.flatMap(({ statements }) => statements)) if (type !== "table") sql.rows(statement);
  writeSequences(sql, sequences);
  return copied + usedBytes() - filled;
}

const toCopy = (table: string): string => `copy_of_${table}`;

function copyTable(sql: Rows, table: string, statement: string): void {
  sql.rows(statement.replace(/^CREATE TABLE\s+(?:"[^"]*"|\w+)/, `CREATE TABLE "${toCopy(table)}"`));
  sql.rows(`INSERT INTO "${toCopy(table)}" SELECT * FROM "${table}"`);
}
