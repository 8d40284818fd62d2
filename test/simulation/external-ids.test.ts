/** I35: an external id names one session of its tenant while clients create, find and erase at once, and answers are lost. */
import { describe, expect, inject, test } from "vitest";
import { drawn } from "../support/effort";
import { ExternalIds } from "./external-ids";
import { Stats } from "./stats";

const RUNS = drawn(40, 15);
/** Beginnings of counters without which the runs prove nothing. */
const TRIED = [
  "put: 200",
  "put: 201",
  "put: 400",
  "post: 201",
  "post: 409",
  "get: 200",
  "get: 404",
  "erase: 200",
  "lost: register",
  "lost: open",
  "lost: erase",
];

describe("external ids", () => {
  test(`${RUNS} runs hold: an external id names one session`, async () => {
    const first = inject("seed");
    const total = new Stats();
    for (let seed = first; seed < first + RUNS; seed++) {
      const run = new ExternalIds(seed);
      await run.run();
      total.add(run.stats);
      const [violation] = run.violations.found;
      if (violation) expect.fail(`seed ${seed} breaks ${violation.message}\n${run.scheduler.trace.join("\n")}`);
    }
    const never = TRIED.filter((what) => !total.counts.has(what));
    expect(never).toEqual([]);
  });
});
