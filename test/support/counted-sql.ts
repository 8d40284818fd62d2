/** Counts what a tenant's object does with its database: statements, rows that they return, and rows that they write. */
import { DatabaseSync } from "node:sqlite";
import type { SyncSql } from "../../src/lib/sync-sql";
import { createMigratedSql } from "../tenant/memory-sql";

export interface Cost {
  readonly statements: number;
  readonly read: number;
  readonly written: number;
}

interface CountedSql {
  readonly sql: SyncSql;
  /** What was done since the last call. */
  take(): Cost;
  explain(statement: string): readonly { readonly detail: string }[];
  /** The statements since the last `take`, each once. */
  readonly seen: ReadonlySet<string>;
}

/** `note`: called with each statement and what it did. */
export function createCountedSql(note?: (cost: Cost, statement: string) => void): CountedSql {
  const database = new DatabaseSync(":memory:");
  const inner = createMigratedSql(database);
  const changes = database.prepare("SELECT total_changes() AS n");
  const countWritten = (): number => Number(changes.get()?.n);
  const seen = new Set<string>();
  const before = { statements: 0, read: 0, written: countWritten() };
  const sql: SyncSql = {
    ...inner,
    rows: (statement, ...params) => {
      const written = note ? countWritten() : 0;
      const rows = inner.rows<never>(statement, ...params);
      note?.({ statements: 1, read: rows.length, written: countWritten() - written }, statement);
      before.statements += 1;
      before.read += rows.length;
      seen.add(statement);
      return rows;
    },
  };
  return {
    sql,
    seen,
    take: () => {
      const { statements, read, written } = before;
      seen.clear();
      Object.assign(before, { statements: 0, read: 0, written: countWritten() });
      return { statements, read, written: before.written - written };
    },
    explain: (statement) => database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all() as unknown as { detail: string }[],
  };
}
