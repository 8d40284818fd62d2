/** Batches that arrive twice, late, too early or never, and erased sessions. */

import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Projection } from "../../src/app/ports";
import { ProjectionGapError } from "../../src/app/projection/projection-gap";
import type { SessionId } from "../../src/domain/ids";
import { TABLES } from "../../src/read-model/store";
import { createProjection } from "../../src/read-model/writer";
import { LogBuilder, makeId, modelCall, TENANT } from "../read-model/builders";
import { failingOnce } from "../read-model/failing-database";
import { readRows } from "../read-model/rows";
import { summaryPlan } from "../support/builders";

const readLogRows = (log: LogBuilder) => readRows(env.DB, log);
const readSession = async (log: LogBuilder) => (await readLogRows(log)).sessions?.[log.session];
const readMessages = async (log: LogBuilder) => Object.values((await readLogRows(log)).messages ?? {});
const allTables = TABLES.map(({ name }) => name);

let sessions = 200;
let session: SessionId;
let projection: Projection;

beforeAll(() => applyD1Migrations(env.DB, env.MIGRATIONS));
beforeEach(() => {
  session = makeId("ses", ++sessions);
  projection = createProjection(env.DB);
});

/** A log with an event for every table. */
function fullLog(): LogBuilder {
  const log = new LogBuilder(session).open({ title: "Reise" }).says("system", "Be kind.").says("user", "你好").says("assistant", "您好 🙂");
  const compaction = makeId("cmp", 1);
  log.event(modelCall());
  log.event({ type: "CompactionRequested", compaction, trigger: "threshold", base_epoch: 0 });
  const range = { from: 1, to: 2 };
  log.event({ type: "CompactionStarted", compaction, token: 1, attempt: 1, expires_at: 9, base_epoch: 0, ...summaryPlan(1, 2) });
  return log.summary(1, "They greeted.", range).says("user", "再见");
}

describe("batches out of turn", () => {
  it("the same batch twice changes nothing", async () => {
    const log = fullLog();
    await projection.write(log.batch());
    const once = await readLogRows(log);

    await projection.write(log.batch());

    expect(await readLogRows(log)).toEqual(once);
  });

  it("an older batch that comes late changes nothing", async () => {
    const log = fullLog();
    await projection.write(log.batch(1, 4));
    await projection.write(log.batch(5));
    const rows = await readLogRows(log);

    await projection.write(log.batch(1, 4));
    await projection.write(log.batch(2, 3));

    expect(await readLogRows(log)).toEqual(rows);
  });

  it("of a batch that overlaps what is there, only the rest takes effect", async () => {
    const log = fullLog();
    await projection.write(log.batch(1, 4));
    await projection.write(log.batch(2));
    const rows = await readLogRows(log);
    session = makeId("ses", ++sessions);
    const whole = fullLog();
    await projection.write(whole.batch());

    expect(rows.messages).toEqual(relabel((await readLogRows(whole)).messages, whole.session, log.session));
    expect(await readSession(log)).toMatchObject({ message_count: 4, last_seq: log.events.length });
  });

  it("a batch that comes too early writes nothing and says where the rows stand", async () => {
    const log = fullLog();
    await projection.write(log.batch(1, 3));
    const rows = await readLogRows(log);

    await expect(projection.write(log.batch(5))).rejects.toThrow(new ProjectionGapError(3));

    expect(await readLogRows(log)).toEqual(rows);
  });

  it("pages of any size make the same rows", async () => {
    const log = fullLog();
    for (let seq = 1; seq <= log.events.length; seq++) await projection.write(log.batch(seq, seq));
    const single = await readLogRows(log);
    session = makeId("ses", ++sessions);
    const whole = fullLog();
    await projection.write(whole.batch());

    expect(relabel(single, log.session, whole.session)).toEqual(await readLogRows(whole));
  });

  it("two writers of the same batch at once count each message once", async () => {
    const log = fullLog();

    await Promise.all([projection.write(log.batch()), projection.write(log.batch()), projection.write(log.batch(1, 3))]);

    expect(await readSession(log)).toMatchObject({ message_count: 4, last_seq: log.events.length });
  });

  it("rows of another tenant's session of the same id are untouched", async () => {
    const mine = fullLog();
    const theirs = new LogBuilder(session, makeId("ten", 2)).open({ title: "theirs" }).says("user", "private");
    await projection.write(mine.batch());

    await projection.write(theirs.batch());

    expect(await readSession(mine)).toMatchObject({ title: "Reise", message_count: 4 });
    expect(await readSession(theirs)).toMatchObject({ title: "theirs", message_count: 1 });
  });
});

describe("a database that fails", () => {
  const noPause = { pause: async () => {} };

  it("a transient failure is tried again at once", async () => {
    const log = fullLog();
    const db = failingOnce(env.DB, { message: "D1_ERROR: Network connection lost.", committed: false });

    await createProjection(db, noPause).write(log.batch());

    expect(await readSession(log)).toMatchObject({ message_count: 4 });
  });

  it("a batch whose answer got lost is not counted twice when it is tried again", async () => {
    const log = fullLog();
    const db = failingOnce(env.DB, { message: "D1_ERROR: storage caused object to be reset.", committed: true });

    await createProjection(db, noPause).write(log.batch());

    expect(await readSession(log)).toMatchObject({ message_count: 4, last_seq: log.events.length });
  });

  it("any other failure is the caller's, and has written nothing", async () => {
    const log = fullLog();
    const db = failingOnce(env.DB, { message: "D1_ERROR: no such table: messages", committed: false });

    await expect(createProjection(db, noPause).write(log.batch())).rejects.toThrow("no such table");

    expect(await readSession(log)).toBeUndefined();
  });
});

