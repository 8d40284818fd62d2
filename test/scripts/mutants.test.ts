/** Checks the list of mutants against the current source. A mutant that no longer applies proves nothing, and would go unnoticed. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LEFT_OUT } from "../../scripts/mutants/bench";
import { MUTANTS } from "../../scripts/mutants/list";
import { ROOT } from "../../scripts/support/paths";

describe("a mutant", () => {
  test.each(MUTANTS)("applies exactly once: $name", ({ file, find, replace }) => {
    expect(readFileSync(join(ROOT, file), "utf8").split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
  });

  test("names tests that are there, or seeds", () => {
    const untested = MUTANTS.filter(
      ({ tests, seeds }) => tests.some((path) => !existsSync(join(ROOT, path))) || (tests.length === 0 && !seeds),
    );
    expect(untested).toEqual([]);
  });

  test("names no test that the bench does not load", () => {
    expect(MUTANTS.filter(({ tests }) => tests.some((path) => LEFT_OUT.some((folder) => path.startsWith(folder))))).toEqual([]);
  });

  test("asks for seeds of the simulation by their number", () => {
    expect(MUTANTS.filter(({ tests }) => tests.some((path) => path.includes("/seeds-")))).toEqual([]);
  });

  test("has a name of its own, by which it can be asked for", () => {
    const names = MUTANTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
