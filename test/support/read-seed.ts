/** The seed of every random test but the simulation's. `TEST_SEED=7 npm test` chooses another. */
const DEFAULT_SEED = 20_261_122;

/** Throws for what is no whole number of 32 bits: a seed that is misread could not be told to another person. */
function readSeed(given: string | undefined): number {
  if (given === undefined || given === "") return DEFAULT_SEED;
  const seed = Number(given);
  if (!Number.isInteger(seed) || seed !== (seed | 0)) throw new Error(`TEST_SEED is a whole number of 32 bits, not "${given}".`);
  return seed;
}

/** Ends a test that hangs. No test is to fail because its machine is busy: none takes a tenth of it. */
const PATIENCE_MS = 60_000;

/** What each Vitest project is given: its random tests draw from that seed. */
export const SEEDED = {
  setupFiles: ["./test/support/seed-setup.ts"],
  provide: { seed: readSeed(process.env.TEST_SEED) },
  testTimeout: PATIENCE_MS,
};
