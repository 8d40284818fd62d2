/** How the tables of an object change after a release: one more step behind those that were applied. */
import { describe, expect, it } from "vitest";
import { openChatStore } from "../../src/channels/chat/chat-rows";
import { applySchemaSteps, type SchemaSteps, UnknownSchemaError } from "../../src/lib/schema-steps";
import type { SyncSql } from "../../src/lib/sync-sql";
import { migrateTenant } from "../../src/tenant/core/tenant-schema";
import { openForTest } from "../deployment/support";
import { createEmptySql } from "../tenant/memory-sql";

/** What the first release made, and what a made-up second one adds: a column with a value for the rows that are there, and another unit. */
const FIRST = ["CREATE TABLE notes (id INTEGER PRIMARY KEY, seconds INTEGER NOT NULL) STRICT"];
const SECOND = [
  "ALTER TABLE notes ADD COLUMN is_read INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE notes RENAME COLUMN seconds TO ms",
  "UPDATE notes SET ms = ms * 1000, is_read = 1",
];

const migrate = (sql: SyncSql, steps: SchemaSteps): void => sql.transaction(() => applySchemaSteps(sql, steps));
const readVersion = (sql: SyncSql) => sql.rows("SELECT version FROM schema_version");

function filled(): SyncSql {
  const sql = createEmptySql();
  migrate(sql, [FIRST]);
  sql.rows("INSERT INTO notes (id, seconds) VALUES (1, 7)");
  return sql;
}

describe("a second step", () => {
  it("changes the filled tables of the first, once", () => {
    const sql = filled();

    migrate(sql, [FIRST, SECOND]);
    migrate(sql, [FIRST, SECOND]);

    expect(sql.rows("SELECT id, ms, is_read FROM notes")).toEqual([{ id: 1, ms: 7_000, is_read: 1 }]);
    expect(readVersion(sql)).toEqual([{ version: 2 }]);
  });

  it("that fails leaves the tables and the version of the first", () => {
    const sql = filled();

    expect(() => migrate(sql, [FIRST, [...SECOND, "UPDATE nothing SET x = 1"]])).toThrow();

    expect(sql.rows("SELECT id, seconds FROM notes")).toEqual([{ id: 1, seconds: 7 }]);
    expect(readVersion(sql)).toEqual([{ version: 1 }]);
  });

  it("makes an empty object what a migrated one is", () => {
    const sql = createEmptySql();
    migrate(sql, [FIRST, SECOND]);
    const old = filled();
    migrate(old, [FIRST, SECOND]);

    const columns = "SELECT name FROM pragma_table_info('notes')";
    expect(sql.rows(columns)).toEqual(old.rows(columns));
  });
});

describe("tables of a build with more steps", () => {
  it("are refused and left as they are, because this build does not know what they mean", () => {
    const sql = filled();
    migrate(sql, [FIRST, SECOND]);

    expect(() => migrate(sql, [FIRST])).toThrow(new UnknownSchemaError("the tables have version 2, and this build knows 1"));

    expect(sql.rows("SELECT id, ms FROM notes")).toEqual([{ id: 1, ms: 7_000 }]);
    expect(readVersion(sql)).toEqual([{ version: 2 }]);
  });

  it.each<[string, (sql: SyncSql) => unknown]>([
    ["the deployment", (sql) => openForTest({ sql })],
    ["a chat", openChatStore],
    ["a tenant", migrateTenant],
  ])("%s does not open", (_, open) => {
    const sql = createEmptySql();
    open(sql);
    sql.rows("UPDATE schema_version SET version = version + 1");

    expect(() => open(sql)).toThrow(UnknownSchemaError);
  });
});
