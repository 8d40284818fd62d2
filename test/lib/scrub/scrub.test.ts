/** A scrub removes what deleted rows left in the files of an object's database. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toFiller } from "../../../src/lib/scrub/filler";
import { remakeTables } from "../../../src/lib/scrub/rewrite-tables";
import { scrub } from "../../../src/lib/scrub/scrub";
import type { SqlRow, SqlValue } from "../../../src/lib/sql-row";
import { type ObjectFiles, openObjectFiles } from "../../support/object-files";

const [ADA, EVE] = ["zqunforgettable-ada", "zqunforgettable-eve"];
let files: ObjectFiles;
beforeEach(() => {
  files = openObjectFiles();
  for (const table of ["people", "letters"]) files.sql.rows(`CREATE TABLE ${table} (name TEXT PRIMARY KEY, text TEXT NOT NULL)`);
});
afterEach(() => files.remove());

function add(name: string, table = "people"): void {
  files.sql.rows(`INSERT INTO ${table} (name, text) VALUES (?, ?)`, name, `of ${name}`);
}
function forget(name: string): void {
  files.sql.rows("DELETE FROM people WHERE name = ?", name);
}
const size = (): number => files.sql.rows<{ page_count: number }>("PRAGMA page_count")[0]?.page_count ?? 0;
/** Makes the write-ahead log as long as it may be before it is copied. */
function fillLog(rows = 450): void {
  files.sql.rows("CREATE TABLE IF NOT EXISTS pages (page BLOB)");
  for (let row = 0; row < rows; row++) files.sql.rows("INSERT INTO pages (page) VALUES (randomblob(4000))");
}

