/** The goals for the estimator, for each corpus: `npm run estimates -- --check`. */
import type { CorpusFigures } from "./figures.ts";

/** Before any report: the padded estimate must not be further below the true count than this. */
export const MOST_UNDER = 0.15;
/** After at least one report: the limit of the unpadded estimate's error in either direction. */
export const MEDIAN = 0.03;
export const P95 = 0.1;
/** Share of all requests, before and after a report, whose true count lies within the stated bound. */
export const WITHIN = 0.95;

type Goal = readonly [what: string, found: number, most: number];

const toGoals = ({ before, after }: CorpusFigures): Goal[] => [
  ["planned before the first report, under", -before.planned.under, MOST_UNDER],
  ["estimate after a report, median", after.estimate.median_size, MEDIAN],
  ["estimate after a report, p95", after.estimate.p95_size, P95],
  ["outside of the stated bound before the first report", 1 - before.within, 1 - WITHIN],
  ["outside of the stated bound after a report", 1 - after.within, 1 - WITHIN],
];

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** One line for each missed goal. A corpus without requests proves nothing, so it is a missed goal too. */
export const findMissed = (figures: readonly CorpusFigures[]): string[] =>
  figures.flatMap((row) => {
    if (row.after.requests === 0) return [`${row.corpus}: no request came after a report`];
    const missed = toGoals(row).filter(([, found, most]) => found > most);
    return missed.map(([what, found, most]) => `${row.corpus}: ${what}: ${percent(found)}, at most ${percent(most)} was expected`);
  });
