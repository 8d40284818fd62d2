/** The overwriting of what was deleted in the files of the tenant's object. */
import { expect, it } from "vitest";
import { createTenantScrub } from "../../src/tenant/erasure/tenant-scrub";
import { createMigratedSql } from "./memory-sql";
import { createTestClock } from "./support";

const LATER = 15_000;

function newWorld(scrubNow: () => Promise<void>) {
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
  return { clock, alarm, scrub };
}

it("is done once for all deletions until it begins, by the alarm", async () => {
  let scrubbed = 0;
  const { clock, alarm, scrub } = newWorld(async () => void scrubbed++);
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
  const { scrub } = newWorld(async () => void scrubbed++);
  scrub.note();
  scrub.noteNow();
  scrub.note();

  await scrub.run();

  expect([scrubbed, scrub.nextDue()]).toEqual([1, null]);
});

it("stays due when more is deleted meanwhile, and when it fails", async () => {
  const during: (() => void)[] = [];
  const { clock, scrub } = newWorld(async () => during.shift()?.());
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
