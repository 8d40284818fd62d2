/** What a tenant's object keeps while the tenant is not used, for a year: no map that grows, and no alarm that need not ring. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { withCountedCollections } from "../support/kept-collections";
import { newMemoryTenant } from "./memory-tenant";
import { makeId, NAMES } from "./support";

const DAY = 24 * 60 * 60_000;
const START = 1_780_000_000_000;

beforeEach(() => void vi.useFakeTimers({ now: START, toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

test("a tenant with sessions that are left", () =>
  withCountedCollections(async (sizes) => {
    const alarm: { at: number | null } = { at: null };
    const tenant = newMemoryTenant(1, { alarm });
    for (let n = 1; n <= 20; n++) tenant.directory.register({ session: makeId("ses", n), idempotency: null, at: START, ...NAMES });
    await tenant.upkeep.ring();
    const passDay = async (): Promise<number> => {
      const end = Date.now() + DAY;
      let rung = 0;
      while (alarm.at !== null && alarm.at <= end) {
        vi.setSystemTime(Math.max(Date.now(), alarm.at));
        alarm.at = null;
        await tenant.upkeep.ring();
        rung += 1;
      }
      vi.setSystemTime(end);
      return rung;
    };
    for (let day = 0; day < 10; day++) await passDay();
    const before = sizes();

    let rung = 0;
    for (let day = 0; day < 365; day++) rung += await passDay();

    const after = sizes();
    expect(before.map((_, index) => after[index])).toEqual(before);
    expect([rung, alarm.at]).toEqual([0, null]);
  }));
