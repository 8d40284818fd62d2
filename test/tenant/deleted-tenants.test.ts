/** The deletion of a tenant and other erasures, whatever their size: each step has a bounded cost, and all of them together grow with the sessions. */
import { describe, expect, it } from "vitest";
import { ok } from "../../src/lib/result";
import { createTenantProjection } from "../../src/read-model/tenant-projection";
import { createErasures, type Erasures } from "../../src/tenant/erasure/erasures";
import { createErasedUsage } from "../../src/tenant/usage/erased-usage";
import { createUsageOutbox } from "../../src/tenant/usage/usage-outbox";
import { SimD1 } from "../simulation/sim-d1";
import { ACT } from "../support/act";
import { createCountedSql } from "../support/counted-sql";
import { AN_ALARM, findMostCost, isWithin, MOST_D1_ROWS } from "../support/deletion-cost";
import { sized } from "../support/effort";
import { createMeteredD1 } from "../support/metered-d1";
import { findUnbounded } from "../support/query-plan";
import { type MemorySessions, NO_SESSIONS, openMemoryTenant } from "./memory-tenant";
import { makeId, NAMES, NOTHING_TO_FORGET } from "./support";

const TENANT = makeId("ten", 1);
/** Statements that read one row, whichever it is, and the sessions of an index that has no others. */
const BOUNDED = [/LIMIT 1$/, /FROM sessions WHERE labelled = 0 ORDER BY id LIMIT \?$/];
/** Tables of one row or few, and one that is read from its beginning, so many at a time. */
const FEW = ["tenant", "usage_bound", "scrub_due", "retention", "erasure_receipts", "webhook_endpoints", "unsent_usage"];

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

function world(sessions: number) {
  const counted = createCountedSql();
  const { sql } = counted;
  const d1 = new SimD1();
  const { db, written } = createMeteredD1(d1.direct);
  const projection = createTenantProjection(db);
  const time = { now: 1_000, alarm: null as number | null };
  const fault = { isAway: false };
  const labels = { current: { end_user: null as string | null, source: null } };
  const erased = new Map<string, number>();
  const start = (): Erasures =>
    createErasures({
      sql,
      alarm: { get: async () => time.alarm, set: (at) => void Object.assign(time, { alarm: at }) },
      erase: async (session) => {
        if (fault.isAway) return false;
        erased.set(session, (erased.get(session) ?? 0) + 1);
        return true;
      },
      readLabels: async () => labels.current,
      hide: (hidden) => projection.hide(TENANT, hidden, time.now),
      sweep: () => projection.sweep(TENANT, time.now),
      ...NOTHING_TO_FORGET,
      newErasureId: () => makeId("era", 1),
      now: () => time.now,
      log: SILENT,
    });
  const fill = (columns: string, values: string) =>
    `INSERT INTO sessions (${columns}) WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${sessions}) SELECT ${values} FROM r`;
  const id = "printf('ses_01K%023d', n)";
  sql.rows(fill("id, created_at, external_id, labelled, end_user", `${id}, n, 'ext' || n, n % 3, 'user' || (n % 7)`));
  sql.rows("INSERT INTO tenant (one, id, name, default_model, default_policy, created_at) VALUES (1, ?, '', 'm', '', 1)", TENANT);
  const list = fill("tenant_id, id, model, policy, created_at, updated_at, last_seq", `'${TENANT}', ${id}, 'm', 'p', n, n, 1`);
  return {
    counted,
    sql,
    db: d1.direct,
    projection,
    written,
    time,
    fault,
    labels,
    erased,
    start,
    prepare: () => d1.direct.prepare(list).run(),
  };
}

const count = (sql: ReturnType<typeof world>["sql"], table: string): number =>
  sql.rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]?.n ?? -1;

