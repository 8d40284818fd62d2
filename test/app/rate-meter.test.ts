import { describe, expect, inject, it } from "vitest";
import { createRandom } from "../../scripts/support/random.ts";
import { planBlock, RATE_WINDOW_MS, type RateAsk, type RateGrant, windowEnd } from "../../src/app/rate-grants";
import { createRateMeter, type RateRule } from "../../src/app/rate-meter";
import { createRateWindows } from "../../src/tenant/limits/rate-windows";
import { createMigratedSql } from "../tenant/memory-sql";

const START = 1_795_000_020_000;
const tenantRule = (limit: number): RateRule => ({ of: "tenant", subject: "requests tenant", limit });

/** The tenant's object, its clock, and holders that ask it. */
function setUp() {
  const sql = createMigratedSql();
  const clock = { now: START };
  const calls: (readonly RateAsk[])[] = [];
  const fault = { isAway: false };
  async function ask(_: string, asks: readonly RateAsk[]): Promise<readonly RateGrant[]> {
    calls.push(asks);
    if (fault.isAway) throw new Error("The object is away");
    // Each call makes the store anew, as an object does that restarted.
    return sql.transaction(() => createRateWindows(sql).grant(asks, clock.now));
  }
  const newHolder = (max = 100) => createRateMeter({ ask, now: () => clock.now, background: () => {}, max });
  return { clock, calls, fault, newHolder, ask };
}

async function countAdmitted(holder: ReturnType<typeof createRateMeter>, requests: number, rules: readonly RateRule[]): Promise<number> {
  const admissions = await Promise.all(Array.from({ length: requests }, () => holder.admit("ten", rules)));
  return admissions.filter(({ refused }) => refused === null).length;
}

