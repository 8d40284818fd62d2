/**
 * Runs a world of its own over many seeds, as a test. `TEST_EFFORT=1` runs the whole budget of seeds, `SEEDS=200` so many, and `SEED=7` that
 * one, with its whole story.
 */
import { expect, test } from "vitest";
import { drawn } from "../support/effort";
import type { Scheduler } from "./scheduler";
import { Stats } from "./stats";

interface Simulated {
  readonly world: { readonly stats: Stats; readonly scheduler: Scheduler };
  /** Null: every invariant holds. */
  readonly violation: string | null;
}

interface SeedTest {
  readonly title: string;
  /** The test's own file, for the command that replays a seed. */
  readonly file: string;
  readonly simulate: (seed: number) => Promise<Simulated>;
  /** The whole budget of seeds. A smaller effort runs at least three. */
  readonly seeds: number;
  readonly mostSeeds: number;
  /** Counters that so many seeds must have reached, or they prove nothing. */
  readonly tried: readonly string[];
  /** What so many seeds must have counted at least. Absent: nothing. */
  readonly least?: Readonly<Record<string, number>>;
}

const many = Number(process.env.SEEDS ?? 0);
const one = Number(process.env.SEED ?? 0);

/** What was counted, for a person who asked for seeds. */
function print(total: Stats): void {
  if (one || many) process.stdout.write(`${total}\n`);
}

export function testSeeds({ title, file, simulate, seeds: usual, mostSeeds, tried, least = {} }: SeedTest): void {
  test(title, { timeout: 240_000 }, async () => {
    const total = new Stats();
    const seeds = one ? [one] : Array.from({ length: Math.min(many || drawn(usual, 3), mostSeeds) }, (_, index) => index + 1);
    for (const seed of seeds) {
      const { world, violation } = await simulate(seed);
      total.add(world.stats);
      const story = world.scheduler.trace.slice(-(one ? 2_000 : 40)).join("\n");
      if (violation) expect.fail(`seed ${seed} breaks ${violation}\nreplay it: SEED=${seed} npm test -- ${file}\n${story}`);
    }
    print(total);
    if (seeds.length < usual) return;
    expect(tried.filter((what) => !total.counts.has(what))).toEqual([]);
    for (const [what, count] of Object.entries(least)) expect(total.counts.get(what), what).toBeGreaterThanOrEqual(count);
  });
}
