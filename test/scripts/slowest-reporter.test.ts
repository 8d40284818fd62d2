/** The table of `npm test -- --slowest N`. */
import { expect, test } from "vitest";
import { type FileTimes, tabulate } from "../support/slowest-reporter.ts";

const file = (path: string, more: Partial<FileTimes>): FileTimes => ({ path, setup: 0, imports: 0, tests: 0, cost: null, ...more });

test("the slowest files come first, each with what it waited for, and the sums are those of all files", () => {
  const quick = file("test/quick.test.ts", { tests: 100, cost: { cpuMs: 100, written: null } });
  const served = file("test/served.test.ts", { setup: 1_000, imports: 2_000, tests: 9_000, cost: { cpuMs: 3_000, written: 5_000_000 } });
  const inWorker = file("test/workers/a.test.ts", { setup: 400, imports: 1_100, tests: 500 });

  const rows = tabulate([quick, served, inWorker], 2).split("\n");

  expect(rows.map((row) => row.trim().split(/ {2,}/))).toEqual([
    ["total s", "setup", "imports", "tests", "own CPU", "MB written", "file"],
    ["12.0", "1.0", "2.0", "9.0", "3.0", "5", "test/served.test.ts"],
    ["2.0", "0.4", "1.1", "0.5", "-", "-", "test/workers/a.test.ts"],
    ["14.1", "1.4", "3.1", "9.6", "3.1", "5", "all files"],
  ]);
});
