import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { describe, expect, test } from "vitest";
import * as schema from "../../src/read-model/schema";
import { TABLES } from "../../src/read-model/store";
import { LEFT_OF_ERASED } from "./rows";

const directory = fileURLToPath(new URL("../../migrations/", import.meta.url).href);
const files = readdirSync(directory)
  .filter((name) => name.endsWith(".sql"))
  .sort();
const migrations = files.map((name) => readFileSync(directory + name, "utf8"));

function migrated(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  for (const sql of migrations) database.exec(sql);
  return database;
}

const tables = Object.values(schema)
  .filter((value) => value instanceof SQLiteTable)
  .map((table) => getTableConfig(table));

interface ColumnInfo {
  readonly name: string;
  readonly type: string;
  readonly notNull: boolean;
  readonly default: string | null;
  readonly key: boolean;
}

const toLiteral = (value: unknown): string | null => {
  if (value === undefined) return null;
  return typeof value === "string" ? `'${value}'` : String(value);
};

function wanted(table: (typeof tables)[number]): ColumnInfo[] {
  const key = new Set(table.primaryKeys.flatMap((primary) => primary.columns.map((column) => column.name)));
  return table.columns.map((column) => ({
    name: column.name,
    type: column.getSQLType().toUpperCase(),
    notNull: column.notNull,
    default: toLiteral(column.default),
    key: key.has(column.name) || column.primary,
  }));
}

function found(database: DatabaseSync, table: string): ColumnInfo[] {
  return database
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .map((row) => ({
      name: String(row.name),
      type: String(row.type),
      notNull: row.notnull === 1,
      default: row.dflt_value === null || row.dflt_value === "NULL" ? null : String(row.dflt_value),
      key: row.pk !== 0,
    }));
}

const byName = (columns: readonly ColumnInfo[]): ColumnInfo[] => [...columns].sort((a, b) => a.name.localeCompare(b.name));

describe("the schema and the migrated database", () => {
  test("name the same tables", () => {
    // The full-text index is a virtual table, with tables of its own: drizzle knows none of them.
    const rows = migrated()
      .prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search\\_index%' ESCAPE '\\' AND name <> 'search_terms'",
      )
      .all();
    expect(rows.map((row) => row.name).sort()).toEqual(tables.map((table) => table.name).sort());
  });

  test("have no table of a session's rows that an erasure and a rebuild would miss", () => {
    const database = migrated();
    const names = tables.map(({ name }) => name).filter((name) => found(database, name).some((column) => column.name === "session_id"));
    const known = [...TABLES.map(({ name }) => name), ...LEFT_OF_ERASED];
    expect(["sessions", ...names].sort()).toEqual(known.sort());
  });

  test.each(tables.map((table) => [table.name, table] as const))("agree on every column of %s", (name, table) => {
    expect(byName(found(migrated(), name))).toEqual(byName(wanted(table)));
  });

  test.each(tables.map((table) => [table.name] as const))("begin every key of %s with the tenant", (name) => {
    const keys = migrated()
      .prepare(`PRAGMA index_list(${name})`)
      .all()
      .map(({ name: index }) => migrated().prepare(`PRAGMA index_info(${index})`).all().at(0)?.name);
    expect(new Set(keys)).toEqual(new Set(["tenant_id"]));
  });

  test.each(tables.flatMap((table) => table.indexes.map((index) => [index.config.name, index] as const)))(
    "agree on the index %s",
    (name, index) => {
      const columns = migrated()
        .prepare(`PRAGMA index_info(${name})`)
        .all()
        .map((row) => row.name);
      expect(columns).toEqual(index.config.columns.map((column) => ("name" in column ? column.name : null)));
    },
  );
});

describe("migrations", () => {
  test("are numbered without gaps, so that their order is plain", () => {
    expect(files.map((name) => Number(name.slice(0, 4)))).toEqual(files.map((_, index) => index + 1));
  });

  test("begin and commit no transaction: the real database refuses it", () => {
    for (const sql of migrations) expect(sql.replaceAll(/--.*$|^CREATE TRIGGER .*$/gm, "")).not.toMatch(/\b(BEGIN|COMMIT|SAVEPOINT)\b/i);
  });

  test("have each trigger on one line, with one statement: the real database cuts others apart", () => {
    const made = migrated().prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger'").all();
    expect(made.length).toBeGreaterThan(0);
    for (const { sql } of made) expect(sql).toMatch(/^CREATE TRIGGER \w+ (BEFORE|AFTER) (INSERT|UPDATE|DELETE) ON \w+ BEGIN [^;\n]+; END$/);
    for (const sql of migrations) expect(sql).not.toMatch(/\r|\bCASE\b.*\bEND; END/);
  });
});
