/** The pure rules of budgets: counters, needs and charges, and how a grant is planned. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { counterKey, fromUnits, isBudgeted, periodAt, toNano, toPeriodEnd, toUnits, touchedCounters } from "../../src/app/budget-counters";
import { toCharge, toReserve } from "../../src/app/call-charge";
import { countLeft, MOST_AHEAD, planGrant } from "../../src/app/plan-grant";
import { createBudgetCache, KNOWN_BUDGETS_MS } from "../../src/tenant/look-ups/budget-source";
import { daily } from "../support/daily-budget";

const PRICES = { input: 0.000_001, cache_write: 0.000_002, cached: 0.000_000_1, output: 0.000_004 };
const PAYER = { session: "ses_1", end_user: "digest" };
const AT = Date.UTC(2026, 10, 24, 15);
const usage = (input: number, output: number, cached = 0) => ({ input, output, cached, reasoning: 0 });
const known = (...budgets: ReturnType<typeof daily>[]) => ({ revision: 1, budgets });

describe("periods", () => {
  test("are days and months in UTC", () => {
    expect(periodAt("day", AT)).toEqual({ starts_at: Date.UTC(2026, 10, 24), ends_at: Date.UTC(2026, 10, 25) });
    expect(periodAt("month", AT)).toEqual({ starts_at: Date.UTC(2026, 10, 1), ends_at: Date.UTC(2026, 11, 1) });
    expect(periodAt("month", Date.UTC(2026, 11, 31, 23, 59))).toEqual({ starts_at: Date.UTC(2026, 11, 1), ends_at: Date.UTC(2027, 0, 1) });
  });

  test("follow each other without a gap, whatever the time", () => {
    const time = fc.integer({ min: 0, max: 4e12 });
    fc.assert(
      fc.property(time, fc.constantFrom("day" as const, "month" as const), (at, period) => {
        const { starts_at, ends_at } = periodAt(period, at);
        expect(starts_at <= at && at < ends_at).toBe(true);
        expect(periodAt(period, ends_at).starts_at).toBe(ends_at);
        expect(toPeriodEnd({ period, starts_at })).toBe(ends_at);
      }),
    );
  });
});

describe("the counters that a call touches", () => {
  test("are those of the tenant, of the end user and of the session", () => {
    const budgets = known(daily(1), daily(1, { name: "each", of: "end_user" }), daily(1, { name: "one", of: "session", period: "month" }));

    expect(touchedCounters(budgets, { purpose: "turn", payer: PAYER, at: AT }).map(({ subject }) => subject)).toEqual([
      "",
      "digest",
      "ses_1",
    ]);
    expect(touchedCounters(budgets, { purpose: "turn", payer: { ...PAYER, end_user: null }, at: AT })).toHaveLength(2);
  });

  test("of a budget for compactions are touched by compactions alone", () => {
    const budgets = known(daily(1, { purposes: "compaction" }));

    const count = (purpose: "turn" | "compaction" | "title" | "comparison"): number =>
      touchedCounters(budgets, { purpose, payer: PAYER, at: AT }).length;

    expect(["turn", "compaction", "title", "comparison"].map((purpose) => count(purpose as "turn"))).toEqual([0, 1, 0, 0]);
    expect(isBudgeted(budgets, "turn")).toBe(false);
    expect(isBudgeted(budgets, "compaction")).toBe(true);
  });

  test("stay the same when only the amount is changed, and no others have their name", () => {
    const [one] = touchedCounters(known(daily(1)), { purpose: "turn", payer: PAYER, at: AT });
    const [more] = touchedCounters(known(daily(99)), { purpose: "turn", payer: PAYER, at: AT });
    if (!one || !more) throw new Error("no counter");
    expect(counterKey(more)).toBe(counterKey(one));
    const others = [{ name: "x" }, { unit: "usd" as const }, { purposes: "compaction" as const }, { subject: "s" }, { starts_at: 0 }];
    expect(new Set([one, ...others.map((other) => ({ ...one, ...other }))].map(counterKey)).size).toBe(6);
  });
});

describe("money", () => {
  test("is counted in billionths, rounded up, and without the noise of floating point", () => {
    expect(toNano(0.1 + 0.2)).toBe(300_000_000);
    expect(toNano(0.000_000_000_1)).toBe(1);
    expect(toUnits({ unit: "usd", amount: 0.1 + 0.2 })).toBe(300_000_000);
    expect(fromUnits("usd", 1_500_000_000)).toBe(1.5);
    expect(Number.isSafeInteger(toUnits({ unit: "usd", amount: 1e300 }))).toBe(true);
  });
});

describe("what is reserved and charged", () => {
  const bounds = { input: 1_000.2, output: 500, prices: PRICES };

  test("is reserved at the price of input that is written to the cache, and for the whole reply", () => {
    expect(toReserve(bounds, "tokens")).toBe(1_501);
    expect(toReserve(bounds, "usd")).toBe(toNano(1_001 * 0.000_002 + 500 * 0.000_004));
  });

  test("assumes a price where none is known, so that no call is free", () => {
    const unpriced = { input: 10, output: 2 };

    // 10 tokens at $18.75 and 2 at $75 per million.
    expect(toReserve(unpriced, "usd")).toBe(337_500);
    expect(toCharge({ usage: usage(10, 2), estimate: 10 }, unpriced, "usd")).toBe(toReserve(unpriced, "usd"));
  });

  test("charges the usage and the cost of the ledger", () => {
    const call = { usage: usage(900, 20), estimate: 900, cost: 0.000_98 };

    expect(toCharge(call, bounds, "tokens")).toBe(920);
    expect(toCharge(call, bounds, "usd")).toBe(980_000);
  });

  test("charges the whole reservation where the usage is unknown or is no count of the request", () => {
    expect(toCharge({ usage: null, estimate: 900, reservation: { id: 1 } }, bounds, "tokens")).toBe(1_501);
    expect(toCharge({ usage: usage(0, 0), estimate: 900, reservation: { id: 1 } }, bounds, "tokens")).toBe(1_501);
  });

  test("charges nothing for a call that was refused before any output", () => {
    expect(toCharge({ usage: null, estimate: 900, reservation: { id: 1, free: true } }, bounds, "usd")).toBe(0);
  });

  test("never charges more than was reserved for usage within the bounds", () => {
    const price = fc.integer({ min: 0, max: 100_000 }).map((n) => n / 1e9);
    const prices = fc.record({ input: price, cached: price, cache_write: price, output: price });
    const amount = fc.integer({ min: 1, max: 200_000 });
    fc.assert(
      fc.property(prices, amount, amount, fc.double({ min: 0, max: 1, noNaN: true }), (known, input, output, share) => {
        const limits = { input, output, prices: known };
        const used = usage(input, Math.floor(output * share), Math.floor(input * share));
        const cost = (used.input - used.cached) * known.input + used.cached * known.cached + used.output * known.output;
        expect(toCharge({ usage: used, estimate: input, cost }, limits, "usd")).toBeLessThanOrEqual(toReserve(limits, "usd") + 1);
        expect(toCharge({ usage: used, estimate: input, cost }, limits, "tokens")).toBeLessThanOrEqual(toReserve(limits, "tokens"));
      }),
    );
  });
});

describe("a grant", () => {
  test("is exactly what the call needs while little is left, so that no session holds what another needs", () => {
    const counter = { amount: 50, spent: 0, held: 0, holders: 0 };

    expect(planGrant(counter, { need: 1, ahead: 8 })).toEqual({ granted: 1, tight: true });
    expect(planGrant({ ...counter, held: 50 }, { need: 1, ahead: 1 })).toBeNull();
  });

  test("is a block beside the need while much is left", () => {
    const counter = { amount: 1_000_000, spent: 0, held: 0, holders: 9 };

    expect(planGrant(counter, { need: 100, ahead: 4 })).toEqual({ granted: 500, tight: false });
  });

  test("never exceeds what is left, and holds at most the need and its blocks", () => {
    const amount = fc.integer({ min: 0, max: 1_000_000 });
    const holders = fc.integer({ min: 0, max: 1_000 });
    fc.assert(
      fc.property(
        amount,
        amount,
        amount,
        holders,
        fc.integer({ min: 1, max: 5_000 }),
        fc.integer({ min: 0, max: 99 }),
        (most, spent, held, holding, need, ahead) => {
          const counter = { amount: most, spent, held, holders: holding };
          const grant = planGrant(counter, { need, ahead });
          if (countLeft(counter) < need) {
            expect(grant).toBeNull();
            return;
          }
          expect(grant?.granted).toBeGreaterThanOrEqual(need);
          expect(grant?.granted).toBeLessThanOrEqual(Math.min(countLeft(counter), need * (1 + MOST_AHEAD)));
        },
      ),
    );
  });
});

describe("what an isolate knows of a tenant's budgets", () => {
  function setUp() {
    const work: Promise<unknown>[] = [];
    const world = { now: 1_000, isAway: false, exists: true, asked: 0, generation: 0, budgets: [daily(1)] };
    const ask = async () => {
      world.asked += 1;
      if (world.isAway) throw new Error("away");
      return world.exists ? { revision: world.asked, budgets: world.budgets } : null;
    };
    const background = (each: Promise<unknown>): void => void work.push(each);
    return { world, work, cache: createBudgetCache({ ask, now: () => world.now, generation: () => world.generation, max: 2, background }) };
  }

  test("is looked up once in a minute, and a new budget holds after it", async () => {
    const { world, cache } = setUp();
    expect(cache.peek("ten")).toBeNull();
    await cache("ten");
    await cache("ten");
    expect(world.asked).toBe(1);
    expect(cache.peek("ten")).toMatchObject({ revision: 1 });

    world.now += KNOWN_BUDGETS_MS;

    expect(cache.peek("ten")).toBeNull();
    expect(await cache("ten")).toMatchObject({ revision: 2 });
  });

  test("is the last known while the tenant's object is away, and nothing where it was never known", async () => {
    const { world, cache } = setUp();
    await cache("ten");
    world.now += KNOWN_BUDGETS_MS;
    world.isAway = true;

    expect(await cache("ten")).toMatchObject({ revision: 1 });
    await expect(cache("other")).rejects.toThrow("away");
  });

  test("is asked for behind its callers from half of the minute on", async () => {
    const { world, cache, work } = setUp();
    await cache("ten");
    world.now += KNOWN_BUDGETS_MS / 2;

    expect([cache.peek("ten"), cache.peek("ten")]).toMatchObject([{ revision: 1 }, { revision: 1 }]);
    await Promise.all(work);
    expect(cache.peek("ten")).toMatchObject({ revision: 2 });
    expect(world.asked).toBe(2);
  });

  test("is nothing for a tenant that does not exist, which is not asked for on each call", async () => {
    const { world, cache } = setUp();
    world.exists = false;

    expect([await cache("ten"), await cache("ten")]).toEqual([
      { revision: 0, budgets: [] },
      { revision: 0, budgets: [] },
    ]);
    expect(world.asked).toBe(1);
  });

  test("is looked up again where this isolate has seen a change", async () => {
    const { world, cache } = setUp();
    await cache("ten");
    world.generation += 1;
    expect(cache.peek("ten")).toBeNull();
  });
});
