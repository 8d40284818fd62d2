import { describe, expect, it } from "vitest";
import type { SyncSql } from "../../src/lib/sync-sql";
import { isCreated, migrateTenant } from "../../src/tenant/core/tenant-schema";
import { createSettings } from "../../src/tenant/settings/settings";
import { createEmptySql, createMigratedSql } from "./memory-sql";
import { makeId } from "./support";

const TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";

describe("the tables of a tenant", () => {
  it("asking whether the tenant was created creates nothing", () => {
    const sql = createEmptySql();
    expect(isCreated(sql)).toBe(false);
    expect(sql.rows(TABLES)).toEqual([]);
  });

  it("migrating again keeps every row", () => {
    const sql = createMigratedSql();
    createSettings(sql).insert({ tenant: makeId("ten", 1), name: "Ada", at: 5 });
    sql.transaction(() => migrateTenant(sql));
    expect(createSettings(sql).read().name).toBe("Ada");
    expect(isCreated(sql)).toBe(true);
  });

  it("a migration that fails leaves nothing", () => {
    const sql = createEmptySql();
    const failing: SyncSql = {
      ...sql,
      rows: (statement, ...params) => {
        if (statement.includes("TABLE models")) throw new Error("disk full");
        return sql.rows(statement, ...params);
      },
    };
    expect(() => sql.transaction(() => migrateTenant(failing))).toThrow("disk full");
    expect(sql.rows(TABLES)).toEqual([]);
  });
});

describe("settings", () => {
  it("a new tenant gets the embedded model and no policy of its own", () => {
    const settings = createSettings(createMigratedSql());
    settings.insert({ tenant: makeId("ten", 1), name: "Ada", at: 5 });
    expect(settings.read()).toEqual({ name: "Ada", default_model: "embedded", default_policy: "", allowed_origins: [] });
    expect(settings.identity()).toEqual({ tenant: makeId("ten", 1), created_at: 5 });
  });

  it("a change leaves what it does not name", () => {
    const settings = createSettings(createMigratedSql());
    settings.insert({ tenant: makeId("ten", 1), name: "Ada", at: 5 });
    const origins = ["https://app.example.com"];
    settings.change({ allowed_origins: origins });

    expect(settings.change({ default_policy: "opal" })).toEqual({
      name: "Ada",
      default_model: "embedded",
      default_policy: "opal",
      allowed_origins: origins,
    });
  });
});
