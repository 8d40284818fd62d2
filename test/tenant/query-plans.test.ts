/** The statements of the tenant's object and their plans (test/support/tenant-plans.ts). */
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { createErasureReceipts } from "../../src/tenant/erasure/erasure-receipts";
import { createFiles } from "../../src/tenant/files/files";
import { createDirectory } from "../../src/tenant/shared/directory";
import { createErasedUsage } from "../../src/tenant/usage/erased-usage";
import { createCountedSql } from "../support/counted-sql";
import { findScans, ScanError } from "../support/tenant-plans";
import { createMigratedSql } from "./memory-sql";
import { makeId, NAMES } from "./support";

it("a statement that has lost its index is refused", () => {
  const database = new DatabaseSync(":memory:");
  const sql = createMigratedSql(database);
  database.exec("DROP INDEX sessions_by_external_id");
  // A text of its own: plans of statements that other tests have made are known.
  const lost = "SELECT id FROM sessions WHERE external_id = 'lost'";
  expect(findScans(lost, sql.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${lost}`))).toEqual(["SCAN sessions"]);
  expect(() =>
    createDirectory({ ...sql, rows: (_text, ...params) => sql.rows(`${lost} AND ?1 = ?1`, ...params) }).findExternalId("x"),
  ).toThrow(ScanError);
});

it("a tenant's sessions are counted once, however many it has, and then with each change", () => {
  const { sql, take } = createCountedSql();
  const directory = createDirectory(sql);
  const register = (n: number) => directory.register({ session: makeId("ses", n), idempotency: null, at: 1, most: { tenant: 4 } });
  for (let n = 1; n <= 3; n++) expect(register(n).ok).toBe(true);

  directory.forget(makeId("ses", 2));
  expect(directory.count()).toBe(2);
  expect([register(4).ok, register(5).ok, register(6)]).toEqual([
    true,
    true,
    { ok: false, error: { code: "session_limit", of: "tenant", limit: 4 } },
  ]);
  expect(() =>
    sql.transaction(() => {
      directory.forget(makeId("ses", 1));
      throw new Error("rolled back");
    }),
  ).toThrow("rolled back");
  expect(directory.count()).toBe(4);
  take();
  directory.count();
  expect(take()).toEqual({ statements: 2, read: 2, written: 0 });
});

it("a tenant whose sessions are never counted keeps no number", () => {
  const { sql } = createCountedSql();
  createDirectory(sql).register({ session: makeId("ses", 1), idempotency: null, at: 1 });
  expect(sql.rows("SELECT n FROM session_count")).toEqual([]);
});

it("whether a name is in usage, the use of a file and its end are looked up alone", () => {
  const { sql, seen, take, explain } = createCountedSql();
  const files = createFiles(sql);
  const file = makeId("fil", 1);
  files.begin({ file, name: "a.txt", media_type: "text/plain", bytes: 1 }, 1);
  files.finish({ file, stored: { sha256: "a", tokens: 1 }, idempotency: null }, 1);
  take();
  files.use({ session: makeId("ses", 1), files: [file], throwaway: "names" }, 1);
  files.remove(file, 1);
  createErasedUsage(sql, NAMES).isNamed("digest");
  expect(seen.size).toBeGreaterThan(5);
  expect([...seen].flatMap((text) => explain(text)).filter(({ detail }) => detail.startsWith("SCAN"))).toEqual([]);
});

it("a receipt goes through what is under way once", () => {
  const { sql, take } = createCountedSql();
  const receipts = createErasureReceipts(sql);
  receipts.add({ id: makeId("era", 1), kind: "session", target: makeId("ses", 1), forks: false, at: 1 });
  take();
  receipts.find(makeId("era", 1));
  expect(take().statements).toBe(4);
});
