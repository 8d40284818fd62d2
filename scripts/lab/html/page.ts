/** The lab's results as one self-contained page. */

import { BOUND_HEADINGS, type ColumnReport, HEADINGS, inOrder, type Row, toBoundCells, toCells } from "../report.ts";
import { PROFILES } from "../verdict.ts";
import { type Chart, drawDots, drawLines, escapeHtml, type Series } from "./chart.ts";
import { STYLE, TONES } from "./style.ts";

export interface VariantReport {
  readonly name: string;
  readonly reports: readonly ColumnReport[];
}

export function toPage(reports: readonly ColumnReport[], variants: readonly VariantReport[]): string {
  const body = [
    "<h1>What each policy costs and keeps</h1>",
    "<p>Recorded conversations, played again under each policy: true tokens, made-up summaries of a fixed share, one cache. ",
    "Cost is relative to sending all of the history each time. docs/policy-figures.md defines every figure.</p>",
    ...reports.map(renderSection),
    ...(variants.length > 0 ? ["<h2>Other prices and cold caches</h2>", ...reports.map((report) => compare(report, variants))] : []),
  ];
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">`,
    `<title>Longhand: the lab</title><style>${STYLE}</style></head><body>${body.join("\n")}</body></html>\n`,
  ].join("");
}

function renderSection(report: ColumnReport): string {
  const { column, unlimited, rows, bounds } = report;
  const isOurs = ({ setup }: Row): boolean => PROFILES.some((name) => name === setup.name);
  const [ours, others] = [rows.filter(isOurs), rows.filter((row) => !isOurs(row))];
  const groups = [
    { name: "Longhand's profiles", of: ours },
    { name: "other policies and systems", of: others },
  ].filter(({ of }) => of.length > 0);
  const { turns, calls, peak } = unlimited;
  return [
    `<h2>${escapeHtml(column.name)}</h2>`,
    `<p>A window of ${column.window} tokens, ${turns} turns, ${calls} calls; ${peak} tokens when nothing leaves the view.</p>`,
    table(
      HEADINGS,
      rows.map((row) => toCells(row, unlimited)),
    ),
    ...(bounds && bounds.length > 0
      ? [
          ORACLE_WORDS,
          table(
            BOUND_HEADINGS,
            bounds.map((bound) => toBoundCells(bound, unlimited)),
          ),
        ]
      : []),
    "<h3>Cost against what stays word for word</h3>",
    "<p>Further left is cheaper, further up keeps more of the last 8,000 tokens. A policy that fails turns pays nothing for them: it is left out.</p>",
    drawDots(frontier(report)),
    ...groups.flatMap(({ name, of }) => [
      `<h3>Tokens of each request: ${name}</h3>`,
      "<p>A dot marks the first request after a change of the view.</p>",
      key(report, of),
      drawLines(tokensChart(report, of)),
      `<h3>Cost so far: ${name}</h3>`,
      key(report, of),
      drawLines(costChart(report, of)),
    ]),
  ].join("\n");
}

const ORACLE_WORDS =
  "<h3>How far from the oracle</h3><p>Nothing that keeps as many tokens at each summary (keeping), or that also shows as much of the last 8k on the mean (retaining), " +
  "costs less, even with the whole future known. Both sides under a cache that holds prefixes to the token. Played: the best schedule found, under the usual cache.</p>";

const toTone = ({ rows }: ColumnReport, row: Row): number => rows.indexOf(row) % TONES;
const toName = ({ setup }: Row): string => (setup.guard ? setup.name : `${setup.name}, no guard`);

const key = (report: ColumnReport, rows: readonly Row[]): string =>
  `<div class="key">${rows.map((row) => `<span><i class="fill-${toTone(report, row)}"></i>${escapeHtml(toName(row))}</span>`).join("")}</div>`;

const toSeries = (report: ColumnReport, rows: readonly Row[], values: (row: Row) => readonly number[]): Series[] =>
  rows.map((row) => ({
    name: toName(row),
    tone: toTone(report, row),
    points: values(row).map((value, call) => [call + 1, value] as const),
    marks: row.figures.changes.length * 4 < row.figures.tokens.length ? row.figures.changes : [],
  }));

function tokensChart(report: ColumnReport, rows: readonly Row[]): Chart {
  const { column, unlimited } = report;
  const most = Math.max(column.window, ...rows.map(({ figures }) => figures.peak));
  return {
    title: `${column.name}: tokens of each request`,
    x: { label: "call", from: 0, to: unlimited.calls },
    y: { label: "tokens", from: 0, to: most },
    level: { at: column.window, name: "window" },
    series: toSeries(report, rows, ({ figures }) => figures.tokens),
  };
}

function costChart(report: ColumnReport, rows: readonly Row[]): Chart {
  const { column, unlimited } = report;
  const share = (row: Row): number[] => row.figures.spent.map((cost) => cost / unlimited.cost);
  return {
    title: `${column.name}: cost so far`,
    x: { label: "call", from: 0, to: unlimited.calls },
    y: { label: "share of the unlimited cost", from: 0, to: Math.max(0.1, ...rows.map((row) => share(row).at(-1) ?? 0)) },
    series: toSeries(report, rows, share),
  };
}

/** The oracle's schedules that were played. */
function frontier(report: ColumnReport): Chart {
  const { column, unlimited, rows, bounds = [] } = report;
  const shown = rows.filter(({ figures }) => figures.overflows + figures.refused === 0);
  const dots = [
    ...shown.map((row) => ({
      name: toName(row),
      tone: toTone(report, row),
      at: [row.figures.cost / unlimited.cost, row.figures.verbatim_8k] as const,
    })),
    ...bounds.map(({ policy, played }) => ({
      name: `oracle, ${policy}`,
      tone: TONES - 1,
      at: [played.cost / unlimited.cost, played.verbatim_8k] as const,
    })),
  ];
  const [costs, kept] = [dots.map(({ at }) => at[0]), dots.map(({ at }) => at[1])];
  const margin = Math.max(0.05, (Math.max(...costs) - Math.min(...costs)) * 0.3);
  return {
    title: `${column.name}: cost against verbatim share`,
    x: { label: "cost, relative to unlimited", from: Math.min(...costs) - 0.02, to: Math.max(...costs) + margin },
    y: { label: "verbatim share of the last 8k", from: Math.max(0, Math.min(...kept) - 0.05), to: 1.02 },
    series: dots.map(({ name, tone, at }) => ({ name, tone, points: [at] })),
  };
}

/** A row for each price, a column for each policy, and the cheapest policy among those without a failed turn. */
function compare(report: ColumnReport, variants: readonly VariantReport[]): string {
  const names = report.rows.map(toName);
  const lines = variants.map(({ name, reports }) => {
    const found = reports.find(({ column }) => column.name === report.column.name);
    const costs = found?.rows.map(({ figures }) => (figures.cost / found.unlimited.cost).toFixed(3)) ?? [];
    const sound = found?.rows.filter(({ figures }) => figures.overflows + figures.refused === 0) ?? [];
    const order = inOrder(sound).slice(0, 3).map(toName).join(" < ");
    return [name, ...costs, order];
  });
  return `<h3>${escapeHtml(report.column.name)}</h3>${table(["prices", ...names, "cheapest without failed turns"], lines)}`;
}

const table = (headings: readonly string[], lines: readonly (readonly string[])[]): string =>
  `<div class="scroll"><table><thead><tr>${headings.map((cell) => `<th>${escapeHtml(cell)}</th>`).join("")}</tr></thead><tbody>${lines
    .map((cells) => `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join("")}</tr>`)
    .join("")}</tbody></table></div>`;
