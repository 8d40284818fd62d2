/** The simulation is worth what its repetition is worth (docs/invariants.md). */
import { expect, test } from "vitest";
import { simulate } from "./simulate";

test("a seed replays exactly, whatever ran before it", async () => {
  const first = await simulate(11);
  await simulate(12);
  const again = await simulate(11);
  expect(again.trace).toEqual(first.trace);
  expect([...again.stats.counts]).toEqual([...first.stats.counts]);
});
