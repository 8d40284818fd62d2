/** Data of another build is refused before a server starts, and the refusal names the folder to delete. */
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { applyMigrations } from "../../../scripts/support/migrations";

const directory = mkdtempSync(join(tmpdir(), "longhand-data-"));
const made = join(directory, "made");
/** A copy of what this build made, for one test. */
const state = join(directory, "state");
const stamp = join(state, "migrations.sha256");

beforeAll(() => applyMigrations(made), 120_000);
beforeEach(() => {
  rmSync(state, { recursive: true, force: true });
  cpSync(made, state, { recursive: true });
});
afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));

function findD1(): string {
  const d1 = join(state, "v3", "d1");
  const [name = ""] = readdirSync(d1, { recursive: true, encoding: "utf8" }).filter((file) => /[0-9a-f]{64}\.sqlite$/.test(file));
  return join(d1, name);
}

const openD1 = (): DatabaseSync => new DatabaseSync(findD1());

function noteMigration(name: string): void {
  const database = openD1();
  database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").run(name);
  database.close();
}

const REFUSED = `The data in ${state} is of another build, and this one cannot read it. Delete the folder ${state} to start without data.`;

test("data of this build is taken as it is, with a note of its migrations or without", async () => {
  const notes = readFileSync(stamp, "utf8");
  await applyMigrations(state);
  rmSync(stamp);
  await applyMigrations(state);

  expect(readFileSync(stamp, "utf8")).toBe(notes);
  const database = openD1();
  expect(database.prepare("SELECT name FROM d1_migrations").all()).toEqual([
    { name: "0001_initial.sql" },
    { name: "0002_auto_compact.sql" },
    { name: "0003_usage_days.sql" },
  ]);
  database.close();
}, 120_000);

test("a migration that this build does not have, in a database without a note", async () => {
  rmSync(stamp);
  noteMigration("0003_model_registry.sql");

  await expect(applyMigrations(state)).rejects.toThrow(REFUSED);
});

test("a migration that this build does not have, behind a note of fewer", async () => {
  appendFileSync(stamp, "\ndatabase longhand-2");
  noteMigration("0003_model_registry.sql");

  await expect(applyMigrations(state)).rejects.toThrow(REFUSED);
});

test("a migration of the same name with other contents", async () => {
  writeFileSync(stamp, readFileSync(stamp, "utf8").replace(/^[0-9a-f]{64}(?= {2}0001)/m, "0".repeat(64)));

  await expect(applyMigrations(state)).rejects.toThrow(REFUSED);
});

test("a note as earlier builds wrote it: one digest of all", async () => {
  writeFileSync(stamp, "0".repeat(64));

  await expect(applyMigrations(state)).rejects.toThrow(REFUSED);
});

test("objects without a database or a note, of which nothing says who made them", async () => {
  rmSync(stamp);
  rmSync(join(state, "v3", "d1"), { recursive: true });
  mkdirSync(join(state, "v3", "do", "longhand-SessionObject"), { recursive: true });

  await expect(applyMigrations(state)).rejects.toThrow(REFUSED);
});

test("a database that wrangler.toml no longer names makes no data of another build", async () => {
  appendFileSync(stamp, "\ndatabase longhand-2");

  await applyMigrations(state);

  expect(readFileSync(stamp, "utf8")).not.toContain("longhand-2");
}, 120_000);

test.each(["", "-wal", "-shm"])(
  "a database whose file was deleted alone is made anew, also beside a left file '%s'",
  async (left) => {
    const name = findD1();
    if (left !== "") writeFileSync(`${name}${left}`, "left behind");
    rmSync(name);

    expect(await applyMigrations(state)).toEqual({ isLost: true });
    expect(await applyMigrations(state)).toEqual({ isLost: false });

    const database = openD1();
    expect(database.prepare("SELECT count(*) AS rows FROM sessions").get()).toEqual({ rows: 0 });
    database.close();
  },
  120_000,
);
