import { describe, expect, inject, it } from "vitest";
import { createRandom } from "../../scripts/support/random.ts";
import { BEAT_MS, HOLD_MS, LEASE_MARGIN_MS, LEASE_MS, planLease, type SlotAnswer, type SlotCall } from "../../src/app/slot-grants";
import { createSlotMeter, type SlotMeter, type SlotRule } from "../../src/app/slot-meter";
import { createSlotLeases } from "../../src/tenant/limits/slot-leases";
import { createMigratedSql } from "../tenant/memory-sql";

const START = 1_795_000_020_000;
const tenantRule = (limit: number): SlotRule => ({ what: "turns", of: "tenant", id: "", limit });
const keyRule = (limit: number): SlotRule => ({ what: "turns", of: "key", id: "key_1", limit });
const holder = (id: number | string, life = "first") => ({ id: `ses_${id}`, life });

/** The tenant's object, its clock, and isolates that ask it. */
function setUp() {
  const sql = createMigratedSql();
  const clock = { now: START };
  const calls: SlotCall[] = [];
  const fault = { isAway: false };
  let leases = 0;
  /** Each call makes the store anew, as an object does that restarted. */
  const take = (call: SlotCall): SlotAnswer => sql.transaction(() => createSlotLeases(sql, (name) => name).take(call, clock.now));
  async function ask(_: string, call: SlotCall): Promise<SlotAnswer> {
    calls.push(call);
    if (fault.isAway) throw new Error("The object is away");
    return take(call);
  }
  const newMeter = (max = 100, how = ask) => createSlotMeter({ ask: how, now: () => clock.now, newId: () => `lease_${leases++}`, max });
  const readLeased = () => createSlotLeases(sql, (name) => name).readLeased(tenantRule(0), clock.now);
  return { clock, calls, fault, newMeter, ask, take, readLeased };
}

interface Many {
  readonly count: number;
  readonly rules: readonly SlotRule[];
}

async function takeMany(meter: SlotMeter, from: number, { count, rules }: Many): Promise<number[]> {
  const ids = Array.from({ length: count }, (_, n) => from + n);
  const refused = await Promise.all(ids.map((id) => meter.take("ten", holder(id), rules)));
  return ids.filter((_, n) => refused[n] === null);
}

