/** An index that is made anew leaves no byte of its terms in the files of the session's object, however large it was. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { beginDeletion, RECALL_TABLES, remakeIndex } from "../../src/session/log/recall-tables";
import { type ObjectFiles, openObjectFiles } from "../support/object-files";

const MARK = "zqunforgettable";
const WORDS = 200;
let files: ObjectFiles;
beforeEach(() => {
  files = openObjectFiles();
});
afterEach(() => files.remove());

test.each([10, 5_000])("of %d passages", async (passages) => {
  const { sql: database, session: sql } = files;
  sql.script(`CREATE TABLE items (meta TEXT); CREATE TABLE meta (key TEXT, value TEXT); ${RECALL_TABLES}`);
  database.transaction(() => {
    for (let passage = 0; passage < passages; passage++) {
      const words = Array.from({ length: WORDS }, (_, word) => `w${(passage * WORDS + word) % 90_001}`);
      const exact = [passage % 100 === 7 ? `${MARK}${passage}` : "", ...words].join(" ");
      database.rows("INSERT INTO recall (rowid, exact, stems) VALUES (?, ?, '')", passage, exact);
    }
  });
  expect(files.count(MARK)).toBeGreaterThan(0);

  database.transaction(() => remakeIndex(sql, beginDeletion(sql)));
  await files.scrub();

  expect(files.count(MARK)).toBe(0);
});