describe("a table", () => {
  it("keeps its other rows, and no byte of the deleted one is left", async () => {
    for (const name of [ADA, EVE]) add(name);
    forget(ADA);
    await files.scrub();

    expect(files.sql.rows("SELECT name FROM people")).toEqual([{ name: EVE }]);
    expect(files.count(ADA)).toBe(0);
  });

  it.each([0, 1, 2])(
    "leaves no copy in a long write-ahead log of a row that it kept, and that is deleted later (%i scrubs between)",
    async (times) => {
      for (const name of [ADA, EVE]) add(name);
      fillLog();
      forget(ADA);
      for (let time = 0; time < times; time++) await files.scrub();
      forget(EVE);
      await files.scrub();

      expect(files.count(EVE)).toBe(0);
    },
  );

  it.each([0, 150, 300, 450])(
    "covers the log to the end of a transaction of 8 MB, the largest body, behind one of %d rows",
    async (rows) => {
      fillLog(rows);
      files.sql.rows("CREATE TABLE bodies (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
      files.sql.transaction(() => {
        for (let part = 0; part < 80; part++) {
          const name = part < 40 ? ADA : EVE;
          files.sql.rows("INSERT INTO bodies (text) VALUES (?)", `${name} ${"x".repeat(100_000)} ${name}`);
        }
      });
      files.sql.rows(`UPDATE bodies SET text = ${toFiller("text")}`);
      files.sql.rows("DELETE FROM bodies");
      await files.scrub();

      expect(files.count(EVE)).toBe(0);
    },
  );

  it("hides no page that another deletion frees before the scrub", async () => {
    add(ADA);
    for (let n = 0; n < 500; n++) add(`${EVE} ${n} ${"x".repeat(1_000)}`, "letters");
    forget(ADA);
    files.sql.rows("DROP TABLE letters");
    await files.scrub();

    expect(files.count(EVE)).toBe(0);
  });

  it("hides no page of a table that is made anew behind it", async () => {
    add(ADA);
    for (let n = 0; n < 500; n++) add(`${EVE} ${n} ${"x".repeat(1_000)}`, "letters");
    forget(ADA);
    files.sql.transaction(() => remakeTables(files.sql, ["letters"]));
    await files.scrub();

    expect(files.count(EVE)).toBe(0);
  });

  it.each([1, 20, 300, 2_000])("hides none of %d pages of another one that is made anew in the same transaction", async (pages) => {
    add(ADA);
    for (let n = 0; n < pages; n++) add(`${EVE} ${n} ${"x".repeat(3_000)}`, "letters");
    files.sql.transaction(() => {
      remakeTables(files.sql, ["letters"]);
      files.sql.rows("DELETE FROM people");
    });
    await files.scrub();

    expect(files.count(EVE)).toBe(0);
  });

  it("takes no more space, however often it is scrubbed", async () => {
    add(EVE);
    const forgetOne = async () => {
      add(ADA);
      forget(ADA);
      await files.scrub();
    };
    await forgetOne();
    const once = size();
    for (let time = 0; time < 5; time++) await forgetOne();

    expect(size()).toBe(once);
  });

  it("takes no more space, however often others are made anew before one scrub", async () => {
    const remake = () => {
      add(ADA, "letters");
      files.sql.transaction(() => remakeTables(files.sql, ["letters"]));
    };
    remake();
    const once = size();
    for (let time = 0; time < 5; time++) remake();

    expect(size()).toBeLessThan(once + 50);
    await files.scrub();
    expect(files.count(ADA)).toBe(0);
  });
});

describe("a scrub that fails", () => {
  const failing = () =>
    files.scrub({
      isRewriting: () => {
        throw new Error("the disk is full");
      },
    });

  it("takes no more space, however often it is tried again, and the next one ends it", async () => {
    add(ADA);
    files.sql.rows("DELETE FROM people");
    await expect(failing()).rejects.toThrow("the disk is full");
    const once = files.session.usedBytes();
    for (let time = 0; time < 3; time++) await expect(failing()).rejects.toThrow("the disk is full");
    expect(files.session.usedBytes()).toBe(once);

    await files.scrub();
    expect([files.count(ADA), files.sql.rows("SELECT n FROM scrub")]).toEqual([0, []]);
  });
});

describe("a database that is emptied", () => {
  const listAll = () => files.sql.rows("SELECT name FROM sqlite_master");

  it("during a scrub ends it, with those that wait, and nothing is made again", async () => {
    add(ADA);
    const scrubs = [files.scrub(), files.scrub(), files.scrub()];
    await files.session.wipe();
    await Promise.all(scrubs);
    expect(listAll()).toEqual([]);
  });

  it("before a scrub needs none", async () => {
    await files.session.wipe();
    await files.scrub();
    expect(listAll()).toEqual([]);
  });
});

describe("scrubs at once", () => {
  /** A storage that notes when a scrub ends, and fails the statements that it is told to. */
  function createStorage(failing: readonly number[] = []) {
    const told: string[] = [];
    let statements = 0;
    const exec = <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => {
      if (failing.includes(++statements)) throw new Error("the disk is full");
      if (statement.startsWith("DELETE FROM scrub WHERE")) told.push("done");
      const rows = files.session.all<Row>(statement, ...params);
      return { toArray: () => rows };
    };
    const { transaction: transactionSync, usedBytes } = files.session;
    const storage = {
      sql: {
        exec,
        get databaseSize() {
          return usedBytes();
        },
      },
      transactionSync,
      sync: async () => {},
    };
    return { told, storage };
  }

  it("are two: the running one, and one for all who ask meanwhile", async () => {
    const { told, storage } = createStorage();
    const first = scrub(storage).then(() => told.push("first"));
    const rest = [1, 2, 3].map(() => scrub(storage).then(() => told.push("rest")));
    await Promise.all([first, ...rest]);

    expect(told).toEqual(["done", "first", "done", "rest", "rest", "rest"]);
  });

  it("do not share the failure of the running one, and the next one begins anew", async () => {
    const { told, storage } = createStorage([2]);
    const first = scrub(storage);
    const next = scrub(storage);

    await expect(first).rejects.toThrow("the disk is full");
    await next;
    await scrub(storage);
    expect(told).toEqual(["done", "done"]);
  });

  it("take no more room than those one after another, and leave no filler", async () => {
    for (let time = 0; time < 3; time++) await files.scrub();
    const before = size();
    for (let n = 0; n < 40; n++) add(`${EVE} ${n}`, "letters");
    files.sql.rows("DROP TABLE letters");
    await Promise.all(Array.from({ length: 20 }, () => files.scrub()));

    expect(files.count(EVE)).toBe(0);
    expect(size() - before).toBeLessThan(100);
    expect(files.sql.rows("SELECT n FROM scrub")).toEqual([]);
  });
});
