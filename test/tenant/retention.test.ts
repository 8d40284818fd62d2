/** The tenant's retention over sessions that only say when they were used. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeSession, NO_RETENTION, RETENTION_STARTS_AFTER_MS } from "../../src/app/retention";
import type { RetentionSetting } from "../../src/contract/retention";
import type { SessionId } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import { createRetention } from "../../src/tenant/erasure/retention";
import { createDirectory } from "../../src/tenant/shared/directory";
import { drawn } from "../support/effort";
import { createMigratedSql } from "./memory-sql";
import { makeId } from "./support";

const DAY = 86_400_000;
const MONTH: RetentionSetting = { ...NO_RETENTION, erase_sessions_after_days: 30 };

interface Fake {
  readonly policy?: "balanced" | "verbatim";
  readonly created: number;
  archived?: boolean;
  used: number;
}

function world() {
  const sql = createMigratedSql();
  const directory = createDirectory(sql);
  const time = { now: 1_000 * DAY, alarm: null as number | null };
  const sessions = new Map<SessionId, Fake>();
  const erased: SessionId[] = [];
  const archived: SessionId[] = [];
  const asked: SessionId[] = [];
  const hooks: { before: (session: SessionId) => Promise<void> } = { before: async () => {} };
  const warned: string[] = [];
  const standing = { isSuspended: false };
  const start = () =>
    createRetention({
      sql,
      alarm: {
        get: async () => time.alarm,
        set: (at) => {
          time.alarm = at;
        },
      },
      retain: async (session, { setting, isDryRun }) => {
        await hooks.before(session);
        if (!isDryRun) asked.push(session);
        const fake = sessions.get(session);
        if (!fake) return err({ code: "session_not_found" });
        const judged = judgeSession(
          setting,
          { policy: fake.policy ?? "balanced", used_at: fake.used, is_busy: false, is_archived: fake.archived === true, result_times: [] },
          time.now,
        );
        if (!isDryRun && judged.due.some(({ action }) => action === "archive_session")) {
          fake.archived = true;
          archived.push(session);
        }
        if (!isDryRun && judged.due.some(({ action }) => action === "erase_session")) {
          sessions.delete(session);
          erased.push(session);
        }
        return ok({ ...judged, used_at: fake.used });
      },
      isSuspended: () => standing.isSuspended,
      now: () => time.now,
      log: { info: () => {}, warn: (event) => void warned.push(event), error: () => {} },
    });
  const retention = start();
  const add = (n: number, fake: Fake): SessionId => {
    const session = makeId("ses", n);
    directory.register({ session, idempotency: null, at: fake.created });
    sessions.set(session, fake);
    return session;
  };
  const put = async (setting: RetentionSetting, one = retention) => {
    sql.transaction(() => one.write(setting));
    await one.settle();
  };
  /** Rings the alarm whenever it is due, until the time is over. Returns how many sessions each alarm asked. */
  const pass = async (until: number, one = retention): Promise<number[]> => {
    const each: number[] = [];
    while (time.alarm !== null && time.alarm <= until) {
      time.now = Math.max(time.now, time.alarm);
      time.alarm = null;
      const before = asked.length;
      await one.run();
      each.push(asked.length - before);
      if (each.length > 1_000) throw new Error("the alarm never rests");
    }
    time.now = Math.max(time.now, until);
    return each;
  };
  const previewAll = async (setting: RetentionSetting | null, limit = 3) => {
    const due: SessionId[] = [];
    for (let after: SessionId | null = null; ; ) {
      const page = await retention.preview({ setting, after, limit });
      due.push(...page.data.map((act) => act.session_id));
      if (page.next === null) return due;
      after = page.next;
    }
  };
  return { standing, sql, time, sessions, erased, archived, asked, hooks, warned, retention, start, add, put, pass, previewAll };
}

describe("the setting", () => {
  it("starts a day after it was put, and a repetition does not put it off", async () => {
    const { retention, time, put } = world();
    expect(retention.read()).toEqual({ ...NO_RETENTION, starts_at: null });
    await put(MONTH);
    const starts_at = time.now + RETENTION_STARTS_AFTER_MS;
    time.now += DAY / 2;
    await put(MONTH);

    expect(retention.read()).toEqual({ ...MONTH, starts_at });
  });

  it("that has no rule needs no alarm", async () => {
    const { retention, put } = world();
    await put(NO_RETENTION);
    expect([retention.nextDue(), retention.read().starts_at]).toEqual([null, null]);
  });

  it("of a build with fewer rules has none for those that it did not know", async () => {
    const { sql, retention } = world();
    sql.rows("INSERT INTO retention (one, setting, starts_at) VALUES (1, '{}', 0)");
    expect(retention.read()).toEqual({ ...NO_RETENTION, starts_at: null });
  });
});

