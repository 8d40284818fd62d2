/** How the name of an erased end user is forgotten in usage: in the tenant's sums, in D1, and before what is late. */
import fc from "fast-check";
import { beforeEach, describe, expect, it, test } from "vitest";
import { roundCost } from "../../src/domain/call-totals";
import { type ErasedUsage, sumForErasure } from "../../src/domain/erased-usage";
import { createTenantProjection } from "../../src/read-model/tenant-projection";
import { createProjection } from "../../src/read-model/writer";
import { createErasedUsage, type ErasedUsageStore } from "../../src/tenant/usage/erased-usage";
import { createUsageOutbox } from "../../src/tenant/usage/usage-outbox";
import { notingLog } from "../session/life";
import { SimD1 } from "../simulation/sim-d1";
import { createMigratedSql } from "./memory-sql";
import { makeId, NAMES } from "./support";

const TENANT = makeId("ten", 1);
const [ONE, TWO, THREE] = [makeId("ses", 1), makeId("ses", 2), makeId("ses", 3)];
const [KEY, OTHER_KEY] = [makeId("key", 1), makeId("key", 2)];
const NAME = "ada & 李雷";
/** End users by the bodies that calls name them with. */
const USERS = new Map([NAME, "bob"].map((name, nth) => [makeId("bod", nth), name]));
const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

const drawnCall = fc.record(
  {
    at: fc.integer({ min: 0, max: 26 * HOUR_MS }),
    model: fc.constantFrom("m", "模型"),
    purpose: fc.constantFrom("turn" as const, "compaction" as const),
    outcome: fc.constantFrom("stop" as const, "unavailable" as const),
    usage: fc.option(fc.record({ input: fc.nat(9_999), output: fc.nat(999), cached: fc.nat(99), reasoning: fc.nat(9) })),
    cost: fc.nat(1_000).map((units) => units / 1_000),
    key: fc.constantFrom(KEY, OTHER_KEY),
    end_user: fc.constantFrom(...USERS.keys()),
  },
  { requiredKeys: ["at", "model", "purpose", "outcome", "usage"] },
);
type DrawnCall = typeof drawnCall extends fc.Arbitrary<infer Call> ? Call : never;
const toUsage = (calls: readonly DrawnCall[]): readonly ErasedUsage[] => sumForErasure(calls, (body) => USERS.get(body) ?? null);
const call = (user: string | null, at = 0): DrawnCall => {
  const [body] = [...USERS].find(([, name]) => name === user) ?? [];
  return { at, model: "m", purpose: "turn", outcome: "stop", usage: null, cost: 0.25, key: KEY, ...(body && { end_user: body }) };
};

const COUNTS = ["calls", "failed", "input", "uncached", "cached", "cache_write", "output", "reasoning", "unpriced"] as const;

/** Sums by what `group` says, sorted. */
function sumBy(rows: readonly ErasedUsage[], group: (row: ErasedUsage) => readonly unknown[]) {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(group(row)));
  return [...groups]
    .map(([key, of]) => {
      const counts = COUNTS.map((name) => of.reduce((sum, row) => sum + row[name], 0));
      return [key, ...counts, roundCost(of.reduce((sum, row) => sum + row.cost, 0))];
    })
    .toSorted();
}
const byDay = (rows: readonly ErasedUsage[]) => sumBy(rows, ({ at, model, purpose }) => [Math.floor(at / DAY_MS), model, purpose]);
const listAll = (store: ErasedUsageStore) => store.list({ after: null, sessions: 1_000 }).flatMap(({ usage }) => usage);

describe("forgetting an end user in the sums of erased sessions", () => {
  test("leaves the sums by day, model and purpose, those by key, and those of every other end user as they were", () => {
    const ledgers = fc.array(fc.array(drawnCall, { maxLength: 8 }), { maxLength: 6 });
    fc.assert(
      fc.property(ledgers, fc.nat(1), (drawn, throwaway) => {
        const sql = createMigratedSql();
        const store = createErasedUsage(sql, NAMES);
        for (const [nth, calls] of drawn.entries())
          nth % 2 === throwaway ? store.add(ONE, toUsage(calls)) : store.keep(makeId("ses", nth + 2), toUsage(calls));
        const before = listAll(store);

        const changed = store.forgetEndUser(NAMES.digest(NAME));

        const after = listAll(store);
        expect(byDay(after)).toEqual(byDay(before));
        expect(sumBy(after, ({ at, key_id }) => [at, key_id])).toEqual(sumBy(before, ({ at, key_id }) => [at, key_id]));
        const ofBob = (rows: readonly ErasedUsage[]) => rows.flatMap(({ revision: _, ...row }) => (row.end_user === "bob" ? [row] : []));
        expect(ofBob(after)).toEqual(ofBob(before));
        const stored = ["erased_usage", "usage_names"].map((table) => sql.rows(`SELECT * FROM ${table}`));
        expect(JSON.stringify([after, stored])).not.toContain(NAME);
        expect(changed.length > 0).toBe(before.some(({ end_user }) => end_user === NAME));
        expect(store.forgetEndUser(NAMES.digest(NAME))).toEqual([]);
        expect(listAll(store)).toEqual(after);
      }),
    );
  });

  test("and all keys and end users, of a deleted tenant, leaves the sums, and what is late has neither", () => {
    fc.assert(
      fc.property(fc.array(drawnCall, { maxLength: 12 }), fc.array(drawnCall, { maxLength: 4 }), (calls, late) => {
        const names = { ...NAMES, areKept: () => true };
        const sql = createMigratedSql();
        const store = createErasedUsage(sql, { ...names, areKept: () => names.areKept() });
        store.add(ONE, toUsage(calls));
        for (let last: string | null = ""; last !== null; ) last = store.forgetOwners(last).last;
        names.areKept = () => false;
        store.add(ONE, toUsage(late));
        store.keep(TWO, toUsage(late));

        expect(byDay(listAll(store))).toEqual(byDay([...toUsage(calls), ...toUsage(late), ...toUsage(late)]));
        expect(sql.rows("SELECT name FROM usage_names")).toEqual([]);
        const owners = sql.rows("SELECT DISTINCT key_id || end_user || user_digest AS owner FROM erased_usage");
        expect(owners.every(({ owner }) => owner === "")).toBe(true);
      }),
    );
  });

  it("is not undone by sums that the session handed over before and that arrive late", () => {
    const store = createErasedUsage(createMigratedSql(), NAMES);
    const usage = toUsage([call(NAME), call(null)]);
    store.keep(ONE, usage);
    store.forgetEndUser(NAMES.digest(NAME));

    expect(store.keep(ONE, usage)).toMatchObject([{ end_user: "", calls: 2, revision: 1 }]);
  });
});

