/** An evaluation only reads the session. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { POLICY_NAMES } from "../../src/context/presets";
import { evaluate, lived } from "./support";

const policies = fc.record({
  preset: fc.constantFrom(...POLICY_NAMES),
  keep: fc.record({ ratio: fc.double({ min: 0.05, max: 0.3, noNaN: true }) }),
});

test("no evaluation under any policy, at any window, changes anything of the session, and the same one says the same", {
  timeout: 30_000,
}, async () => {
  const life = await lived("balanced", 16);
  const writes = (): unknown => life.sql.all("SELECT total_changes() AS n");
  const before = JSON.stringify([life.events(), life.runtime.state, writes(), life.jobs, life.calls.length]);

  await fc.assert(
    fc.asyncProperty(policies, fc.integer({ min: 2_048, max: 64_000 }), fc.integer({ min: 1, max: 60 }), async (policy, window, last) => {
      const made = await evaluate(life, { policy, window, last });
      for (const run of [made.current, made.proposed]) {
        expect(run.breaks).toBe(0);
        for (const { range } of run.changes) if (range) expect(range.from).toBeLessThanOrEqual(range.to);
        expect(run.tokens.cached).toBeLessThanOrEqual(run.tokens.input);
      }
      expect(await evaluate(life, { policy, window, last })).toEqual(made);
    }),
    { seed: 6, numRuns: 12 },
  );

  expect(JSON.stringify([life.events(), life.runtime.state, writes(), life.jobs, life.calls.length])).toBe(before);
});