describe("one holder of a rate", () => {
  it.each([0, 1, 2, 10, 50, 6_000])("admits exactly the limit of %i in a window", async (limit) => {
    const { newHolder } = setUp();

    expect(await countAdmitted(newHolder(), limit + 150, [tenantRule(limit)])).toBe(limit);
  });

  it("admits again from the next window on", async () => {
    const { newHolder, clock } = setUp();
    const holder = newHolder();
    await countAdmitted(holder, 20, [tenantRule(10)]);

    clock.now = windowEnd(clock.now);

    expect(await countAdmitted(holder, 20, [tenantRule(10)])).toBe(10);
  });

  it("does not ask again for a window that has nothing left", async () => {
    const { newHolder, calls } = setUp();
    const holder = newHolder();
    for (let n = 0; n < 10; n++) await holder.admit("ten", [tenantRule(10)]);
    await holder.admit("ten", [tenantRule(10)]);
    const asked = calls.length;

    expect(await countAdmitted(holder, 500, [tenantRule(10)])).toBe(0);
    expect(calls.length).toBe(asked);
  });

  it("asks some thirty times for a whole limit", async () => {
    const { newHolder, calls, clock } = setUp();
    const holder = newHolder();
    const asked: number[] = [];
    for (let minute = 0; minute < 3; minute++) {
      const before = calls.length;
      for (let n = 0; n < 1_000; n++) await holder.admit("ten", [tenantRule(1_000)]);
      asked.push(calls.length - before);
      clock.now += RATE_WINDOW_MS;
    }

    for (const asks of asked) expect(asks).toBeLessThanOrEqual(30);
  });

  it("asks for the next block before a large one is used up", async () => {
    const { newHolder, calls } = setUp();
    const holder = newHolder();
    for (let n = 0; n < 400; n++) await holder.admit("ten", [tenantRule(10_000)]);

    expect(calls.flatMap((asks) => asks.map(({ need }) => need)).filter((need) => need > 0)).toEqual([1]);
  });

  it("asks once for all requests that came while it waited", async () => {
    const { newHolder, calls } = setUp();

    expect(await countAdmitted(newHolder(), 500, [tenantRule(1_000)])).toBe(500);
    expect(calls.slice(0, 2).map((asks) => asks.map(({ need }) => need))).toEqual([[1], [497]]);
  });

  it("without a rule asks nothing", async () => {
    const { newHolder, calls } = setUp();

    expect(await countAdmitted(newHolder(), 3, [])).toBe(3);
    expect(calls).toEqual([]);
  });

  it("takes nothing of the other limits where one refuses", async () => {
    const { newHolder } = setUp();
    const holder = newHolder();
    const key: RateRule = { of: "key", subject: "requests key", limit: 2 };
    expect(await countAdmitted(holder, 30, [tenantRule(10), key])).toBe(2);

    expect(await countAdmitted(holder, 30, [tenantRule(10)])).toBe(8);
  });

  it("takes no block of the other limits where one has nothing left, in any isolate", async () => {
    const { newHolder } = setUp();
    const key: RateRule = { of: "key", subject: "requests key", limit: 2 };
    for (let n = 0; n < 50; n++) await newHolder().admit("ten", [tenantRule(10), key]);

    expect(await countAdmitted(newHolder(), 30, [tenantRule(10)])).toBe(8);
  });

  it("is refused after a few asks where the tenant's object is still in the minute before, which has nothing left", async () => {
    const { newHolder, clock, calls } = setUp();
    const rule = [tenantRule(10)];
    await countAdmitted(newHolder(), 10, rule);
    const ahead = createRateMeter({
      ask: async (_, asks) => {
        calls.push(asks);
        return asks.map(({ subject }) => ({ subject, granted: 0, left: 0, ends_at: windowEnd(clock.now) - RATE_WINDOW_MS }));
      },
      now: () => clock.now,
      background: () => {},
      max: 10,
    });
    calls.length = 0;

    expect((await ahead.admit("ten", rule)).refused).not.toBeNull();
    expect(calls.length).toBe(5);
  });

  it("says which limit refused, and how much the others still have", async () => {
    const { newHolder } = setUp();
    const holder = newHolder();
    const rules: readonly RateRule[] = [tenantRule(4), { of: "key", subject: "requests key", limit: 0 }];

    const { refused, states } = await holder.admit("ten", rules);

    expect(refused).toMatchObject({ of: "key", remaining: 0 });
    expect(states.map(({ of, remaining }) => [of, remaining])).toEqual([
      ["tenant", 4],
      ["key", 0],
    ]);
  });

  it("admits up to the limit while the tenant's object is away, and asks it again in the next window", async () => {
    const { newHolder, fault, calls, clock } = setUp();
    const holder = newHolder();
    fault.isAway = true;
    await holder.admit("ten", [tenantRule(10)]);

    expect(await countAdmitted(holder, 20, [tenantRule(10)])).toBe(9);
    expect(calls.length).toBe(1);
    fault.isAway = false;
    clock.now += RATE_WINDOW_MS;
    expect(await countAdmitted(holder, 20, [tenantRule(10)])).toBe(10);
  });

  it("keeps a bounded number of subjects", async () => {
    const { newHolder, calls } = setUp();
    const holder = newHolder(1);
    const other: RateRule = { of: "key", subject: "requests key", limit: 100 };
    await holder.admit("ten", [tenantRule(100)]);
    await holder.admit("ten", [other]);
    await holder.admit("ten", [tenantRule(100)]);

    expect(calls.length).toBe(3);
  });
});

describe("a block", () => {
  const ask = { limit: 100, need: 2, want: 100 };

  it("has what is needed at once, and beside it half of what holders may have unused", () => {
    expect(planBlock(ask, { granted: 0, used: 0 })).toEqual({ granted: 7, left: 93 });
    expect(planBlock(ask, { granted: 50, used: 44 })).toEqual({ granted: 4, left: 46 });
    expect(planBlock(ask, { granted: 50, used: 40 })).toEqual({ granted: 2, left: 48 });
    expect(planBlock({ ...ask, want: 3 }, { granted: 0, used: 0 })).toEqual({ granted: 3, left: 97 });
  });

  it("is never more than what is left", () => {
    expect(planBlock(ask, { granted: 99, used: 99 })).toEqual({ granted: 1, left: 0 });
    expect(planBlock(ask, { granted: 100, used: 100 })).toEqual({ granted: 0, left: 0 });
  });

  it("of a limit that was lowered below what is granted is empty", () => {
    expect(planBlock({ ...ask, limit: 10 }, { granted: 50, used: 50 })).toEqual({ granted: 0, left: 0 });
  });
});

