/** When usage is removed: by whole months (UTC), after the day to think, and to the end once it has begun. */
import { describe, expect, it } from "vitest";
import { NO_CALLS } from "../../src/domain/call-totals";
import { sumForErasure } from "../../src/domain/erased-usage";
import { toMonthStart } from "../../src/lib/utc-time";
import { createErasedUsage } from "../../src/tenant/usage/erased-usage";
import { createUsageBound } from "../../src/tenant/usage/usage-bound";
import { createUsageRetention } from "../../src/tenant/usage/usage-retention";
import { notingLog } from "../session/life";
import { createCountedSql } from "../support/counted-sql";
import { createMigratedSql } from "./memory-sql";
import { makeId, NAMES } from "./support";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 24, 15);

function world(rule: { months: number; starts_at: number } | null = { months: 12, starts_at: 0 }, sql = createMigratedSql()) {
  const time = { now: NOW };
  const state = { rule, isSuspended: false, parts: 1, isAway: false };
  const removed: number[] = [];
  const bound = createUsageBound(sql);
  const retention = createUsageRetention({
    sql,
    bound,
    readRule: () => state.rule,
    isSuspended: () => state.isSuspended,
    remove: async (before) => {
      if (state.isAway) throw new Error("D1 is out of reach");
      removed.push(before);
      state.parts -= 1;
      return state.parts <= 0;
    },
    alarm: { get: async () => null, set: () => {} },
    now: () => time.now,
    log: notingLog(),
  });
  return { sql, time, state, removed, bound, retention };
}

describe("the removal of usage", () => {
  it("reaches back to the beginning of a month, and is due again when the next one begins", async () => {
    const { removed, retention, bound, time } = world();
    expect(retention.nextDue()).toBe(NOW);
    await retention.run();
    expect(removed).toEqual([Date.UTC(2025, 10, 1)]);
    expect(retention.nextDue()).toBe(Date.UTC(2026, 11, 1));
    time.now = Date.UTC(2026, 11, 1) - 1;
    await retention.run();
    expect(removed).toHaveLength(1);
    time.now += 1;
    await retention.run();
    expect(bound.read()).toEqual({ wanted: Date.UTC(2025, 11, 1), applied: Date.UTC(2025, 11, 1) });
  });

  it("waits for the day to think, and for the tenant's resumption", async () => {
    const { removed, retention, state, time } = world({ months: 1, starts_at: NOW + DAY });
    expect(retention.nextDue()).toBe(NOW + DAY);
    await retention.run();
    expect(removed).toEqual([]);
    time.now += DAY;
    state.isSuspended = true;
    await retention.run();
    expect([removed, retention.nextDue()]).toEqual([[], time.now + DAY]);
    state.isSuspended = false;
    await retention.run();
    expect(removed).toEqual([Date.UTC(2026, 9, 1)]);
  });

  it("goes on until no part is left, also without its rule, and keeps the object's sums until then", async () => {
    const { sql, removed, retention, state, bound, time } = world();
    const store = createErasedUsage(sql, NAMES);
    const call = { model: "m", purpose: "turn", usage: null, outcome: "stop" } as const;
    const session = makeId("ses", 1);
    const ofTwo = sumForErasure(
      [
        { ...call, at: Date.UTC(2020, 1, 1) },
        { ...call, at: NOW },
      ],
      () => null,
    );
    store.keep(session, ofTwo);
    state.isAway = true;
    await retention.run();
    expect([bound.read().applied, store.keep(session, []).length]).toEqual([null, 2]);

    state.rule = null;
    state.isAway = false;
    state.parts = 30;
    time.now = retention.nextDue() ?? 0;
    expect(time.now).toBeGreaterThan(NOW);
    await retention.run();
    expect([removed.length, bound.read().applied, retention.nextDue()]).toEqual([20, null, time.now]);
    await retention.run();
    expect([removed.length, store.keep(session, []).length, retention.nextDue()]).toEqual([30, 1, null]);
    expect(store.keep(session, ofTwo)).toHaveLength(1);
  });

  it("removes the object's own sums in steps of 200 sessions, and goes on with them where a life of the object ended", async () => {
    const SESSIONS = 1_000;
    const { sql, take } = createCountedSql();
    const { retention, bound, removed } = world({ months: 12, starts_at: 0 }, sql);
    const old = { ...NO_CALLS, calls: 1, at: Date.UTC(2020, 1, 1), model: "m", purpose: "turn", key_id: "", end_user: "" } as const;
    const store = createErasedUsage(sql, NAMES);
    for (let n = 1; n <= SESSIONS; n++) store.keep(makeId("ses", n), [old, { ...old, at: NOW }]);
    sql.rows("INSERT INTO unsent_usage (session) VALUES (?), (?)", makeId("ses", 1), "ses_gone");
    const written: number[] = [];
    const countRows = () => sql.rows("SELECT 1 FROM erased_usage").length;

    bound.want(Date.UTC(2025, 10, 1));
    bound.apply();
    take();
    sql.transaction(() => bound.clearSome());
    written.push(take().written);
    expect([countRows(), retention.nextDue()]).toEqual([2 * SESSIONS - 200, NOW]);
    await retention.run();

    expect(written[0]).toBeLessThanOrEqual(202);
    expect([countRows(), retention.nextDue() !== NOW, removed]).toEqual([SESSIONS, true, []]);
    expect(sql.rows("SELECT session FROM unsent_usage")).toEqual([{ session: makeId("ses", 1) }]);
    expect(store.keep(makeId("ses", 1), [old])).toEqual([]);
  });

  it("does nothing without a rule, and brings nothing back under a longer one", async () => {
    const { removed, retention, state, bound } = world(null);
    expect(retention.nextDue()).toBeNull();
    await retention.run();
    expect(removed).toEqual([]);
    state.rule = { months: 1, starts_at: 0 };
    await retention.run();
    state.rule = { months: 24, starts_at: 0 };
    await retention.run();
    expect([removed.length, bound.read().applied]).toEqual([1, Date.UTC(2026, 9, 1)]);
  });

  it.each([
    [Date.UTC(2026, 0, 31, 23, 59), 1, "2025-12-01"],
    [Date.UTC(2024, 1, 29), 12, "2023-02-01"],
    [Date.UTC(2026, 0, 1), 0, "2026-01-01"],
  ])("counts months as the calendar does: %i, %i", (at, months, day) => {
    expect(new Date(toMonthStart(at, months)).toISOString().slice(0, 10)).toBe(day);
  });
});
