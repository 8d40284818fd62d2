/** Runs before every test file. All random values of property tests follow from one seed, which a failure prints. */
import fc from "fast-check";
import { inject } from "vitest";
import { reportCostOfFile } from "./file-costs";
import { reportAnswersOfFile } from "./report-answers";

declare module "vitest" {
  interface ProvidedContext {
    /** `TEST_SEED`, or the seed of CI. */
    seed: number;
    /** `TEST_EFFORT`, or the part of `npm test`. */
    effort: number;
  }
}

const seed: unknown = inject("seed");
if (typeof seed !== "number") throw new Error("This run has no seed: its configuration lacks SEEDED (test/support/read-seed.ts).");
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
reportAnswersOfFile();
await reportCostOfFile();
