/** What the tenant's object does for throwaway sessions: it sends what they used, and ends their files. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { NO_CALLS, roundCost } from "../../src/domain/call-totals";
import { type ErasedUsage, NO_SESSION, sumForErasure, toDaySession } from "../../src/domain/erased-usage";
import { createTenantProjection } from "../../src/read-model/tenant-projection";
import { createFiles } from "../../src/tenant/files/files";
import { createErasedUsage } from "../../src/tenant/usage/erased-usage";
import { createUsageOutbox } from "../../src/tenant/usage/usage-outbox";
import { notingLog } from "../session/life";
import { SimD1 } from "../simulation/sim-d1";
import { createMeteredD1 } from "../support/metered-d1";
import { createMigratedSql } from "./memory-sql";
import { makeId, NAMES } from "./support";

const HOUR_MS = 60 * 60 * 1_000;
const DAY = toDaySession(0);
const drawnCall = fc.record({
  at: fc.integer({ min: 0, max: 72 * HOUR_MS }),
  model: fc.constantFrom("m", "模型"),
  purpose: fc.constantFrom("turn" as const, "compaction" as const),
  outcome: fc.constantFrom("stop" as const, "unavailable" as const),
  usage: fc.option(fc.record({ input: fc.nat(9_999), output: fc.nat(999), cached: fc.nat(99), reasoning: fc.nat(9) })),
  cost: fc.nat(1_000).map((units) => units / 1_000),
});
const usage: readonly ErasedUsage[] = [{ at: 0, model: "m", purpose: "turn", key_id: "", end_user: "", ...NO_CALLS, calls: 2, input: 7 }];

function createOutbox() {
  const sql = createMigratedSql();
  const sent: (readonly string[])[] = [];
  const d1 = { isAway: false, during: () => {} };
  const clock = { now: 0 };
  const set: { alarm: number | null } = { alarm: null };
  const outbox = createUsageOutbox({
    sql,
    store: createErasedUsage(sql, NAMES),
    write: async (all) => {
      if (d1.isAway) throw new Error("out of reach");
      d1.during();
      sent.push(all.map(({ session, usage: sums }) => `${session} ${sums[0]?.calls}`));
    },
    alarm: {
      get: async () => set.alarm,
      set: (at) => {
        set.alarm = at;
      },
    },
    now: () => clock.now,
    log: notingLog(),
  });
  return { sql, sent, d1, set, clock, outbox };
}

describe("the usage of throwaway sessions", () => {
  const [one, two] = [makeId("ses", 1), makeId("ses", 2)];

  it("is sent once, that of many sessions as one, and is still stored", async () => {
    const { sql, sent, outbox } = createOutbox();
    for (const session of [one, two, one]) outbox.add(session, usage);
    outbox.add(makeId("ses", 3), []);

    await Promise.all([outbox.drain(), outbox.drain()]);
    await outbox.drain();

    expect(sent).toEqual([[`${DAY} 4`]]);
    expect(outbox.nextDue()).toBe(null);
    expect(sql.rows("SELECT session, calls FROM erased_usage")).toEqual([{ session: DAY, calls: 4 }]);
  });

  it("that is added while it is sent is sent after that", async () => {
    const { sent, d1, outbox } = createOutbox();
    outbox.add(one, usage);
    d1.during = () => {
      d1.during = () => {};
      outbox.add(two, usage);
    };

    await outbox.drain();

    expect(sent).toEqual([[`${DAY} 2`], [`${DAY} 4`]]);
  });

  it("is not counted again within a day, and the note that holds that off does not stay", async () => {
    const { sql, clock, outbox } = createOutbox();
    outbox.add(one, usage);
    clock.now = 24 * HOUR_MS;
    outbox.add(one, usage);
    expect(sql.rows("SELECT calls FROM erased_usage")).toEqual([{ calls: 2 }]);

    clock.now += 1;
    outbox.add(two, usage);
    expect(sql.rows("SELECT session FROM ended_throwaways")).toEqual([{ session: two }]);
  });

  it("is sent another time where a rebuild reads it, as long as it may grow", async () => {
    const { sent, clock, outbox } = createOutbox();
    outbox.add(one, usage);
    await outbox.drain();
    await outbox.sendAgain();
    await outbox.drain();
    clock.now = 72 * HOUR_MS;
    await outbox.sendAgain();

    expect(sent).toHaveLength(2);
    expect(outbox.nextDue()).toBe(null);
  });

  test("comes to the sums of all ledgers, however many requests there were and however often they end", () => {
    fc.assert(
      fc.property(fc.array(fc.array(drawnCall, { maxLength: 6 }), { maxLength: 30 }), (ledgers) => {
        const { sql, outbox } = createOutbox();
        for (const [nth, calls] of ledgers.entries())
          for (let time = 0; time <= nth % 3; time++)
            outbox.add(
              makeId("ses", nth + 1),
              sumForErasure(calls, () => null),
            );
        const all = sumForErasure(ledgers.flat(), () => null);
        const kept = createErasedUsage(sql, NAMES).list({ after: null, sessions: 1_000 });

        const sort = (rows: readonly ErasedUsage[]) =>
          rows.map(({ cost, ...row }) => JSON.stringify([row.at, row.model, row.purpose, { ...row, cost: roundCost(cost) }])).toSorted();
        expect(sort(kept.flatMap(({ usage: sums }) => sums))).toEqual(sort(all));
        expect(kept.length).toBeLessThanOrEqual(new Set(all.map(({ at }) => Math.floor(at / (24 * HOUR_MS)))).size);
        expect(kept.every(({ session }) => session.endsWith(NO_SESSION))).toBe(true);
      }),
    );
  });

  it("of a session whose sums are kept under its own id is sent under it", async () => {
    const { sql, sent, outbox } = createOutbox();
    createErasedUsage(sql, NAMES).keep(one, usage);
    sql.rows("INSERT INTO unsent_usage (session) VALUES (?)", one);
    outbox.add(two, usage);

    await outbox.drain();

    expect(sent).toEqual([[`${DAY} 2`, `${one} 2`]]);
    expect(
      createErasedUsage(sql, NAMES)
        .list({ after: null, sessions: 10 })
        .map(({ session }) => session),
    ).toEqual([DAY, one]);
  });

  it("waits for D1, ever longer, and the alarm is set for it before anything is sent", async () => {
    const { sent, d1, set, outbox } = createOutbox();
    outbox.add(one, usage);
    await outbox.resume();
    expect(set.alarm).toBe(15_000);

    d1.isAway = true;
    for (const due of [15_000, 30_000, 60_000]) {
      set.alarm = null;
      await outbox.drain();
      expect(set.alarm).toBe(due);
    }
    d1.isAway = false;
    await outbox.drain();

    expect(sent).toEqual([[`${DAY} 2`]]);
  });
});

describe("the rows that requests write in the read model", () => {
  const QUARTER = 15 * 60_000;

  /** Requests through a day, some in each quarter, as their sessions end. Returns how many rows were sent, and how many D1 has written for each. */
  async function play(keys: number, quarters: number, more: { readonly forgetAt?: number } = {}) {
    const sql = createMigratedSql();
    const d1 = new SimD1();
    const clock = { now: 0 };
    const store = createErasedUsage(sql, NAMES);
    const sent: number[] = [];
    const { db, written } = createMeteredD1(d1.direct);
    const projection = createTenantProjection(db);
    const alarm = { get: async () => null, set: () => {} };
    const outbox = createUsageOutbox({
      ...{ sql, store, alarm, now: () => clock.now, log: notingLog() },
      write: async (all) => {
        sent.push(all.reduce((sum, { usage: rows }) => sum + rows.length, 0));
        await projection.writeUsage(makeId("ten", 1), all);
      },
    });
    const rows: number[] = [];
    let n = 0;
    async function forget(): Promise<void> {
      sql.transaction(() => outbox.forget(NAMES.digest("user 0")));
      await outbox.drain();
      sent.length = 0;
    }
    async function ask(key: number, model: string): Promise<void> {
      const call = { at: clock.now, model, purpose: "turn" as const, key_id: `key_${key}`, end_user: `user ${key}`, cost: 0.1 };
      outbox.add(makeId("ses", ++n), [{ ...NO_CALLS, ...call, calls: 1 }]);
      written.length = 0;
      await outbox.drain();
      rows.push(written.reduce((sum, each) => sum + each, 0));
    }
    const asked = Array.from({ length: keys }, (_, key) =>
      key % 2 === 0 ? [[key, "m"] as const] : [[key, "m"] as const, [key, "n"] as const],
    ).flat();
    for (let quarter = 0; quarter < quarters; quarter++) {
      for (const [key, model] of asked) await ask(key, model);
      if (quarter === more.forgetAt) await forget();
      clock.now += QUARTER;
    }
    const stored = await d1.direct.prepare("SELECT session_id, sum(calls) AS calls, count(*) AS n FROM erased_usage").all();
    const kept = store.list({ after: null, sessions: 10 }).flatMap(({ usage: sums }) => sums);
    return { rows, sent, stored: stored.results[0], kept, n };
  }

  it.each([
    [1, 96],
    [10, 96],
    [3, 4],
  ])("are one for a request, with %i keys and behind %i quarters of an hour", async (keys, quarters) => {
    const { rows, sent, stored, kept, n } = await play(keys, quarters);

    expect(new Set(rows)).toEqual(new Set([1]));
    expect(Math.max(...sent)).toBeLessThanOrEqual(2 * keys);
    expect([stored?.calls, stored?.n]).toEqual([n, kept.length]);
  });

  it("are one behind a forgotten name, too, and none names the person", async () => {
    const { rows, sent, stored, kept, n } = await play(2, 8, { forgetAt: 3 });

    expect(new Set(rows)).toEqual(new Set([1]));
    expect(Math.max(...sent)).toBeLessThanOrEqual(4);
    expect([stored?.calls, stored?.n]).toEqual([n, kept.length]);
    expect(kept.filter(({ at, end_user }) => at <= 3 * QUARTER && end_user === "user 0")).toEqual([]);
  });
});

