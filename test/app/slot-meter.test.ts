import { describe, expect, inject, it } from "vitest";
import { createRandom } from "../../scripts/support/random.ts";
import {
  BEAT_MS,
  HOLD_MS,
  LEASE_MARGIN_MS,
  LEASE_MS,
  planLease,
  type SlotAsk,
  type SlotCall,
  type SlotGrant,
} from "../../src/app/slot-grants";
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
  const take = (call: SlotCall): readonly SlotGrant[] => sql.transaction(() => createSlotLeases(sql, (name) => name).take(call, clock.now));
  async function ask(_: string, call: SlotCall): Promise<readonly SlotGrant[]> {
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
    const rules = [tenantRule(2)];
    await takeMany(old, 0, { count: 2, rules });
    for (let at = 0; at < HOLD_MS + BEAT_MS; at += BEAT_MS) {
      clock.now += BEAT_MS;
      // The second session stays, and renews the lease of both. The first one runs elsewhere.
      await old.report("ten", holder(1), rules);
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
    await mine.release("ten", holder(0), [tenantRule(100)]);
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

  it("are given back once they are not used, but for a spare one", async () => {
    const { newMeter, clock, readLeased } = setUp();
    const meter = newMeter();
    await takeMany(meter, 0, { count: 100, rules: [tenantRule(1_000)] });
    for (let n = 1; n < 100; n++) await meter.release("ten", holder(n), [tenantRule(1_000)]);
    for (let n = 0; n < 3; n++) {
      clock.now += BEAT_MS;
      await meter.report("ten", holder(0), [tenantRule(1_000)]);
    }

    expect(readLeased()).toBe(2);
  });

  it("keeps a bounded number of subjects, and those that are held", async () => {
    const { newMeter } = setUp();
    const meter = newMeter(1);
    await meter.take("ten", holder(1), [keyRule(1)]);
    await meter.take("ten", holder(1), [tenantRule(1)]);

    expect(await meter.take("ten", holder(2), [keyRule(1)])).toMatchObject({ of: "key" });
  });
});

const NONE: SlotGrant = { slots: 0, spare: 0 };

describe("a lease", () => {
  const ask = { limit: 100, use: 0, keep: 0, need: 1, spare: 8 };
  const lease = (isolate: string, ask: Partial<SlotAsk>): SlotCall => ({
    isolate,
    asks: [{ ...tenantRule(10), number: 1, use: 0, keep: 0, need: 0, spare: 0, ...ask }],
  });

  it("has what is needed and half of its spare slots, which are at most half of those that no other has", () => {
    expect(planLease(ask, NONE, NONE)).toEqual({ slots: 3, spare: 3 });
    expect(planLease({ ...ask, use: 20 }, NONE, NONE)).toEqual({ slots: 23, spare: 5 });
    expect(planLease(ask, NONE, { slots: 50, spare: 8 })).toEqual({ slots: 1, spare: 1 });
    expect(planLease(ask, NONE, { slots: 50, spare: 10 })).toEqual({ slots: 1, spare: 0 });
    expect(planLease({ ...ask, limit: 9 }, NONE, NONE)).toEqual({ slots: 1, spare: 0 });
  });

  it("is never more than what is left", () => {
    expect(planLease(ask, NONE, { slots: 98, spare: 0 })).toEqual({ slots: 2, spare: 2 });
    expect(planLease(ask, NONE, { slots: 100, spare: 0 })).toEqual(NONE);
    expect(planLease({ ...ask, need: 40 }, NONE, { slots: 70, spare: 0 })).toEqual({ slots: 30, spare: 5 });
  });

  it("goes on with what its isolate keeps of it, and with no more than it had as spare", () => {
    expect(planLease({ ...ask, use: 10, keep: 4, need: 0, spare: 0 }, { slots: 15, spare: 4 }, NONE)).toEqual({ slots: 14, spare: 4 });
    expect(planLease({ ...ask, use: 10, keep: 4, need: 0, spare: 0 }, NONE, NONE)).toEqual({ slots: 10, spare: 0 });
  });

  it("of a limit that was lowered below what is leased is empty, but for what is used already", () => {
    expect(planLease(ask, NONE, { slots: 150, spare: 0 })).toEqual(NONE);
    expect(planLease({ ...ask, use: 3 }, NONE, { slots: 150, spare: 0 })).toEqual({ slots: 3, spare: 0 });
  });

  it("is granted once, however often it is asked for, and a call that comes late changes nothing", () => {
    const { take, readLeased } = setUp();
    expect([take(lease("a", { need: 4 })), take(lease("a", { need: 4 })), readLeased()]).toEqual([
      [{ slots: 4, spare: 0 }],
      [{ slots: 4, spare: 0 }],
      4,
    ]);
    take(lease("a", { number: 2, use: 1 }));

    expect([take(lease("a", { need: 4 })), readLeased()]).toEqual([[{ slots: 1, spare: 0 }], 1]);
    take(lease("b", { need: 7 }));
    expect(take(lease("a", { number: 3, need: 5 }))).toEqual([{ slots: 3, spare: 0 }]);
    take(lease("b", { number: 2 }));
    expect(take(lease("a", { number: 3, need: 5 }))).toEqual([{ slots: 3, spare: 0 }]);
  });

  it("ends by itself a margin after its isolate stopped using it", () => {
    const { take, readLeased, clock } = setUp();
    take(lease("a", { need: 4 }));
    clock.now += LEASE_MS + LEASE_MARGIN_MS - 1;
    expect(readLeased()).toBe(4);
    clock.now += 1;

    expect(readLeased()).toBe(0);
  });

  it("that has ended leaves no row, whatever is asked for next", () => {
    const sql = createMigratedSql();
    const leases = createSlotLeases(sql, (name) => name);
    for (const n of [1, 2, 3]) leases.take(lease(`isolate ${n}`, { need: 1, id: `key ${n}`, of: "key" }), START);
    leases.take(lease("isolate 4", { need: 1 }), START + 2 * LEASE_MS);

    expect(sql.rows("SELECT isolate FROM slot_leases")).toEqual([{ isolate: "isolate 4" }]);
  });

  it("has a digest in place of an end user's name", () => {
    const sql = createMigratedSql();
    createSlotLeases(sql, () => "digest").take(lease("a", { of: "end_user", id: "ada", need: 1 }), START);

    expect(sql.rows("SELECT subject FROM slot_leases")).toEqual([{ subject: "turns end_user digest" }]);
  });
});

