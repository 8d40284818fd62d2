import { describe, expect, inject, it } from "vitest";
import { createRandom } from "../../scripts/support/random.ts";
import { planBlock, RATE_WINDOW_MS, type RateAsk, type RateGrant, windowEnd } from "../../src/app/rate-grants";
import { createRateMeter, type RateRule, shareOfLimit } from "../../src/app/rate-meter";
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
  const newHolder = (max = 100) => createRateMeter({ ask, now: () => clock.now, smallest: shareOfLimit, max });
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

  it("asks once a minute where each minute is as the one before, and uses less than half of the limit", async () => {
    const { newHolder, calls, clock } = setUp();
    const holder = newHolder();
    const asked: number[] = [];
    for (let minute = 0; minute < 3; minute++) {
      const before = calls.length;
      for (let n = 0; n < 400; n++) await holder.admit("ten", [tenantRule(1_000)]);
      asked.push(calls.length - before);
      clock.now += RATE_WINDOW_MS;
    }

    expect(asked[0]).toBeLessThanOrEqual(6);
    expect(asked.slice(1)).toEqual([1, 1]);
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
  it("leaves half of a window to other holders", () => {
    expect(planBlock({ limit: 100, want: 100 }, 0)).toEqual({ granted: 50, left: 50 });
    expect(planBlock({ limit: 100, want: 3 }, 98)).toEqual({ granted: 1, left: 1 });
    expect(planBlock({ limit: 100, want: 3 }, 100)).toEqual({ granted: 0, left: 0 });
  });

  it("of a limit that was lowered below what is granted is empty", () => {
    expect(planBlock({ limit: 10, want: 3 }, 50)).toEqual({ granted: 0, left: 0 });
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
      const deps = { ask: lossy, now: () => clock.now, smallest: shareOfLimit, max: 10 };
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
