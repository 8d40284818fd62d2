/** Runs before every test file: all that a property draws follows from one seed, which a failure prints. */
import fc from "fast-check";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** `TEST_SEED`, or the one that CI has. */
    seed: number;
  }
}

const seed: unknown = inject("seed");
if (typeof seed !== "number") throw new Error("This run has no seed: its configuration lacks SEEDED (test/support/read-seed.ts).");
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