describe("forgetting an end user in the read model", () => {
  const d1 = new SimD1();
  const db = d1.direct;
  const projection = createTenantProjection(db);
  const sql = { current: createMigratedSql() };
  const away = { isAway: false };

  function create() {
    const store = createErasedUsage(sql.current, NAMES);
    const alarm = { get: async () => null, set: () => {} };
    const write: Parameters<typeof createUsageOutbox>[0]["write"] = async (all) => {
      if (away.isAway) throw new Error("out of reach");
      await projection.writeUsage(TENANT, all);
    };
    return { store, outbox: createUsageOutbox({ sql: sql.current, store, write, alarm, now: () => 0, log: notingLog() }) };
  }
  const readRows = async () => {
    const { results } = await db
      .prepare("SELECT session_id, end_user, calls, revision FROM erased_usage ORDER BY session_id, end_user")
      .all<{ session_id: string; end_user: string; calls: number; revision: number }>();
    return results.map((row) => [row.session_id, row.end_user, row.calls, row.revision]);
  };
  beforeEach(() => {
    d1.clear();
    sql.current = createMigratedSql();
    away.isAway = false;
  });

  /** Erases a session as its object does. */
  async function erase(store: ErasedUsageStore, session: typeof ONE, usage: readonly ErasedUsage[]): Promise<() => Promise<unknown>> {
    const kept = store.keep(session, usage);
    const write = () => createProjection(db).erase({ tenant: TENANT, session, at: 1, usage: kept });
    await write();
    return write;
  }

  it("merges its rows, and leaves sessions alone that have none", async () => {
    const { store, outbox } = create();
    await erase(store, ONE, toUsage([call(NAME), call(null), call("bob")]));
    await erase(store, TWO, toUsage([call("bob")]));
    outbox.add(THREE, toUsage([call(NAME), call(NAME)]));
    await outbox.drain();
    const [day] = store.list({ after: null, sessions: 1 });

    outbox.forget(NAMES.digest(NAME));
    await outbox.drain();

    expect(await readRows()).toEqual([
      [day?.session, "", 2, 1],
      [ONE, "", 2, 1],
      [ONE, "bob", 1, 1],
      [TWO, "bob", 1, 0],
    ]);
    expect(outbox.isForgetting()).toBe(false);
  });

  it("is not undone by a write from before that arrives late: neither the name nor a sum comes twice", async () => {
    const { store, outbox } = create();
    const again = await erase(store, ONE, toUsage([call(NAME), call(null)]));
    const late = store.list({ after: null, sessions: 10 });
    outbox.forget(NAMES.digest(NAME));
    await outbox.drain();

    await again();
    await projection.writeUsage(TENANT, late);

    expect(await readRows()).toEqual([[ONE, "", 2, 1]]);
  });

  it("is noted until D1 has it, also over the object's lives", async () => {
    const first = create();
    await erase(first.store, ONE, toUsage([call(NAME)]));
    away.isAway = true;
    first.outbox.forget(NAMES.digest(NAME));
    await first.outbox.drain();
    expect(first.outbox.isForgetting()).toBe(true);
    expect(await readRows()).toEqual([[ONE, NAME, 1, 0]]);

    away.isAway = false;
    const next = create();
    next.outbox.forget(NAMES.digest(NAME));
    await next.outbox.drain();

    expect(next.outbox.isForgetting()).toBe(false);
    expect(await readRows()).toEqual([[ONE, "", 1, 1]]);
  });

  it("keeps on: sums of a day that grow after it are added, and sent with its revision", async () => {
    const { store, outbox } = create();
    outbox.add(ONE, toUsage([call(NAME)]));
    outbox.forget(NAMES.digest(NAME));
    await outbox.drain();
    outbox.add(TWO, toUsage([call("bob"), call(null)]));
    await outbox.drain();
    const [day] = store.list({ after: null, sessions: 1 });

    expect(await readRows()).toEqual([
      [day?.session, "", 2, 1],
      [day?.session, "bob", 1, 1],
    ]);
  });
});
