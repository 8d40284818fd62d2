/** When what was deleted is removed from the files of the tenant's object. */
import { describe, expect, it } from "vitest";
import type { Scrubbed, ScrubOptions } from "../../src/lib/scrub/scrub";
import { createTenantScrub } from "../../src/tenant/erasure/tenant-scrub";
import { createMigratedSql } from "./memory-sql";
import { createTestClock } from "./support";

const LATER = 15_000;
const DONE = { isComplete: true };

function newWorld(scrubNow: (options: ScrubOptions) => Promise<Scrubbed>) {
  const sql = createMigratedSql();
  const clock = createTestClock();
  const alarm = { at: null as number | null };
  const scrub = createTenantScrub({
    sql,
    scrub: scrubNow,
    alarm: { get: async () => alarm.at, set: (at) => void Object.assign(alarm, { at }) },
    now: clock.now,
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  return { sql, clock, alarm, scrub };
}

it("is done once for all deletions until it begins, by the alarm", async () => {
  let scrubbed = 0;
  const { clock, alarm, scrub } = newWorld(async () => {
    scrubbed++;
    return DONE;
  });
  scrub.note();
  scrub.note();
  await scrub.resume();
  expect(alarm.at).toBe(clock.now() + LATER);
  await scrub.run();
  expect(scrubbed).toBe(0);

  clock.advance(LATER);
  await scrub.run();
  await scrub.run();

  expect([scrubbed, scrub.nextDue()]).toEqual([1, null]);
});

it("of an end user's name waits for no other deletion", async () => {
  let scrubbed = 0;
  const { scrub } = newWorld(async () => {
    scrubbed++;
    return DONE;
  });
  scrub.note();
  scrub.noteNow();
  scrub.note();

  await scrub.run();

  expect([scrubbed, scrub.nextDue()]).toEqual([1, null]);
});

it("stays due when more is deleted meanwhile, and when it fails", async () => {
  const during: (() => void)[] = [];
  const { clock, scrub } = newWorld(async () => {
    during.shift()?.();
    return DONE;
  });
  scrub.note();
  during.push(scrub.note, () => {
    throw new Error("gone");
  });

  for (const left of [true, true, false]) {
    clock.advance(LATER);
    await scrub.run();
    expect(scrub.nextDue() !== null).toBe(left);
  }
});

describe("tables", () => {
  /** How often the object was scrubbed, and when with its tables. */
  function newTables(rows: number) {
    const found = { scrubs: 0, rewritten: [] as number[] };
    const world = newWorld(async ({ isRewriting = () => true }) => {
      found.scrubs++;
      const rewritten = isRewriting();
      if (rewritten) found.rewritten.push(world.clock.now() - begun);
      return { isComplete: rewritten };
    });
    const begun = world.clock.now();
    const numbers = `WITH RECURSIVE rows (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rows WHERE n < ${rows})`;
    world.sql.rows(`INSERT INTO ended_throwaways (session, ended_at) ${numbers} SELECT n, 1 FROM rows`);
    return { ...world, found, begun };
  }

  it("of few rows are written anew by each scrub", async () => {
    const { clock, scrub, found } = newTables(300);
    for (let time = 0; time < 2; time++) {
      scrub.note();
      clock.advance(LATER);
      await scrub.run();
    }
    scrub.noteNow();
    await scrub.run();

    expect([found, scrub.nextDue()]).toEqual([{ scrubs: 3, rewritten: [LATER, 2 * LATER, 2 * LATER] }, null]);
  });

  it("of many rows wait for more deletions, 25 ms a row, while all else is scrubbed", async () => {
    const { sql, clock, alarm, scrub, found, begun } = newTables(4_000);
    const rows = sql.rows<{ n: number }>("SELECT count(*) AS n FROM ended_throwaways")[0]?.n ?? 0;
    for (let time = 0; time < 3; time++) {
      scrub.note();
      clock.advance(LATER);
      await scrub.run();
    }
    const ready = (scrub.nextDue() ?? 0) - begun;
    expect([found, ready >= rows * 25, ready < rows * 25 + 1_000]).toEqual([{ scrubs: 3, rewritten: [] }, true, true]);
    await scrub.resume();
    expect(alarm.at).toBe(begun + ready);
    clock.advance(ready - 3 * LATER);
    await scrub.run();

    expect([found, scrub.nextDue()]).toEqual([{ scrubs: 4, rewritten: [ready] }, null]);
  });

  it("wait for a day at most", async () => {
    const { clock, scrub, found, begun } = newTables(4_000_000);
    scrub.note();
    clock.advance(LATER);
    await scrub.run();
    expect([found.rewritten, scrub.nextDue()]).toEqual([[], begun + 86_400_000]);
    clock.advance(86_400_000 - LATER);
    await scrub.run();
    expect([found.rewritten, scrub.nextDue()]).toEqual([[86_400_000], null]);
  });

  it("wait as long again when something is deleted during each scrub", async () => {
    const rewritten: number[] = [];
    const world = newWorld(async ({ isRewriting = () => true }) => {
      world.scrub.note();
      const isComplete = isRewriting();
      if (isComplete) rewritten.push(world.clock.now());
      return { isComplete };
    });
    const { sql, clock, scrub } = world;
    const numbers = "WITH RECURSIVE rows (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rows WHERE n < 4000)";
    sql.rows(`INSERT INTO ended_throwaways (session, ended_at) ${numbers} SELECT n, 1 FROM rows`);
    scrub.note();
    for (let time = 0; time < 40; time++) {
      clock.advance(LATER);
      await scrub.run();
    }
    expect(rewritten.length).toBe(5);
  });
});