describe("the deletion of a tenant", () => {
  it.each([1, AN_ALARM, sized({ whole: 100_000, small: 10_000 })])(
    "of %i sessions costs as much in each step, and each session once",
    async (sessions) => {
      const { counted, sql, db, projection, written, time, erased, start, prepare } = world(sessions);
      await prepare();
      const erasures = start();
      const steps: ReturnType<typeof counted.take>[] = [];
      counted.take();
      const id = sql.transaction(() => erasures.beginTenant(TENANT, ACT));
      steps.push(counted.take());
      await projection.close(TENANT, 1);
      await erasures.resume();
      while (time.alarm !== null) {
        // Each is due at once.
        expect(time.alarm).toBeLessThanOrEqual(time.now);
        time.alarm = null;
        await erasures.run();
        steps.push(counted.take());
      }

      expect(steps.filter((step) => !isWithin(step, findMostCost(AN_ALARM)))).toEqual([]);
      expect(Math.max(0, ...written)).toBeLessThanOrEqual(MOST_D1_ROWS);
      expect(steps.length).toBeLessThanOrEqual(sessions / AN_ALARM + 3);
      expect([...erased.values()].every((times) => times === 1)).toBe(true);
      expect([erased.size, count(sql, "sessions"), count(sql, "erasures")]).toEqual([sessions, 0, 0]);
      expect((await db.prepare("SELECT count(*) AS n FROM sessions").all<{ n: number }>()).results).toEqual([{ n: 0 }]);
      expect(erasures.receipts.find(id)).toMatchObject({ done_at: time.now, sessions: { total: sessions, done: sessions } });
    },
  );

  it("goes on behind a death between any two alarms, and behind sessions that cannot be reached", async () => {
    const sessions = 3 * AN_ALARM + 50;
    const { counted, sql, time, fault, erased, start, prepare } = world(sessions);
    await prepare();
    const id = sql.transaction(() => start().beginTenant(TENANT, ACT));
    for (let alarms = 0; alarms < 4; alarms++) {
      fault.isAway = alarms < 2;
      counted.take();
      await start().run();
      expect(counted.take().statements).toBeLessThanOrEqual(findMostCost(AN_ALARM).statements);
    }
    // Those behind were not held up.
    expect(erased.size).toBe(AN_ALARM + 50);
    expect(start().receipts.find(id)).toMatchObject({ done_at: null, sessions: { total: sessions, done: AN_ALARM + 50 } });

    fault.isAway = false;
    for (let alarms = 0; alarms < 4; alarms++) {
      time.now += 60_000;
      await start().run();
    }
    expect(start().receipts.find(id)).toMatchObject({ done_at: expect.any(Number), sessions: { total: sessions, done: sessions } });
  });

  it("reads no table as a whole in any step", async () => {
    const { counted, sql } = world(2 * AN_ALARM);
    const stores = ["session", "read_model", "files", "exports", "chat"] as const;
    const reported = { erased_at: 1, stores: stores.map((store) => ({ store, status: "erased" as const, rows: null })) };
    const sessions: MemorySessions = (caller) => ({ ...NO_SESSIONS(caller), erase: async () => ok({ ...reported, id: caller.session }) });
    const { erasures } = openMemoryTenant({ sql, sessions }).upkeep;
    sql.transaction(() => erasures.beginTenant(TENANT, ACT));
    counted.take();
    await erasures.run();
    const statements = [...counted.seen].filter((statement) => !BOUNDED.some((known) => known.test(statement)));

    const steps = statements.flatMap((statement) =>
      findUnbounded(counted.explain(statement), { passing: FEW, sorts: true }).map((step) => `${step}: ${statement}`),
    );
    expect(statements.length).toBeGreaterThan(20);
    expect(steps).toEqual([]);
  });

  it("forgets the owners of its usage in parts, and tells the read model of each", async () => {
    const { sql, take } = createCountedSql();
    const kept = { are: true };
    const store = createErasedUsage(sql, { ...NAMES, areKept: () => kept.are });
    const sums = { calls: 1, failed: 0, input: 1, uncached: 1, cached: 0, cache_write: 0, output: 1, reasoning: 0, cost: 1, unpriced: 0 };
    const row = { at: 0, model: "m", purpose: "turn" as const, ...sums };
    const sessions = 1_000;
    sql.transaction(() => {
      for (let n = 1; n <= sessions; n++) store.keep(makeId("ses", n), [{ ...row, key_id: `key_${n}`, end_user: `user ${n}` }]);
    });
    kept.are = false;
    const sent = new Set<string>();
    const outbox = createUsageOutbox({
      ...{ sql, store, now: () => 0, log: SILENT },
      alarm: { get: async () => null, set: () => {} },
      write: async (all) => {
        for (const { session } of all) sent.add(session);
      },
    });
    take();
    let parts = 0;
    for (let isDone = false; !isDone; parts++) {
      isDone = sql.transaction(() => outbox.forgetOwners());
      expect(take().written).toBeLessThanOrEqual(AN_ALARM * 5);
      await outbox.drain();
      take();
    }

    expect([sent.size, parts]).toEqual([sessions, 2 * (sessions / AN_ALARM) + 1]);
    expect(sql.rows("SELECT DISTINCT key_id, end_user, user_digest FROM erased_usage")).toEqual([
      { key_id: "", end_user: "", user_digest: "" },
    ]);
    expect(count(sql, "usage_names")).toBe(0);
  });
});