describe("the alarm", () => {
  it("erases a session when its age comes, not before, and no earlier than a day after the setting", async () => {
    const { time, add, put, pass, erased } = world();
    const old = add(1, { created: time.now - 90 * DAY, used: time.now - 40 * DAY });
    const young = add(2, { created: time.now - 90 * DAY, used: time.now - 20 * DAY });
    const begun = time.now;
    await put(MONTH);

    await pass(begun + DAY - 1);
    expect(erased).toEqual([]);
    await pass(begun + DAY);
    expect(erased).toEqual([old]);
    await pass(begun + 10 * DAY - 1);
    expect(erased).toEqual([old]);
    await pass(begun + 10 * DAY);
    expect(erased).toEqual([old, young]);
  });

  it("asks a session that is used all the time once for each time of the rule", async () => {
    const { time, add, put, pass, erased, asked, sessions } = world();
    const busy = add(1, { created: time.now, used: time.now });
    await put(MONTH);
    for (let day = 0; day < 300; day++) {
      const fake = sessions.get(busy);
      if (fake) fake.used = time.now;
      await pass(time.now + DAY);
    }
    expect(erased).toEqual([]);
    expect(asked.length).toBeLessThanOrEqual(11);
  });

  it("comes for sessions that are made after the setting, also in a tenant that had none", async () => {
    const { time, add, put, pass, erased } = world();
    await put(MONTH);
    await pass(time.now + 50 * DAY);
    const late = add(1, { created: time.now, used: time.now });
    await pass(time.now + 30 * DAY - 1);
    expect(erased).toEqual([]);
    await pass(time.now + 31 * DAY);
    expect(erased).toEqual([late]);
  });

  it("asks 10,000 sessions, at most 100 at a time, and each once", async () => {
    const { time, add, put, pass, erased, asked } = world();
    for (let n = 1; n <= 10_000; n++) add(n, { created: time.now - 50 * DAY, used: time.now - (n % 2 === 0 ? 50 : 20) * DAY });
    await put(MONTH);

    const each = await pass(time.now + DAY);

    expect([Math.max(...each), asked.length, erased.length]).toEqual([100, 10_000, 5_000]);
  });

  it("goes on after a kill in the middle: what was asked is asked again, and nothing is left out", async () => {
    const { time, add, put, pass, erased, hooks, start } = world();
    const all = Array.from({ length: 150 }, (_, n) => add(n + 1, { created: time.now - 50 * DAY, used: time.now - 50 * DAY }));
    const begun = time.now;
    await put(MONTH);
    time.now = begun + DAY;
    // The first life never hears of the sessions that it asks from the 15th on.
    let calls = 0;
    hooks.before = () => (++calls > 14 ? new Promise(() => {}) : Promise.resolve());
    const hung = pass(time.now);
    await new Promise((resolve) => setImmediate(resolve));
    expect(erased.length).toBeLessThan(20);

    hooks.before = async () => {};
    const next = start();
    await next.resume();
    await pass(begun + DAY + 2 * 60 * 60 * 1_000, next);

    expect(erased.toSorted()).toEqual(all.toSorted());
    void hung;
  });

  it("asks a session that cannot be reached again an hour later, and the others at once", async () => {
    const { time, add, put, pass, erased, hooks, warned } = world();
    const [lost, other] = [1, 2].map((n) => add(n, { created: time.now - 50 * DAY, used: time.now - 50 * DAY }));
    const begun = time.now;
    await put(MONTH);
    hooks.before = async (session) => {
      if (session === lost) throw new Error("unreachable");
    };
    await pass(begun + DAY);
    expect([erased, warned]).toEqual([[other], ["tenant.not_retained"]]);
    hooks.before = async () => {};
    await pass(begun + DAY + 60 * 60 * 1_000);
    expect(erased).toEqual([other, lost]);
  });

  it("removes nothing while the tenant is suspended, and goes on within a day of its resumption", async () => {
    const { time, add, put, pass, erased, standing } = world();
    const old = add(1, { created: time.now - 50 * DAY, used: time.now - 50 * DAY });
    await put(MONTH);
    standing.isSuspended = true;
    const each = await pass(time.now + 90 * DAY);
    expect([erased, each.length < 100]).toEqual([[], true]);
    standing.isSuspended = false;
    await pass(time.now + DAY);
    expect(erased).toEqual([old]);
  });

  it("forgets the times of an earlier setting in parts of 1,000, before the new one starts", async () => {
    const { sql, time, put, add, pass, retention, asked } = world();
    sql.transaction(() => {
      for (let n = 1; n <= 4_500; n++) add(n, { created: time.now, used: time.now });
      sql.rows("UPDATE sessions SET retain_at = ?", time.now + 400 * DAY);
    });
    const countNoted = (): number => sql.rows<{ n: number }>("SELECT count(*) AS n FROM sessions WHERE retain_at IS NOT NULL")[0]?.n ?? 0;

    await put(MONTH);
    const left = [countNoted()];
    while (countNoted() > 0) {
      await retention.run();
      left.push(countNoted());
    }
    expect(left).toEqual([3_500, 2_500, 1_500, 500, 0]);
    await pass(time.now + 31 * DAY);
    expect(new Set(asked).size).toBe(4_500);
  });

  it("removes nothing by a setting that was replaced, once the replacement is answered", async () => {
    const { time, add, put, pass, erased, hooks, retention } = world();
    for (let n = 1; n <= 60; n++) add(n, { created: time.now - 50 * DAY, used: time.now - 50 * DAY });
    const begun = time.now;
    await put(MONTH);
    let replaced: Promise<void> | null = null;
    hooks.before = async () => {
      replaced ??= put(NO_RETENTION);
    };
    await pass(begun + DAY);
    await replaced;
    const then = erased.length;

    expect(then).toBeLessThanOrEqual(10);
    await pass(begun + 100 * DAY);
    expect([erased.length, retention.nextDue()]).toEqual([then, null]);
  });
});

