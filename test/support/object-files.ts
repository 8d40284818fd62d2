/** The database of an object as the platform keeps it, in a folder whose files a test searches byte by byte. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { overwriteFreed } from "../../src/lib/overwrite-freed";
import type { SqlRow, SqlValue } from "../../src/lib/sql-row";
import type { SyncSql } from "../../src/lib/sync-sql";

export interface ObjectFiles {
  readonly sql: SyncSql;
  /** Runs statements without rows. */
  script(statements: string): void;
  /** Overwrites what deleted rows left, as an object does. */
  overwrite(): Promise<void>;
  /** How often the text is in the files. */
  count(text: string): number;
  remove(): void;
}

export function openObjectFiles(): ObjectFiles {
  const folder = mkdtempSync(join(tmpdir(), "object-"));
  const database = new DatabaseSync(join(folder, "object.sqlite"));
  // As on the platform: a write-ahead log that is copied after 1,000 pages.
  database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 1000");
  const exec = (statement: string) => {
    const rows = database.prepare(statement).all();
    return { toArray: () => rows };
  };
  const storage = { sql: { exec }, sync: async () => {} };
  return {
    sql: {
      rows: <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => database.prepare(statement).all(...params) as Row[],
      transaction: (body) => {
        database.exec("BEGIN");
        const value = body();
        database.exec("COMMIT");
        return value;
      },
    },
    script: (statements) => database.exec(statements),
    overwrite: () => overwriteFreed(storage),
    count: (text) => readdirSync(folder).reduce((sum, name) => sum + readFileSync(join(folder, name), "latin1").split(text).length - 1, 0),
    remove: () => {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}
