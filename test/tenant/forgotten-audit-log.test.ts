/** A deleted tenant's audit log leaves no byte of its entries in the files of its database, however long it is. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAuditLog } from "../../src/audit/audit-log";
import { AUDIT_NONCES, AUDIT_TABLES } from "../../src/audit/audit-tables";
import { overwriteFreed } from "../../src/lib/overwrite-freed";
import type { SqlRow, SqlValue } from "../../src/lib/sql-row";
import type { SyncSql } from "../../src/lib/sync-sql";
import { ACT } from "../support/act";

const MARK = "zqunforgettable";
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "audit-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** As the platform keeps an object's database: with a write-ahead log that is copied after 1,000 pages. */
function openDatabase() {
  const database = new DatabaseSync(join(folder, "object.sqlite"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 1000");
  const sql: SyncSql = {
    rows: <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => database.prepare(statement).all(...params) as Row[],
    transaction: (body) => {
      database.exec("BEGIN");
      const value = body();
      database.exec("COMMIT");
      return value;
    },
  };
  const overwrite = () => overwriteFreed({ sql: { exec: (statement) => database.exec(statement) }, sync: async () => {} });
  return { sql, overwrite };
}

const countMarks = (): number =>
  readdirSync(folder).reduce((sum, name) => sum + readFileSync(join(folder, name), "latin1").split(MARK).length - 1, 0);

test.each([10, 10_000])("of %d entries", async (entries) => {
  const { sql, overwrite } = openDatabase();
  for (const statement of [...AUDIT_TABLES, ...AUDIT_NONCES]) sql.rows(statement);
  const audit = createAuditLog({ sql, owner: () => "ten_1", now: () => 1 });
  for (let first = 0; first < entries; first += 1_000)
    sql.transaction(() => {
      for (let index = first; index < Math.min(entries, first + 1_000); index++)
        audit.append(ACT, { action: "model.put", target: { type: "model", id: `m${index}-${MARK}` }, details: {} });
    });
  expect(countMarks()).toBeGreaterThanOrEqual(entries);

  sql.transaction(() => audit.forget());
  await overwrite();

  expect(countMarks()).toBe(0);
});
