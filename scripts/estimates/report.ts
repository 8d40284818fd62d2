/** The output of `npm run estimates`. */
import type { CorpusFigures, Errors } from "./figures.ts";

const percent = (share: number): string => (100 * share).toFixed(1).replace("-0.0", "0.0");

const HEADINGS = [
  ["", "corpus"],
  ["", "requests"],
  ["", "largest"],
  ["before:", "median"],
  ["estimate", "under"],
  ["", "over"],
  ["before:", "median"],
  ["planned", "under*"],
  ["", "over"],
  ["after:", "median*"],
  ["estimate", "p95*"],
  ["", "under"],
  ["", "over"],
  ["after:", "median"],
  ["planned", "p95"],
  ["", "under"],
  ["", "over"],
  ["within:", "before*"],
  ["bound", "after*"],
] as const;

const signed = ({ median, under, over }: Errors): string[] => [median, under, over].map(percent);
const sized = ({ median_size, p95_size, under, over }: Errors): string[] => [median_size, p95_size, under, over].map(percent);

const toCells = ({ corpus, before, after }: CorpusFigures): string[] => [
  corpus,
  String(before.requests),
  String(before.largest),
  ...signed(before.estimate),
  ...signed(before.planned),
  ...sized(after.estimate),
  ...sized(after.planned),
  ...[before.within, after.within].map(percent),
];

const squeeze = (text: string): string => text.replaceAll(/\s+/g, " ");

/** Rows of the table that `text` (docs/estimates.md) does not contain with the current figures. */
export const findStale = (rows: readonly CorpusFigures[], text: string): string[] => {
  const known = squeeze(text);
  return rows.filter((row) => !known.includes(`${toCells(row).join(" ")} `)).map(({ corpus }) => corpus);
};

const NOTES = [
  "Errors in percent of what the tokenizer counts of the whole request; under: furthest below, over: furthest above.",
  "before: no usage was reported yet; its medians are signed. after: at least one report; its medians and p95 are of sizes.",
  "estimate: what the request is believed to weigh, and is shown. planned: that and the bound stated beside it, by which everything is decided.",
  "within bound: requests in percent whose count is off the estimate by no more than that bound, either way.",
  "*: what --check judges, corpus by corpus.",
];

export function formatFigures(rows: readonly CorpusFigures[]): string {
  const lines = [HEADINGS.map(([group]) => group), HEADINGS.map(([, name]) => name), ...rows.map(toCells)];
  const widths = HEADINGS.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const table = lines.map((line) =>
    line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  "),
  );
  return [...table.map((line) => line.trimEnd()), "", ...NOTES].join("\n");
}
