/**
 * Makes tables anew, with or without their rows. SQLite copies rows when it splits or merges pages, and leaves the old copies in pages that the
 * table keeps, so that a row that is overwritten before it is deleted may still be there.
 */
import type { SyncSql } from "../sync-sql";
import { EMPTY_FILLER, fillFreed } from "./filler";
import { readSchema, readSequences, writeSequences } from "./table-schema";

type Sql = Pick<SyncSql, "rows" | "usedBytes">;

/** The tables of a database, without those of the platform, of SQLite, of full-text indexes, and the filler. */
export function listTables(sql: Pick<Sql, "rows">): readonly string[] {
  const found = sql.rows<{ name: string }>(
    `SELECT name FROM sqlite_master AS found WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' AND name <> 'scrub'
       AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*' AND name NOT GLOB '__*'
       AND NOT EXISTS (SELECT 1 FROM sqlite_master AS index_of WHERE index_of.sql LIKE 'CREATE VIRTUAL%' AND found.name GLOB index_of.name || '_*')`,
  );
  return found.map(({ name }) => name);
}

const readOld = (sql: Sql, tables: readonly string[]) => tables.map((name) => ({ name, statements: readSchema(sql, name) }));

/** Filler takes the pages of the tables: they would else be the first of what is made next. */
function dropTables(sql: Sql, tables: readonly string[]): void {
  const used = sql.usedBytes();
  for (const name of tables) sql.rows(`DROP TABLE "${name}"`);
  sql.rows(fillFreed(used - sql.usedBytes()));
}

/** Makes the tables anew without rows. Call it inside a transaction, before the transaction deletes anything else. */
export function remakeTables(sql: Sql, tables: readonly string[]): void {
  for (const statement of EMPTY_FILLER) sql.rows(statement);
  const statements = readOld(sql, tables).flatMap((old) => old.statements);
  const sequences = readSequences(sql, tables);
  dropTables(sql, tables);
  for (const { sql: statement } of statements) sql.rows(statement);
  writeSequences(sql, sequences);
}

/**
 * Writes all tables anew: a page that one of them frees may go to another. Call it inside a transaction that does nothing else, when filler has
 * taken the pages that were freed last. Returns how many bytes it wrote, without filler.
 */
export function rewriteTables(sql: Sql): number {
  const before = sql.usedBytes();
  const tables = listTables(sql);
  const old = readOld(sql, tables);
  const sequences = readSequences(sql, tables);
  for (const { name, statements } of old) copyTable(sql, name, statements[0]?.sql ?? "");
  const copied = sql.usedBytes() - before;
  dropTables(sql, tables);
  const filled = sql.usedBytes();
  for (const name of tables) sql.rows(`ALTER TABLE "${toCopy(name)}" RENAME TO "${name}"`);
  for (const { type, sql: statement } of old.flatMap(({ statements }) => statements)) if (type !== "table") sql.rows(statement);
  writeSequences(sql, sequences);
  return copied + sql.usedBytes() - filled;
}

const toCopy = (table: string): string => `copy_of_${table}`;

function copyTable(sql: Sql, table: string, statement: string): void {
  sql.rows(statement.replace(/^CREATE TABLE\s+(?:"[^"]*"|\w+)/, `CREATE TABLE "${toCopy(table)}"`));
  sql.rows(`INSERT INTO "${toCopy(table)}" SELECT * FROM "${table}"`);
}
