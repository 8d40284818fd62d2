/** What one session keeps of its texts in memory has a bound, whatever it reads. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createBoundedCache } from "../../src/session/bounded-cache";

const MOST = 100;
const entry = fc.record({ key: fc.integer({ min: 0, max: 9 }), units: fc.integer({ min: 0, max: MOST + 20 }) });

test("the values in memory weigh at most the bound, and each is the newest of its key", () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 60 }), (entries) => {
      const cache = createBoundedCache<number, { readonly units: number }>(MOST);
      const newest = new Map<number, { readonly units: number }>();
      for (const { key, units } of entries) {
        const value = { units };
        newest.set(key, value);
        cache.set(key, value, units);
        const held = [...newest.keys()].flatMap((known) => cache.get(known) ?? []);

        expect(held.reduce((sum, { units: weight }) => sum + weight, 0)).toBeLessThanOrEqual(MOST);
        expect(cache.get(key)).toBe(units > MOST ? undefined : value);
        for (const [known, last] of newest) expect([undefined, last]).toContain(cache.get(known));
      }
    }),
  );
});
