/** What the platform refuses to do for deleted bytes. Objects write their tables anew instead (`lib/scrub`); D1's tables belong to all tenants. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";

const REFUSED = ["PRAGMA secure_delete = ON", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA journal_mode = DELETE", "VACUUM"];

test.each(REFUSED)("D1 refuses %s", async (statement) => {
  await expect(env.DB.prepare(statement).run()).rejects.toThrow(/not authorized|SQLITE_AUTH|cannot|not allowed/i);
});

test.each(REFUSED)("an object refuses %s", async (statement) => {
  const stub = env.SESSIONS.getByName("nobody");
  await runInDurableObject(stub, (_, { storage }) => {
    expect(() => storage.sql.exec(statement).toArray()).toThrow(/not authorized|SQLITE_AUTH|cannot|not allowed/i);
  });
});

test("an object's size is that of the pages in use, also inside a transaction, and a table may take the name of one that was dropped", async () => {
  const stub = env.SESSIONS.getByName("somebody");
  await runInDurableObject(stub, (_, { storage }) => {
    const { sql } = storage;
    sql.exec(
      "CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL); CREATE TABLE copy_of_texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    );
    const empty = sql.databaseSize;
    sql.exec("INSERT INTO texts VALUES (1, ?)", "x".repeat(1_000_000));
    expect(sql.databaseSize - empty).toBeGreaterThan(990_000);
    const sizes = storage.transactionSync(() => {
      sql.exec("INSERT INTO copy_of_texts SELECT * FROM texts");
      const copied = sql.databaseSize;
      sql.exec("DROP TABLE texts");
      const dropped = sql.databaseSize;
      sql.exec("ALTER TABLE copy_of_texts RENAME TO texts");
      return { copied, dropped };
    });
    expect(sizes.copied - sizes.dropped).toBeGreaterThan(990_000);
    expect(sql.exec("SELECT length(text) AS n FROM texts").one()).toEqual({ n: 1_000_000 });
  });
});