describe("one isolate's slots", () => {
  it.each([0, 1, 2, 20, 500])("are at most the limit of %i at one time", async (limit) => {
    const { newMeter } = setUp();

    expect(await takeMany(newMeter(), 0, { count: limit + 50, rules: [tenantRule(limit)] })).toHaveLength(limit);
  });

  it("can be taken again once they are given back", async () => {
    const { newMeter } = setUp();
    const meter = newMeter();
    const [first] = await takeMany(meter, 0, { count: 10, rules: [tenantRule(3)] });
    expect(await takeMany(meter, 20, { count: 5, rules: [tenantRule(3)] })).toEqual([]);

    await meter.release("ten", holder(first ?? 0), [tenantRule(3)]);

    expect(await takeMany(meter, 30, { count: 5, rules: [tenantRule(3)] })).toHaveLength(1);
  });

  it("are asked for once while many are left, however many turns follow each other", async () => {
    const { newMeter, calls, clock } = setUp();
    const meter = newMeter();
    for (let n = 0; n < 200; n++) {
      await meter.take("ten", holder(n), [tenantRule(1_000)]);
      await meter.release("ten", holder(n), [tenantRule(1_000)]);
      clock.now += 200;
    }

    expect(calls.length).toBe(1);
  });

  it("are not asked for again within a second after the tenant's object had none", async () => {
    const { newMeter, calls } = setUp();
    const [mine, others] = [newMeter(), newMeter()];
    await takeMany(others, 100, { count: 3, rules: [tenantRule(3)] });
    await takeMany(mine, 0, { count: 1, rules: [tenantRule(3)] });
    const asked = calls.length;

    expect(await takeMany(mine, 1, { count: 500, rules: [tenantRule(3)] })).toEqual([]);
    expect(calls.length).toBe(asked);
  });

  it("are none of the others where one limit refuses, and say which it was", async () => {
    const { newMeter } = setUp();
    const meter = newMeter();
    const rules = [tenantRule(10), keyRule(2)];
    expect(await takeMany(meter, 0, { count: 8, rules })).toHaveLength(2);

    expect(await meter.take("ten", holder("late"), rules)).toMatchObject({ of: "key", limit: 2 });
    expect(await takeMany(meter, 50, { count: 20, rules: [tenantRule(10)] })).toHaveLength(8);
  });

  it("are held once by one session, and pass on to its next life, which alone gives them back", async () => {
    const { newMeter } = setUp();
    const meter = newMeter();
    const rules = [tenantRule(2)];
    await meter.take("ten", holder(1), rules);
    await meter.take("ten", holder(1), rules);
    await meter.report("ten", holder(1, "second"), rules);
    await meter.release("ten", holder(1), rules);

    expect(await takeMany(meter, 2, { count: 3, rules })).toHaveLength(1);
    await meter.release("ten", holder(1, "second"), rules);
    expect(await takeMany(meter, 5, { count: 3, rules })).toHaveLength(1);
  });

  it("are lost by a session that is not heard of", async () => {
    const { newMeter, clock } = setUp();
    const meter = newMeter();
    const rules = [tenantRule(2)];
    await takeMany(meter, 0, { count: 2, rules });
    for (let at = 0; at < HOLD_MS; at += BEAT_MS) {
      clock.now += BEAT_MS;
      await meter.report("ten", holder(0), rules);
    }

    expect(await takeMany(meter, 5, { count: 3, rules })).toHaveLength(1);
  });

  it("are given back where a session is lost, because it may run in another isolate", async () => {
    const { newMeter, clock } = setUp();
    const [old, other] = [newMeter(), newMeter()];
    const rules = [tenantRule(1)];
    await takeMany(old, 0, { count: 1, rules });
    clock.now += BEAT_MS;
    await other.report("ten", holder(0, "second"), rules);
    for (let at = 0; at < HOLD_MS; at += BEAT_MS) {
      clock.now += BEAT_MS;
      await other.report("ten", holder(0, "second"), rules);
      expect(await takeMany(old, 5, { count: 3, rules })).toEqual([]);
    }
  });

  it("go on while the tenant's object is away, up to the whole limit, and are counted again when it is back", async () => {
    const { newMeter, fault, clock, readLeased } = setUp();
    const meter = newMeter();
    fault.isAway = true;

    expect(await takeMany(meter, 0, { count: 15, rules: [tenantRule(10)] })).toHaveLength(10);
    fault.isAway = false;
    clock.now += 6_000;
    await meter.report("ten", holder(0), [tenantRule(10)]);

    expect(readLeased()).toBe(10);
    expect(await takeMany(newMeter(), 50, { count: 5, rules: [tenantRule(10)] })).toEqual([]);
  });

  it("are not taken from a lease that has ended", async () => {
    const { newMeter, clock } = setUp();
    const [mine, others] = [newMeter(), newMeter()];
    await takeMany(mine, 0, { count: 1, rules: [tenantRule(100)] });
    clock.now += LEASE_MS + LEASE_MARGIN_MS;
    expect(await takeMany(others, 100, { count: 100, rules: [tenantRule(100)] })).toHaveLength(100);

    expect(await takeMany(mine, 10, { count: 3, rules: [tenantRule(100)] })).toEqual([]);
  });

  it("of streams that were open in an isolate that died are free after its lease and the margin, and not before", async () => {
    const { newMeter, clock } = setUp();
    const rules: readonly SlotRule[] = [{ what: "streams", of: "tenant", id: "", limit: 3 }];
    const [dying, other] = [newMeter(), newMeter()];
    expect(await takeMany(dying, 0, { count: 3, rules })).toHaveLength(3);
    clock.now += LEASE_MS - BEAT_MS;
    for (let n = 0; n < 3; n++) await dying.report("ten", holder(n), rules);

    clock.now += LEASE_MS + LEASE_MARGIN_MS - 1;
    expect(await takeMany(other, 10, { count: 4, rules })).toEqual([]);
    clock.now += 1_000;
    expect(await takeMany(other, 20, { count: 4, rules })).toHaveLength(3);
  });

  it("are given back when they were not needed since the last renewal", async () => {
    const { newMeter, clock, readLeased } = setUp();
    const meter = newMeter();
    await takeMany(meter, 0, { count: 100, rules: [tenantRule(1_000)] });
    for (let n = 1; n < 100; n++) await meter.release("ten", holder(n), [tenantRule(1_000)]);
    for (let n = 0; n < 3; n++) {
      clock.now += BEAT_MS;
      await meter.report("ten", holder(0), [tenantRule(1_000)]);
    }

    expect(readLeased()).toBe(1);
  });

  it("keeps a bounded number of subjects, and those that are held", async () => {
    const { newMeter } = setUp();
    const meter = newMeter(1);
    await meter.take("ten", holder(1), [keyRule(1)]);
    await meter.take("ten", holder(1), [tenantRule(1)]);

    expect(await meter.take("ten", holder(2), [keyRule(1)])).toMatchObject({ of: "key" });
  });
});