describe("the files of a throwaway session", () => {
  const [own, named] = [makeId("fil", 1), makeId("fil", 2)];
  const [session, next] = [makeId("ses", 1), makeId("ses", 2)];

  function createHeld() {
    const sql = createMigratedSql();
    const files = createFiles(sql);
    for (const file of [own, named]) {
      files.begin({ file, name: null, media_type: "image/png", bytes: 1 }, 0);
      files.finish({ file, stored: { sha256: "", tokens: 1 }, idempotency: null }, 0);
    }
    files.use({ session, files: [own], throwaway: "owns" }, 0);
    files.use({ session, files: [named], throwaway: "names" }, 0);
    return { sql, files };
  }

  it("end with it where they came with its request, and stay where it named them", () => {
    const { sql, files } = createHeld();
    files.release(session, 1);
    expect(files.listRemovedFor(session)).toEqual([own]);
    expect([files.find(own), files.find(named)?.expires_at]).toEqual([null, 24 * HOUR_MS]);
    expect(sql.rows("SELECT * FROM file_refs")).toEqual([]);
  });

  it("are its own from their first byte: a refusal in the middle of an upload ends them, and so does the end of a Worker", () => {
    const { sql, files } = createHeld();
    const [first, second] = [makeId("fil", 3), makeId("fil", 4)];
    for (const file of [first, second]) files.begin({ file, name: null, media_type: "image/png", bytes: 1, throwaway: next }, 0);
    files.finish({ file: first, stored: { sha256: "", tokens: 1 }, idempotency: null }, 0);
    expect(files.find(first)?.expires_at).toBe(3 * HOUR_MS);

    files.release(next, 1);

    expect(files.listRemovedFor(next)).toEqual([first, second]);
    const late = files.finish({ file: second, stored: { sha256: "", tokens: 1 }, idempotency: null }, 2);
    expect(late).toMatchObject({ ok: false, error: { code: "file_not_found" } });
    expect(files.takeDue(2, 10)).toEqual(expect.arrayContaining([first, second]));
    expect(sql.rows("SELECT file FROM file_refs WHERE session = ?", next)).toEqual([]);
  });

  it("end by themselves where the session never came to be, and its references with them", () => {
    const { sql, files } = createHeld();
    expect(files.takeDue(2 * HOUR_MS, 10)).toEqual([]);
    expect(files.takeDue(3 * HOUR_MS, 10)).toEqual([own]);
    files.use({ session: next, files: [named], throwaway: "names" }, 3 * HOUR_MS);
    expect(sql.rows("SELECT session, file FROM file_refs")).toEqual([{ session: next, file: named }]);
  });
});
