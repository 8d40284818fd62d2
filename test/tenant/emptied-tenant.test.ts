/** A deleted tenant with many sessions: the files of its object keep no external id of one. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrateTenant } from "../../src/tenant/core/tenant-schema";
import { closeTenant, emptyTenant } from "../../src/tenant/erasure/empty-tenant";
import { sized } from "../support/effort";
import { toMark } from "../support/marks";
import { type ObjectFiles, openObjectFiles } from "../support/object-files";

let files: ObjectFiles;
beforeEach(() => {
  files = openObjectFiles();
});
afterEach(() => files.remove());

test.each([1_000, sized({ whole: 150_000, small: 20_000 })])("of %i sessions", async (sessions) => {
  const { sql } = files;
  sql.transaction(() => migrateTenant(sql));
  sql.transaction(() => {
    for (let n = 0; n < sessions; n++) {
      const id = `ses_${String((n * 7_919) % sessions).padStart(26, "0")}`;
      const external = `${toMark(n)}${"x".repeat(40)}`;
      sql.rows("INSERT INTO sessions (id, created_at, external_id) VALUES (?, ?, ?)", id, n, external);
    }
  });
  sql.transaction(() => closeTenant(sql, 5));
  await files.scrub();

  sql.transaction(() => emptyTenant(sql));
  await files.scrub();

  expect(files.findMarks()).toEqual([]);
});