describe("an erasure of many sessions", () => {
  const sessions = sized({ whole: 30_000, small: 5_000 });
  const id = "printf('ses_01K%023d', n)";
  const numbers = `WITH RECURSIVE r (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM r WHERE n < ${sessions})`;
  const kinds = [
    {
      of: "an end user",
      prepare: "UPDATE sessions SET end_user = 'one', labelled = 1",
      begin: (erasures: Erasures) => erasures.beginEndUser("one", ACT),
    },
    {
      of: "an end user whose sessions have to be asked",
      prepare: "UPDATE sessions SET end_user = NULL, labelled = 0",
      begin: (erasures: Erasures) => erasures.beginEndUser("one", ACT),
    },
    {
      of: "a session with its forks",
      prepare: `INSERT INTO forks (session, source) ${numbers} SELECT ${id}, printf('ses_01K%023d', CASE WHEN n % 2 THEN 1 ELSE n / 2 END) FROM r`,
      begin: (erasures: Erasures) => erasures.begin({ session: makeId("ses", 1), isKnown: false, forks: true, act: ACT }).erasure,
    },
  ];

  it.each(kinds)("of $of costs as much in each step, and each session once, also behind a death", async ({ prepare, begin }) => {
    const { counted, sql, time, erased, start, labels } = world(sessions);
    labels.current = { end_user: "one", source: null };
    sql.rows("UPDATE sessions SET created_at = 1, labelled = 1, end_user = NULL, external_id = NULL");
    sql.rows(prepare);
    let erasures = start();
    const steps: ReturnType<typeof counted.take>[] = [];
    counted.take();
    const receipt = sql.transaction(() => begin(erasures)) ?? "";
    steps.push(counted.take());
    await erasures.resume();
    while (time.alarm !== null && steps.length <= sessions / AN_ALARM + 20) {
      // The first of them waits for its client's request.
      time.now = Math.max(time.now, time.alarm);
      time.alarm = null;
      if (steps.length === 9) erasures = start();
      await erasures.run();
      steps.push(counted.take());
    }

    expect(steps.filter((step) => !isWithin(step, findMostCost(AN_ALARM)))).toEqual([]);
    expect([...erased.values()].every((times) => times === 1)).toBe(true);
    expect([erased.size, count(sql, "sessions"), count(sql, "erasures")]).toEqual([sessions, 0, 0]);
    expect(erasures.receipts.find(receipt)).toMatchObject({ done_at: time.now, sessions: { total: sessions, done: sessions } });
  });
});
