/** What a run's random tests draw from, and how much they try: read once from the environment, and provided to each project. */

/** The seed of every random test except the simulation. `TEST_SEED=7 npm test` chooses another. */
const DEFAULT_SEED = 20_261_122;

/**
 * The part of the whole budget that `npm test` tries: random cases, sizes and combinations (`effort`). `.ci/run` tries all of it, and
 * `TEST_EFFORT=10` ten times as many cases.
 */
const DEFAULT_EFFORT = 0.1;

/** Throws for anything but a whole number of 32 bits, because a misread seed could not be repeated. */
function readSeed(given: string | undefined): number {
  if (given === undefined || given === "") return DEFAULT_SEED;
  const seed = Number(given);
  if (!Number.isInteger(seed) || seed !== (seed | 0)) throw new Error(`TEST_SEED is a whole number of 32 bits, not "${given}".`);
  return seed;
}

function readEffort(given: string | undefined): number {
  const effort = Number(given || DEFAULT_EFFORT);
  if (!(effort > 0 && effort <= 1_000)) throw new Error(`TEST_EFFORT is a number above 0 and up to 1000, not "${given}".`);
  return effort;
}

/** The limit for a test that hangs. It is generous, so that no test fails because its machine is busy: none takes a tenth of it. */
export const PATIENCE_MS = 60_000;

const effort = readEffort(process.env.TEST_EFFORT);

/** The seed and the effort that each Vitest project receives. A larger effort has more time. */
export const SEEDED = {
  setupFiles: ["./test/support/seed-setup.ts"],
  provide: { seed: readSeed(process.env.TEST_SEED), effort },
  testTimeout: PATIENCE_MS * Math.max(1, effort),
};
