/** Which test files try more with a larger effort (`effort`). */
import { globSync, readFileSync } from "node:fs";

const DRAWS = /support\/effort"|"\.\/test-seeds"/;

/** Paths from the root of the repository, in order. */
export const findDrawingTests = (folder: string): readonly string[] =>
  globSync(`${folder}/**/*.test.ts`)
    .filter((file) => DRAWS.test(readFileSync(file, "utf8")))
    .sort();
