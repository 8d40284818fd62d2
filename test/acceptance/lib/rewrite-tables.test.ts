/** Tables that are written anew by a scrub: nothing of a deleted row is left in the files, and all else is as it was. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAuditLog } from "../../../src/audit/audit-log";
import { AUDIT_TABLES } from "../../../src/audit/audit-tables";
import { migrateChat } from "../../../src/channels/chat/chat-schema";
import { migrateDeployment } from "../../../src/deployment/deployment-schema";
import { listTables } from "../../../src/lib/scrub/rewrite-tables";
import { migrateSession } from "../../../src/session/log/log-schema";
import { migrateTenant } from "../../../src/tenant/core/tenant-schema";
import { ACT } from "../../support/act";
import { drawn } from "../../support/effort";
import { toMark } from "../../support/marks";
import { type ObjectFiles, openObjectFiles } from "../../support/object-files";

let files: ObjectFiles;
beforeEach(() => {
  files = openObjectFiles();
});
afterEach(() => files.remove());

const SCHEMAS = {
  "without a row id": "CREATE TABLE texts (id TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (id)) WITHOUT ROWID",
  "with a text as key": "CREATE TABLE texts (id TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT",
  "with an index of texts": "CREATE TABLE texts (id TEXT PRIMARY KEY, text TEXT NOT NULL); CREATE INDEX by_text ON texts (text)",
} as const;

/** Random order, so that pages split in the middle. */
const shuffle = (n: number, count: number): number => (n * 7_919) % count;

describe.each(Object.entries(SCHEMAS))("a table %s", (_, schema) => {
  it.each([
    [40, 20],
    [400, 60],
    [400, 300],
    [120, 3_000],
    [30, 60_000],
  ])("of %i rows with texts of %i characters keeps no byte of the deleted ones, and all others", async (count, length) => {
    files.script(schema);
    for (let n = 0; n < count; n++) {
      const number = shuffle(n, count);
      files.sql.rows("INSERT INTO texts (id, text) VALUES (?, ?)", `id${number}`, `${toMark(number)} ${"x".repeat(length)}`);
    }
    for (let n = 0; n < count; n++) if (n % 5 !== 0) files.sql.rows("DELETE FROM texts WHERE id = ?", `id${n}`);
    const kept = files.sql.rows("SELECT * FROM texts ORDER BY id");

    await files.scrub();

    expect(files.sql.rows("SELECT * FROM texts ORDER BY id")).toEqual(kept);
    expect(files.findMarks()).toEqual(Array.from({ length: Math.ceil(count / 5) }, (_, n) => toMark(n * 5)));
    expect(files.sql.rows("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  });
});

describe("no byte is left", () => {
  const add = (table: string, { rows, length }: { readonly rows: number; readonly length: number }) =>
    files.sql.transaction(() => {
      for (let n = 0; n < rows; n++)
        files.sql.rows(`INSERT INTO ${table} (id, text) VALUES (?, ?)`, n, `${toMark(n)}${"x".repeat(length)}`);
    });
  const CREATE = "(id INTEGER PRIMARY KEY, text TEXT NOT NULL)";
  const find = () => files.findMarks();

  it.each([1, 2, 5, 100, 1_500])("in copies that begin in %i pages that were freed before", async (rows) => {
    files.script(`CREATE TABLE gone ${CREATE}`);
    for (let n = 0; n < 30; n++) files.script(`CREATE TABLE others${n} ${CREATE}`);
    add("gone", { rows, length: 3_000 });
    files.script("DROP TABLE gone");
    await files.scrub();
    expect(find()).toEqual([]);
  });

  it("in indexes that are made when the pages of a large table are free", async () => {
    files.script(`CREATE TABLE texts ${CREATE}`);
    for (let n = 0; n < 30; n++) files.script(`CREATE INDEX by_id${n} ON texts (id) WHERE id < 0`);
    add("texts", { rows: 9_000, length: 1_000 });
    files.sql.rows("DELETE FROM texts WHERE id % 8 = 0");
    await files.scrub();
    expect(find().length).toBe(7_875);
  });

  it("in the write-ahead log behind the indexes of a large table", async () => {
    files.script("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT; CREATE INDEX by_text ON texts (text)");
    add("texts", { rows: 300_000, length: 30 });
    for (let time = 0; time < 2; time++) {
      files.sql.rows("DELETE FROM texts WHERE id % 20 = ?", time);
      await files.scrub();
    }
    const left = find().filter((mark) => Number(mark.slice(15, -1)) % 20 < 2);
    expect(left).toEqual([]);
  });

  it("in the write-ahead log of a table that was large when it was written anew", async () => {
    files.script(`CREATE TABLE texts ${CREATE}; CREATE INDEX by_start ON texts (substr(text, 1, 40))`);
    add("texts", { rows: 200, length: 100_000 });
    for (const left of [200, 150, 100, 50, 0]) {
      files.sql.rows("DELETE FROM texts WHERE id >= ?", left);
      await files.scrub();
    }
    expect(find()).toEqual([]);
  });

  it("but of tables in a database that is too large, which keeps all of them as they are", async () => {
    files.script(`CREATE TABLE texts ${CREATE}`);
    add("texts", { rows: 400, length: 1_000 });
    files.script("DELETE FROM texts WHERE id % 4 = 1");
    expect(await files.scrub({ mostBytes: 100_000 })).toEqual({ isComplete: true });
    expect(find().length).toBeGreaterThan(300);
    await files.scrub();
    expect(find().length).toBe(300);
  });

  it("but of tables that are left as they are", async () => {
    files.script(`CREATE TABLE texts ${CREATE}`);
    add("texts", { rows: 100, length: 10 });
    files.script("DELETE FROM texts WHERE id % 2 = 0");
    expect(await files.scrub({ isRewriting: () => false })).toEqual({ isComplete: false });
    expect(find().length).toBe(100);
    await files.scrub({ isRewriting: () => true });
    expect(find().length).toBe(50);
  });
});

type Step =
  | { readonly does: "insert" | "update"; readonly table: number; readonly n: number; readonly length: number }
  | { readonly does: "delete"; readonly table: number; readonly n: number; readonly rows: number }
  | { readonly does: "scrub" };
const place = { table: fc.nat(2), n: fc.nat(200) };
const length = fc.oneof(fc.nat(50), fc.nat(3_000), fc.nat(20_000));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 30, arbitrary: fc.record({ does: fc.constant("insert" as const), ...place, length }) },
  { weight: 10, arbitrary: fc.record({ does: fc.constant("update" as const), ...place, length }) },
  { weight: 20, arbitrary: fc.record({ does: fc.constant("delete" as const), ...place, rows: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("scrub" as const) }) },
);

/** Three tables in which each text that was ever written has a mark of its own. */
class Tables {
  #marks = 0;
  readonly #files: ObjectFiles;
  constructor(own: ObjectFiles) {
    this.#files = own;
    for (const [table, schema] of Object.values(SCHEMAS).entries())
      own.script(schema.replaceAll("texts", `texts${table}`).replace("by_text", `by_text${table}`));
  }

  async take(next: Step): Promise<void> {
    const { sql } = this.#files;
    if (next.does === "scrub") return await this.scrub();
    const { table, n } = next;
    if (next.does === "delete") return void sql.rows(`DELETE FROM texts${table} WHERE id BETWEEN ? AND ?`, `id${n}`, `id${n + next.rows}`);
    const text = `${toMark(++this.#marks)}${"x".repeat(next.length)}`;
    if (next.does === "update") sql.rows(`UPDATE texts${table} SET text = ? WHERE id = ?`, text, `id${n}`);
    else sql.rows(`INSERT OR REPLACE INTO texts${table} (text, id) VALUES (?, ?)`, text, `id${n}`);
  }

  async scrub(): Promise<void> {
    await this.#files.scrub();
    const held = [0, 1, 2].flatMap((table) => this.#files.sql.rows<{ text: string }>(`SELECT text FROM texts${table}`));
    const living = new Set(held.map(({ text }) => text.slice(0, toMark(0).length)));
    expect(this.#files.findMarks().filter((mark) => !living.has(mark))).toEqual([]);
  }
}

it("whatever was inserted, changed and deleted in several tables, nothing that is gone is left after a scrub", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 50, maxLength: 400 }), async (steps) => {
      const own = openObjectFiles();
      try {
        const tables = new Tables(own);
        for (const next of steps) await tables.take(next);
        await tables.scrub();
      } finally {
        own.remove();
      }
    }),
    { numRuns: drawn(20, 3) },
  );
}, 120_000);

