import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { describe, expect, test } from "vitest";
import { USAGE_GROUPS, type UsageInput } from "../../src/app/read-api";
import { buildUsageQuery, parseUsageCursor, toUsageCursor } from "../../src/read-model/usage-query";
import { SESSION, TENANT } from "./builders";

const folder = join(import.meta.dirname, "../../migrations");
const database = new DatabaseSync(":memory:");
for (const name of readdirSync(folder).sort()) database.exec(readFileSync(join(folder, name), "utf8"));

const INPUT: UsageInput = {
  tenant: TENANT,
  groupBy: ["day"],
  from: 0,
  to: 1_000,
  session: null,
  model: null,
  purpose: null,
  key: null,
  endUser: null,
  limit: 50,
  after: null,
};

/** SQLite's query plan. The query is only built, and the database behind it is not called. */
function explainPlan(change: Partial<UsageInput>): string {
  const query = buildUsageQuery({ ...INPUT, ...change });
  if (!query) throw new Error("no query");
  const { sql, params } = new SQLiteSyncDialect().sqlToQuery(query);
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(params as (string | number)[]));
  return rows.map((row) => String(row.detail)).join("; ");
}

describe("a query of usage", () => {
  test("reads the tenant's calls of the range, whatever the groups, and no other", () => {
    for (const table of ["usage", "erased_usage"]) {
      const search = `SEARCH ${table} USING INDEX ${table}_by_time (tenant_id=? AND at>? AND at<?)`;
      expect(explainPlan({ groupBy: [...USAGE_GROUPS] })).toContain(search);
      expect(explainPlan({ groupBy: [], model: "gpt-4o", purpose: "title" })).toContain(search);
    }
    expect(explainPlan({ groupBy: [...USAGE_GROUPS] })).not.toContain("SCAN usage");
  });

  test("of one session reads that session's", () => {
    for (const table of ["usage", "erased_usage"]) {
      expect(explainPlan({ session: SESSION })).toContain(`SEARCH ${table} USING PRIMARY KEY (tenant_id=? AND session_id=?)`);
    }
  });
});

describe("a cursor of usage", () => {
  test("names the group it stands at, in whatever words", () => {
    const keys = [20_779, SESSION, '模型 "x"/🙂', "turn", "", "李雷"];
    expect(parseUsageCursor(toUsageCursor(keys), USAGE_GROUPS)).toEqual(keys);
    expect(toUsageCursor(keys)).toMatch(/^[\w-]+$/);
  });

  test.each([
    ["of other groups", toUsageCursor(["gpt-4o"])],
    ["of more groups", toUsageCursor([1, "gpt-4o"])],
    ["that is no list", btoa("{}")],
    ["that is no JSON", btoa("[1")],
    ["that is no base64", "%"],
    ["of no whole day", toUsageCursor([1.5])],
  ])("%s is none", (_, text) => {
    expect(parseUsageCursor(text, ["day"])).toBeNull();
  });

  test("of a list without groups is none: it has one row", () => {
    expect(parseUsageCursor(toUsageCursor([]), [])).toBeNull();
  });
});