/** Adds texts to the session's search, behind all of its messages. */
async function addTexts(log: LogBuilder, count: number): Promise<void> {
  const positions = JSON.stringify(Array.from({ length: count }, (_, n) => 1_000 + n));
  const rows = `INSERT INTO search_rows (tenant_id, session_id, position, terms, last_seq)
    SELECT ?1, ?2, value, 'plenteous', 1 FROM json_each(?3)`;
  const index = `INSERT INTO search_index (rowid, terms) SELECT t.id, t.terms FROM search_texts AS t
    WHERE t.id IN (SELECT id FROM search_rows WHERE session_id = ?1 AND position >= 1000)`;
  await env.DB.batch([env.DB.prepare(rows).bind(TENANT, log.session, positions), env.DB.prepare(index).bind(log.session)]);
}

describe("erasing", () => {
  it("removes every row of the session, leaves a tombstone, and says how many there were", async () => {
    const log = fullLog();
    await projection.write(log.batch());
    const rows = await readLogRows(log);
    const count = allTables.reduce((sum, table) => sum + Object.keys(rows[table] ?? {}).length, 0);

    expect(await projection.erase({ tenant: TENANT, session, at: 77 })).toEqual({ rows: count });

    expect(await readLogRows(log)).toEqual(Object.fromEntries(allTables.map((table) => [table, {}])));
    const tombstone = env.DB.prepare("SELECT erased_at FROM session_tombstones WHERE tenant_id = ? AND session_id = ?");
    expect(await tombstone.bind(TENANT, session).first("erased_at")).toBe(77);
  });

  it("of a long session hides it at once, and removes its texts from the search in calls of a bounded cost", async () => {
    const log = fullLog();
    await projection.write(log.batch());
    const texts = 1_040;
    await addTexts(log, texts);
    const batches: number[] = [];
    const batch = (statements: D1PreparedStatement[]) => {
      batches.push(statements.length);
      return env.DB.batch(statements);
    };
    const counted = createProjection({ prepare: (sql: string) => env.DB.prepare(sql), batch } as D1Database);

    expect(await counted.erase({ tenant: TENANT, session, at: 1 })).toEqual({ rows: null });

    const rows = await readLogRows(log);
    const left = allTables.filter((table) => Object.keys(rows[table] ?? {}).length > 0);
    expect(left.sort()).toEqual(["search_rows", "usage"]);
    expect(batches.length).toBeLessThanOrEqual(50);
    expect(batches.reduce((sum, statements) => sum + statements, 0)).toBeLessThan(200);

    expect(await counted.erase({ tenant: TENANT, session, at: 1 })).toEqual({ rows: expect.any(Number) });

    expect(Object.values(await readLogRows(log)).flatMap(Object.keys)).toEqual([]);
    const found = await env.DB.prepare("SELECT count(*) AS texts FROM search_index WHERE search_index MATCH 'plenteous'").first("texts");
    expect(found).toBe(0);
  });

  it("takes nothing of the tenant's other sessions", async () => {
    const kept = fullLog();
    await projection.write(kept.batch());
    session = makeId("ses", ++sessions);
    await projection.write(fullLog().batch());

    await projection.erase({ tenant: TENANT, session, at: 1 });

    expect(await readSession(kept)).toMatchObject({ message_count: 4 });
    expect(await readMessages(kept)).toHaveLength(4);
  });

  it("a late writer of an erased session writes nothing, from the start or from the middle", async () => {
    const log = fullLog();
    await projection.write(log.batch(1, 5));
    await projection.erase({ tenant: TENANT, session, at: 1 });

    await projection.write(log.batch());
    await projection.write(log.batch(6));

    expect(Object.values(await readLogRows(log)).flatMap(Object.keys)).toEqual([]);
  });

  it("twice is once, and keeps the time of the first", async () => {
    await projection.erase({ tenant: TENANT, session, at: 5 });

    expect(await projection.erase({ tenant: TENANT, session, at: 6 })).toEqual({ rows: 0 });

    const tombstone = env.DB.prepare("SELECT erased_at FROM session_tombstones WHERE tenant_id = ? AND session_id = ?");
    expect(await tombstone.bind(TENANT, session).first("erased_at")).toBe(5);
  });

  it("a batch that contains the erasure is not written, because only the erasing request knows the remaining usage", async () => {
    const log = fullLog();
    await projection.write(log.batch());

    await projection.write({ ...log.event({ type: "SessionErased" }).batch(10) });

    expect(await readSession(log)).toMatchObject({ message_count: 4 });
  });
});

/** The rows as if another session had written them. */
function relabel<T>(rows: T, from: string, to: string): T {
  return JSON.parse(JSON.stringify(rows).replaceAll(from, to)) as T;
}
