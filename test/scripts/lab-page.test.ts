/** The lab's page is one file and contains all results. */
import { expect, test } from "vitest";
import { toColumn } from "../../scripts/lab/column";
import { VARIANTS } from "../../scripts/lab/conditions";
import { filler } from "../../scripts/lab/engine/filler";
import { toSetup, USUAL } from "../../scripts/lab/engine/setup";
import { drawDots, drawLines } from "../../scripts/lab/html/chart";
import { toPage } from "../../scripts/lab/html/page";
import { reportColumn } from "../../scripts/lab/report-column";
import { SYSTEMS } from "../../scripts/lab/systems/catalogue";

const messages = Array.from({ length: 50 }, (_, at) => [
  { role: "user" as const, content: filler(150, `q${at}`) },
  { role: "assistant" as const, content: filler(250, `a${at}`) },
]).flat();
const column = toColumn("made <up>", 8_000, [{ id: "c", system: filler(1_100, "system"), messages }]);
const setups = [toSetup("balanced", { guard: true, eachCall: false, countsChain: false, recall: false })];
const asked = { setups, systems: SYSTEMS.slice(0, 2), conditions: USUAL, oracle: true };

test("a page names every policy, system, oracle and price, and loads nothing", () => {
  const report = reportColumn(column, asked);
  const variants = VARIANTS.slice(0, 2).map(({ name, conditions }) => ({
    name,
    reports: [reportColumn(column, { ...asked, conditions, oracle: false })],
  }));
  const page = toPage([report], variants);
  for (const name of ["balanced", "anthropic clear + compact", "codex", "oracle, balanced", "no-discount", "made &lt;up&gt;"])
    expect(page).toContain(name);
  expect(page).not.toMatch(/<script|<link|src=|https?:|@import|url\(|NaN|Infinity|undefined/);
  expect(page.match(/<svg/g)).toHaveLength(5);
});

test("a line has a point for each value, a dot its name; both within the plot", () => {
  const chart = {
    title: "t",
    x: { label: "x", from: 0, to: 10 },
    y: { label: "y", from: 0, to: 4 },
    series: [
      {
        name: "a & b",
        tone: 0,
        points: [
          [0, 0],
          [10, 4],
        ] as const,
      },
    ],
  };
  expect(drawLines(chart)).toContain('points="64.0,258.0 746.0,12.0"');
  expect(drawDots(chart)).toContain("a &amp; b");
});

test("names of dots that lie together stand apart", () => {
  const series = ["a", "b", "c"].map((name, tone) => ({ name, tone, points: [[5, 2]] as const }));
  const drawn = drawDots({ title: "t", x: { label: "x", from: 0, to: 10 }, y: { label: "y", from: 0, to: 4 }, series });
  const heights = [...drawn.matchAll(/class="name" x="[\d.]+" y="([\d.]+)"/g)].map(([, y]) => Number(y)).sort((one, other) => one - other);
  expect(heights.slice(1).map((y, at) => y - (heights[at] ?? 0))).toEqual([13, 13]);
});