describe("the tables of", () => {
  const migrations = {
    "a session": () => migrateSession(files.session),
    "a tenant": () => migrateTenant(files.sql),
    "a chat": () => migrateChat(files.sql),
    "the deployment": () => migrateDeployment(files.sql),
  };
  const readAll = () => {
    const tables = listTables(files.sql);
    const schema = files.sql.rows<{ sql: string }>("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name");
    return {
      // A table that was renamed has its name in quotation marks.
      schema: schema.map(({ sql }) => sql.replace(/^CREATE TABLE "(\w+)"/, "CREATE TABLE $1")),
      rows: tables.toSorted().map((name) => [name, files.sql.rows(`SELECT * FROM "${name}"`)]),
    };
  };

  it.each(Object.entries(migrations))("%s are the same as before, however often they are written anew", async (_, migrate) => {
    migrate();
    await files.scrub();
    const before = readAll();
    expect(before.rows.length).toBeGreaterThan(5);

    await files.scrub();
    migrate();
    await files.scrub();

    expect(readAll()).toEqual(before);
  });

  it("an audit log stay append-only, and give out no place twice", async () => {
    for (const statement of AUDIT_TABLES) files.sql.rows(statement);
    const audit = createAuditLog({ sql: files.sql, owner: () => "ten_1", now: () => 1, maxEntries: 3 });
    const append = (n: number) => audit.append(ACT, { action: "model.put", target: { type: "model", id: `m${n}` }, details: {} });
    for (let n = 0; n < 5; n++) append(n);
    await files.scrub();
    append(5);

    const page = audit.read({ after: 0, limit: 10, order: "asc", action: null, actor: null, target: null, from: null, to: null });
    expect([page.anchor.seq, page.data.map(({ seq }) => seq)]).toEqual([3, [4, 5, 6]]);
    expect(() => files.sql.rows("UPDATE audit SET at = 2")).toThrow("append-only");
    expect(() => files.sql.rows("DELETE FROM audit_anchor")).toThrow("append-only");
  });

  it("a chat give out no place of a delivery twice", async () => {
    migrateChat(files.sql);
    const add = () =>
      files.sql.rows<{ seq: number }>(
        "INSERT INTO deliveries (body, session, stored_at, attempts, not_before) VALUES ('', NULL, 1, 0, 1) RETURNING seq",
      )[0]?.seq;
    expect([add(), add()]).toEqual([1, 2]);
    files.sql.rows("DELETE FROM deliveries");
    await files.scrub();
    expect(add()).toBe(3);
  });
});