describe.each([1, 9, 20, 100, 300])("a limit of %i, over isolates", (limit) => {
  const rules = [tenantRule(limit)];

  /** Turns of five seconds begin in each second, so that at most `offered` run at one time, until leases have ended and been renewed. */
  async function offer(offered: number, toMeter: (turn: number) => SlotMeter, clock: { now: number }) {
    let running: { readonly meter: SlotMeter; readonly turn: number; readonly endsAt: number }[] = [];
    const refusedWith: number[] = [];
    let most = 0;
    for (let [second, turn] = [0, 0]; second < 100; second++) {
      clock.now += 1_000;
      const ended = running.filter(({ endsAt }) => endsAt <= clock.now);
      running = running.filter(({ endsAt }) => endsAt > clock.now);
      for (const each of ended) await each.meter.release("ten", holder(each.turn), rules);
      for (; turn < ((second + 1) * offered) / 5; turn++) {
        const meter = toMeter(turn);
        const refused = await meter.take("ten", holder(turn), rules);
        if (refused) refusedWith.push(running.length);
        else {
          running.push({ meter, turn, endsAt: clock.now + 5_000 });
          await meter.report("ten", holder(turn), rules);
        }
      }
      most = Math.max(most, running.length);
    }
    return { most, refusedWith };
  }

  it.each([1, 5, 50, 500])("refuses nothing before nine tenths of it run, and lets no more run: %i isolates", async (isolates) => {
    const { newMeter, clock } = setUp();
    const meters = Array.from({ length: isolates }, () => newMeter());
    const toMeter = (turn: number): SlotMeter => meters[(turn * 7_919) % isolates] as SlotMeter;

    const { most, refusedWith } = await offer(limit * 1.5, toMeter, clock);

    expect(refusedWith.length).toBeGreaterThan(0);
    expect(Math.min(...refusedWith)).toBeGreaterThanOrEqual(Math.floor(limit * 0.9));
    expect(most).toBeLessThanOrEqual(limit);
  });

  it("refuses nothing below nine tenths of it, where each turn has an isolate of its own", async () => {
    const { newMeter, clock } = setUp();

    const { refusedWith } = await offer(limit * 0.8, () => newMeter(), clock);

    expect(refusedWith).toEqual([]);
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
    async function lossy(_: string, call: SlotCall): Promise<readonly SlotGrant[]> {
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
