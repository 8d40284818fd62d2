/**
 * The simulation (docs/invariants.md). `npm run simulate -- --seed N` replays one seed, `--seeds N` runs the first N:
 * they come here as SEED and SEEDS.
 */
import { describe, expect, test } from "vitest";
import { type RunResult, simulate } from "./simulate";
import { Stats } from "./stats";

const SEEDS_IN_CI = 200;
const PER_TEST = 50;
const SHOWN_STEPS = 60;

const one = Number(process.env.SEED ?? 0);
const many = Number(process.env.SEEDS ?? 0);

/** What to do about it, then what happened. */
function describeFailure({ seed, violation, trace, steps }: RunResult): string {
  const shown = one ? trace : trace.slice(-SHOWN_STEPS);
  const story = [...shown.map((line) => `  ${line}`), `after ${steps} steps`].join("\n");
  return `seed ${seed} breaks ${violation?.message}\nreplay it: npm run simulate -- --seed ${seed}\n${story}`;
}

async function runSeeds(from: number, to: number): Promise<Stats> {
  const stats = new Stats();
  for (let seed = from; seed <= to; seed++) {
    const result = await simulate(seed);
    stats.add(result.stats);
    stats.count("steps", result.steps);
    if (result.violation) expect.fail(describeFailure(result));
  }
  return stats;
}

const rangesOf = (first: number, last: number): [number, number][] =>
  Array.from({ length: Math.ceil((last - first + 1) / PER_TEST) }, (_, n) => [
    first + n * PER_TEST,
    Math.min(last, first + (n + 1) * PER_TEST - 1),
  ]);

describe("the simulation", () => {
  test.each(one ? [[one, one]] : rangesOf(1, many || SEEDS_IN_CI))(
    "seeds %i to %i hold every invariant",
    { timeout: 120_000 },
    async (from, to) => {
      const stats = await runSeeds(from, to);
      if (one || many) process.stdout.write(`${from} to ${to}: ${stats}\n`);
      expect(stats.counts.get("steps")).toBeGreaterThan(0);
    },
  );

  test("a seed replays exactly", async () => {
    const [first, again] = [await simulate(11), await simulate(11)];
    expect(again.trace).toEqual(first.trace);
    expect(again.stats).toEqual(first.stats);
  });
});