describe("a lease", () => {
  const plan = { limit: 100, need: 1, want: 6, isRunning: false };

  it("is a block while many slots are left, and one slot when few are", () => {
    expect(planLease(plan, 0)).toEqual({ slots: 6, left: 94 });
    expect(planLease(plan, 80)).toEqual({ slots: 1, left: 19 });
    expect(planLease({ ...plan, limit: 19 }, 0)).toEqual({ slots: 1, left: 18 });
    expect(planLease(plan, 100)).toEqual({ slots: 0, left: 0 });
  });

  it("of a limit that was lowered below what is leased is empty, but for what runs already", () => {
    expect(planLease(plan, 150)).toEqual({ slots: 0, left: 0 });
    expect(planLease({ ...plan, need: 3, want: 3, isRunning: true }, 150)).toEqual({ slots: 3, left: 0 });
  });

  it("is granted once, however often it is asked for, and a call that comes late brings none back", () => {
    const { take, readLeased } = setUp();
    const asked = { keeps: [], asks: [{ ...tenantRule(10), lease: "a", need: 4, want: 4, isRunning: false }] };
    expect([take(asked).grants[0]?.slots, take(asked).grants[0]?.slots, readLeased()]).toEqual([4, 4, 4]);
    take({ keeps: [{ lease: "a", slots: 1 }], asks: [] });
    take({ keeps: [{ lease: "a", slots: 4 }], asks: [] });

    expect(readLeased()).toBe(1);
    take({ keeps: [{ lease: "a", slots: 0 }], asks: [] });
    expect(take({ keeps: [{ lease: "a", slots: 4 }], asks: [] })).toEqual({ kept: [], grants: [] });
  });

  it("ends by itself a margin after its isolate stopped using it", () => {
    const { take, readLeased, clock } = setUp();
    take({ keeps: [], asks: [{ ...tenantRule(10), lease: "a", need: 4, want: 4, isRunning: false }] });
    clock.now += LEASE_MS + LEASE_MARGIN_MS - 1;
    expect(readLeased()).toBe(4);
    clock.now += 1;

    expect(readLeased()).toBe(0);
  });

  it("has a digest in place of an end user's name", () => {
    const sql = createMigratedSql();
    const ask = { what: "turns", of: "end_user", id: "ada", lease: "a", limit: 1, need: 1, want: 1, isRunning: false } as const;
    createSlotLeases(sql, () => "digest").take({ keeps: [], asks: [ask] }, START);

    expect(sql.rows("SELECT subject FROM slot_leases")).toEqual([{ subject: "turns end_user digest" }]);
  });
});

describe("many isolates, over calls that are lost, late and repeated, deaths of isolates, and restarts of the tenant's object", () => {
  const RUNS = 12;
  const STEPS = 40;
  const random = createRandom(inject("seed") + 41);
  const isOnceIn = (times: number): boolean => random.between(1, times) === 1;

  async function pauseAtRandom(): Promise<void> {
    for (let n = random.between(0, 3); n > 0; n--) await Promise.resolve();
  }

  interface Isolate {
    readonly meter: SlotMeter;
    readonly running: Set<string>;
  }

  function newWorld(limit: number) {
    const { clock, take, newMeter, readLeased } = setUp();
    const rules = [tenantRule(limit)];
    const late: SlotCall[] = [];
    let next = 0;
    // A call is repeated when its answer is lost, and some come once more, much later.
    async function lossy(_: string, call: SlotCall): Promise<SlotAnswer> {
      if (isOnceIn(6)) late.push(call);
      if (isOnceIn(6)) take(call);
      await pauseAtRandom();
      const answer = take(call);
      await pauseAtRandom();
      return answer;
    }
    async function end({ meter, running }: Isolate, id: string): Promise<void> {
      running.delete(id);
      await meter.release("ten", { id, life: "one" }, rules);
    }
    async function begin({ meter, running }: Isolate): Promise<void> {
      const id = `ses_${next++}`;
      if ((await meter.take("ten", { id, life: "one" }, rules)) === null) running.add(id);
    }
    async function work(isolate: Isolate): Promise<void> {
      const ends = [...isolate.running].filter(() => isOnceIn(3)).map((id) => end(isolate, id));
      await Promise.all([...ends, ...Array.from({ length: random.between(0, 8) }, () => begin(isolate))]);
    }
    async function report({ meter, running }: Isolate): Promise<void> {
      for (const id of running) await meter.report("ten", { id, life: "one" }, rules);
    }
    const sendLate = (): void => {
      for (const call of late.splice(0)) if (isOnceIn(2)) take(call);
    };
    const newIsolate = (): Isolate => ({ meter: newMeter(100, lossy), running: new Set() });
    return { clock, rules, newIsolate, newMeter, work, report, sendLate, readLeased };
  }

  it("never run more at one time than the limit, and have all slots again at the end", async () => {
    for (let run = 0; run < RUNS; run++) {
      const limit = random.between(1, 40);
      const { clock, rules, newIsolate, newMeter, work, report, sendLate, readLeased } = newWorld(limit);
      let isolates = Array.from({ length: random.between(1, 5) }, newIsolate);
      for (let step = 0; step < STEPS; step++) {
        await Promise.all(isolates.map(work));
        const running = isolates.reduce((sum, isolate) => sum + isolate.running.size, 0);
        expect(running, `run ${run}, step ${step}`).toBeLessThanOrEqual(limit);
        sendLate();
        clock.now += random.between(0, BEAT_MS);
        for (const isolate of isolates) await report(isolate);
        // An isolate that dies takes its turns along.
        if (isOnceIn(16)) isolates = [...isolates.slice(1), newIsolate()];
      }
      clock.now += LEASE_MS + LEASE_MARGIN_MS;
      expect(readLeased(), `run ${run}`).toBe(0);
      expect(await takeMany(newMeter(), 100_000, { count: limit + 5, rules }), `run ${run}`).toHaveLength(limit);
    }
  });
});
