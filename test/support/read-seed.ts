/** The seed of every random test except the simulation. `TEST_SEED=7 npm test` chooses another. */
const DEFAULT_SEED = 20_261_122;

/** Throws for anything but a whole number of 32 bits, because a misread seed could not be repeated. */
function readSeed(given: string | undefined): number {
  if (given === undefined || given === "") return DEFAULT_SEED;
  const seed = Number(given);
  if (!Number.isInteger(seed) || seed !== (seed | 0)) throw new Error(`TEST_SEED is a whole number of 32 bits, not "${given}".`);
  return seed;
}

/** How many requests `test/workers/any-request.test.ts` draws for each operation. `FUZZ_REQUESTS=100 npm test` draws more. */
function readFuzzRequests(given: string | undefined): number {
  const count = Number(given || 8);
  if (!Number.isInteger(count) || count < 1) throw new Error(`FUZZ_REQUESTS is a whole number from 1, not "${given}".`);
  return count;
}

/** The limit for a test that hangs. It is generous, so that no test fails because its machine is busy: none takes a tenth of it. */
export const PATIENCE_MS = 60_000;

/** The seed that each Vitest project receives for its random tests. */
export const SEEDED = {
  setupFiles: ["./test/support/seed-setup.ts"],
  provide: { seed: readSeed(process.env.TEST_SEED), fuzzRequests: readFuzzRequests(process.env.FUZZ_REQUESTS) },
  testTimeout: PATIENCE_MS,
};
