/** What `npm run lab -- --check` accepts, with invented results. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  FIGURES_TO_BEAT,
  findComplaints,
  findFailing,
  findGrowth,
  type Judged,
  type JudgedColumn,
  PROFILES,
} from "../../scripts/lab/verdict";

const clean = { overflows: 0, refused: 0, malformed: 0, breaks: 0 };

/** Every profile costs exactly the figure. `change`: the deviation of `retain` in `where`. */
function ran(where = "", change: Partial<Judged> = {}): JudgedColumn[] {
  const columns = Object.entries(FIGURES_TO_BEAT).map(([name, figures]) => ({
    name,
    rows: PROFILES.map((policy) => ({ ...clean, policy, cost: figures[policy] })),
  }));
  const other = { name: "another", rows: PROFILES.map((policy) => ({ ...clean, policy, cost: 1.4 })) };
  return [...columns, other].map(({ name, rows }) => ({
    name,
    rows: rows.map((row) => (name === where && row.policy === "retain" ? { ...row, ...change } : row)),
  }));
}

describe("the check of the profiles", () => {
  test("passes what costs its figure and breaks nothing; another column has no figure", () => {
    expect(findComplaints(ran())).toEqual([]);
  });

  test.each<[Partial<Judged>, string]>([
    [{ cost: 0.3901 }, "costs 0.390, at most 0.39 was expected"],
    [{ cost: Number.NaN }, "costs NaN, at most 0.39 was expected"],
    [{ overflows: 2 }, "2 overflows, expected none"],
    [{ refused: 1 }, "1 refused turns, expected none"],
    [{ malformed: 3 }, "3 malformed requests, expected none"],
    [{ breaks: 1 }, "1 prefix breaks, expected none"],
  ])("says of %j where and what it is", (change, words) => {
    expect(findComplaints(ran("support 32k", change))).toEqual([`support 32k, retain: ${words}`]);
  });

  test("looks at what is broken in every column, and says all of it", () => {
    expect(findComplaints(ran("another", { overflows: 1, breaks: 1 }))).toEqual([
      "another, retain: 1 overflows, expected none",
      "another, retain: 1 prefix breaks, expected none",
    ]);
  });

  test("does not pass what was not run", () => {
    expect(findComplaints(ran().slice(1))).toEqual(["support 16k: was not run"]);
    const without = ran().map(({ name, rows }) => ({ name, rows: rows.filter(({ policy }) => policy !== "economy") }));
    expect(findComplaints(without)).toContain("support 16k, economy: was not run");
  });
});

test("the figures are those of docs/policy-figures.md", () => {
  const text = readFileSync("docs/policy-figures.md", "utf8");
  const lines = text
    .slice(text.indexOf("## What `--check` holds"))
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
  const headings = lines.find(([, first]) => first === "policy") ?? [];
  const figures = Object.keys(FIGURES_TO_BEAT).map((column) => {
    const at = headings.indexOf(column);
    return [
      column,
      Object.fromEntries(PROFILES.map((profile) => [profile, Number(lines.find(([, first]) => first === `\`${profile}\``)?.[at])])),
    ];
  });
  expect(Object.fromEntries(figures)).toEqual(FIGURES_TO_BEAT);
});

test("what grows with the history by more than 2 % a call is said, and an overflow", () => {
  const once = { cost: 1_000, calls: 100, overflows: 0 };
  const growth = (cost: number, overflows = 0) => findGrowth({ policy: "balanced", once, repeated: { cost, calls: 300, overflows } });
  expect(growth(3_060)).toEqual([]);
  expect(growth(3_061)).toEqual(["balanced, 3 times in a row: a call costs 2.0 % more, at most 2 % was expected"]);
  expect(growth(3_000, 1)).toEqual(["balanced, 3 times in a row: 1 overflows, expected none"]);
});

test("summaries that fail may cost all attempts of each, and three compactions more; no overflow, and no turn that is refused", () => {
  const failing = (summary_calls: number, change: { readonly overflows?: number; readonly refused?: number } = {}) =>
    findFailing({
      where: "here",
      attempts: 2,
      ideal: { summary_calls: 5 },
      failing: { overflows: 0, refused: 0, ...change, summary_calls },
    });
  expect(failing(16)).toEqual([]);
  expect(failing(17)).toEqual(["here: 17 calls for summaries, at most 16 were expected"]);
  expect(failing(1, { overflows: 2, refused: 1 })).toEqual(["here: 2 overflows, expected none", "here: 1 refused turns, expected none"]);
});
