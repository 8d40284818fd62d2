/** What a table has besides its rows: its statements, and its last keys. */
import type { SyncSql } from "../sync-sql";

export type Rows = Pick<SyncSql, "rows">;

/** The table's own statement, then those of its indexes and triggers. */
export function readSchema(sql: Rows, table: string): readonly { readonly type: string; readonly sql: string }[] {
  return sql.rows<{ type: string; sql: string }>(
    "SELECT type, sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type <> 'table', type",
    table,
  );
}

/** The last key of a table that never gives out a key twice. */
type Sequence = { readonly name: string; readonly seq: number };

/** The platform lets the last keys be read and written as rows. */
export function readSequences(sql: Rows, tables: readonly string[]): readonly Sequence[] {
  if (sql.rows("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'").length === 0) return [];
  return sql.rows<Sequence>("SELECT name, seq FROM sqlite_sequence WHERE name IN (SELECT value FROM json_each(?))", JSON.stringify(tables));
}

export function writeSequences(sql: Rows, sequences: readonly Sequence[]): void {
  for (const { name, seq } of sequences) {
    sql.rows("DELETE FROM sqlite_sequence WHERE name = ?", name);
    sql.rows("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", name, seq);
  }
}
