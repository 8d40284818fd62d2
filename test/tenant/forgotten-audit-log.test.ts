/** A deleted tenant's audit log leaves no byte of its entries in the files of its database, however long it is. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAuditLog } from "../../src/audit/audit-log";
import { AUDIT_TABLES } from "../../src/audit/audit-tables";
import { ACT } from "../support/act";
import { type ObjectFiles, openObjectFiles } from "../support/object-files";

const MARK = "zqunforgettable";
let files: ObjectFiles;
beforeEach(() => {
  files = openObjectFiles();
});
afterEach(() => files.remove());

test.each([10, 10_000])("of %d entries", async (entries) => {
  const { sql } = files;
  for (const statement of AUDIT_TABLES) sql.rows(statement);
  const audit = createAuditLog({ sql, owner: () => "ten_1", now: () => 1 });
  for (let first = 0; first < entries; first += 1_000)
    sql.transaction(() => {
      for (let index = first; index < Math.min(entries, first + 1_000); index++)
        audit.append(ACT, { action: "model.put", target: { type: "model", id: `m${index}-${MARK}` }, details: {} });
    });
  expect(files.count(MARK)).toBeGreaterThanOrEqual(entries);

  sql.transaction(() => audit.forget());
  await files.scrub();

  expect(files.count(MARK)).toBe(0);
});