/** How the requests of a minute spread over isolates: which isolate serves the n-th of `requests`. */
const SPREADS: Readonly<Record<string, (n: number, isolates: number, requests: number) => number>> = {
  evenly: (n, isolates) => n % isolates,
  "isolate after isolate": (n, isolates, requests) => Math.floor((n * isolates) / requests),
  "most to one": (n, isolates) => (n % 10 === 0 ? n % isolates : 0),
  "by chance, few more than others": (n, isolates) => Math.floor((((n * 7_919) % 1_000) ** 2 / 1_000_000) * isolates),
};

describe.each([60, 600, 6_000, 60_000])("a limit of %i a minute, over isolates", (limit) => {
  describe.each([1, 2, 7, 50, 500])("%i of them", (isolates) => {
    const spread = async (how: string, requests: number) => {
      const { newHolder, calls } = setUp();
      const holders = Array.from({ length: isolates }, () => newHolder());
      let admitted = 0;
      for (let n = 0; n < requests; n++) {
        const at = SPREADS[how]?.(n, isolates, requests) ?? 0;
        const admission = await holders[at]?.admit("ten", [tenantRule(limit)]);
        if (admission?.refused === null) admitted += 1;
      }
      return { admitted, calls: calls.length };
    };

    it.each(Object.keys(SPREADS))("lets all of it pass but a tenth at most, and never more: %s", async (how) => {
      const { admitted } = await spread(how, limit * 2);

      expect(admitted).toBeGreaterThanOrEqual(limit * 0.9);
      expect(admitted).toBeLessThanOrEqual(limit);
    });

    it.each(Object.keys(SPREADS))("refuses none of nine tenths of it: %s", async (how) => {
      const { admitted } = await spread(how, limit * 0.9);

      expect(admitted).toBe(limit * 0.9);
    });
  });

  it("lets all of it pass but a tenth at most where each isolate serves one request", async () => {
    const { newHolder } = setUp();
    const requests = Math.min(limit, 3_000);
    let admitted = 0;
    for (let n = 0; n < requests; n++) {
      const { refused } = await newHolder().admit("ten", [tenantRule(limit)]);
      if (!refused) admitted += 1;
    }

    expect(admitted).toBeGreaterThanOrEqual(requests * 0.9);
  });
});

describe("many holders of a rate, over calls that are lost, late and repeated, and restarts of the tenant's object", () => {
  const RUNS = 60;

  it("never admit more than the limit in a window", async () => {
    const random = createRandom(inject("seed") + 29);
    for (let run = 0; run < RUNS; run++) {
      const { clock, ask } = setUp();
      const limit = random.between(1, 120);
      let [admitted, windows] = [0, 1];
      const advance = (ms: number) => {
        clock.now += ms;
        windows += 1;
      };
      const isLossy = random.between(0, 1) === 1;
      // Repeats a call now and then: the first answer is lost. It comes late: after other requests, and after the window's end.
      const lossy = async (owner: string, asks: readonly RateAsk[]) => {
        if (isLossy && random.between(0, 4) === 0) await ask(owner, asks);
        const grants = await ask(owner, asks);
        for (let n = random.between(0, 3); n > 0; n--) await Promise.resolve();
        if (isLossy && random.between(0, 30) === 0) advance(RATE_WINDOW_MS);
        return grants;
      };
      const deps = { ask: lossy, now: () => clock.now, background: () => {}, max: 10 };
      const holders = Array.from({ length: random.between(1, 8) }, () => createRateMeter(deps));
      for (let minute = 0; minute < 3; minute++) {
        const requests = holders.flatMap((holder) =>
          Array.from({ length: random.between(0, 60) }, () => holder.admit("ten", [tenantRule(limit)])),
        );
        const results = await Promise.all(requests);
        admitted += results.filter(({ refused }) => refused === null).length;
        expect(admitted, `run ${run}`).toBeLessThanOrEqual(limit * windows);
        advance(RATE_WINDOW_MS);
      }
    }
  });
});