describe("a dry run", () => {
  it("changes nothing: neither the session, nor when it is asked next, nor the setting", async () => {
    const { sql, time, add, previewAll, retention, asked } = world();
    const old = add(1, { created: time.now - 50 * DAY, used: time.now - 50 * DAY });
    const before = sql.rows("SELECT * FROM sessions");

    expect(await previewAll(MONTH)).toEqual([old]);
    expect([sql.rows("SELECT * FROM sessions"), retention.read().starts_at, asked]).toEqual([before, null, []]);
  });

  it("looks at no more sessions than it is asked to, and says where the next page begins", async () => {
    const { time, add, retention } = world();
    for (let n = 1; n <= 5; n++) add(n, { created: time.now - 50 * DAY, used: n > 3 ? time.now : time.now - 50 * DAY });
    add(6, { created: time.now, used: time.now });

    const first = await retention.preview({ setting: MONTH, after: null, limit: 4 });
    expect(first).toMatchObject({ candidates: 5, looked_at: 4, next: makeId("ses", 4) });
    expect(first.data.map((act) => act.session_id)).toEqual([1, 2, 3].map((n) => makeId("ses", n)));
    expect(await retention.preview({ setting: MONTH, after: first.next, limit: 4 })).toMatchObject({ looked_at: 1, data: [], next: null });
  });

  it("counts its candidates for the first page alone", async () => {
    const { time, add, retention } = world();
    for (let n = 1; n <= 3; n++) add(n, { created: time.now - 50 * DAY, used: time.now });
    const page = (after: SessionId | null) => retention.preview({ setting: MONTH, after, limit: 1 });
    const first = await page(null);
    add(4, { created: time.now - 50 * DAY, used: time.now });

    expect([first, await page(first.next), await page(null)]).toMatchObject([{ candidates: 3 }, { candidates: 3 }, { candidates: 4 }]);
  });

  it("names exactly what the next run removes when nothing happens in between", async () => {
    const ages = fc.record({
      created: fc.integer({ min: 0, max: 100 }),
      since: fc.double({ min: 0, max: 1, noNaN: true }),
      own: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(ages, { maxLength: 30 }),
        fc.integer({ min: 1, max: 90 }),
        fc.option(fc.integer({ min: 1, max: 90 })),
        async (all, days, own) => {
          const { time, add, put, pass, erased, previewAll, retention } = world();
          const begun = time.now;
          for (const [n, { created, since, own: isOwn }] of all.entries()) {
            const at = begun - created * DAY;
            add(n + 1, { created: at, used: Math.floor(at + (begun - at) * since), policy: isOwn ? "verbatim" : "balanced" });
          }
          await put({ ...NO_RETENTION, erase_sessions_after_days: days, by_policy: { verbatim: { erase_sessions_after_days: own } } });
          time.now = begun + DAY;

          const named = await previewAll(null);
          while ((retention.nextDue() ?? Number.POSITIVE_INFINITY) <= time.now) await retention.run();

          expect(erased.toSorted()).toEqual(named.toSorted());
          expect(await previewAll(null)).toEqual([]);
          void pass;
        },
      ),
      { numRuns: drawn(60) },
    );
  });
});
