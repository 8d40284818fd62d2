/**
 * The simulation (docs/invariants.md). `npm run simulate -- --seed N` replays one seed with its whole story, `--seeds N`
 * runs the first N: they come here as SEED and SEEDS.
 */
import { afterAll, describe, expect, test } from "vitest";
import { type RunResult, simulate } from "./simulate";
import { Stats } from "./stats";

const SEEDS_IN_CI = 200;
const PER_TEST = 50;
const SHOWN_STEPS = 60;

const one = Number(process.env.SEED ?? 0);
const many = Number(process.env.SEEDS ?? 0);

/** What broke, how to see it again, and what led to it. */
function describeFailure({ seed, violation, trace, steps }: RunResult): string {
  const shown = one ? trace : trace.slice(-SHOWN_STEPS);
  const story = shown.map((line) => `  ${line}`).join("\n");
  return `seed ${seed} breaks ${violation?.message}\nreplay it: npm run simulate -- --seed ${seed}\n${story}\nafter ${steps} steps`;
}

const total = new Stats();

async function runSeed(seed: number): Promise<void> {
  const result = await simulate(seed);
  total.add(result.stats);
  total.count("steps", result.steps);
  if (result.violation) expect.fail(describeFailure(result));
}

const firstSeeds = Array.from({ length: Math.ceil((many || SEEDS_IN_CI) / PER_TEST) }, (_, n) => n * PER_TEST + 1);
const ranges = one ? [[one, one] as const] : firstSeeds.map((from) => [from, Math.min(many || SEEDS_IN_CI, from + PER_TEST - 1)] as const);

describe("the simulation", () => {
  test.each(ranges)("seeds %i to %i hold every invariant", { timeout: 120_000 }, async (from, to) => {
    for (let seed = from; seed <= to; seed++) await runSeed(seed);
    expect(total.counts.get("event TurnCompleted")).toBeGreaterThan(0);
  });

  test("a seed replays exactly", async () => {
    const [first, again] = [await simulate(11), await simulate(11)];
    expect(again.trace).toEqual(first.trace);
    expect(again.stats).toEqual(first.stats);
  });

  afterAll(() => {
    if (one || many) process.stdout.write(`${total}\n`);
  });
});
