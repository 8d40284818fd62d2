/**
 * Summarises the errors of many estimates in a few figures. All figures are shares of the provider's count. Negative:
 * the estimate was too low.
 */
import type { Estimate, Played } from "./play-corpus.ts";

export interface Errors {
  /** Median of the signed errors. */
  readonly median: number;
  /** Median and 95th percentile of the absolute errors. */
  readonly median_size: number;
  readonly p95_size: number;
  /** The largest errors below and above. 0 when there are none. */
  readonly under: number;
  readonly over: number;
}

interface Half {
  readonly requests: number;
  readonly estimate: Errors;
  readonly planned: Errors;
  /** Share of the requests whose true count lies within the bound that is stated beside the estimate. */
  readonly within: number;
}

export interface CorpusFigures {
  readonly corpus: string;
  /** Errors before any report. `estimate`: without padding. `planned`: with padding, as decisions use it. */
  readonly before: Half & { readonly largest: number };
  /** Errors after at least one report. */
  readonly after: Half;
}

/** By nearest rank. 0 when there are no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

function toErrors(estimates: readonly Estimate[], thought: "expected" | "planned"): Errors {
  const errors = estimates.map((estimate) => estimate[thought] / estimate.counted - 1);
  const sizes = errors.map(Math.abs);
  return {
    median: quantile(errors, 0.5),
    median_size: quantile(sizes, 0.5),
    p95_size: quantile(sizes, 0.95),
    under: Math.min(0, quantile(errors, 0)),
    over: Math.max(0, quantile(errors, 1)),
  };
}

const isWithin = ({ counted, expected, planned }: Estimate): boolean => Math.abs(counted - expected) <= planned - expected;

const toHalf = (estimates: readonly Estimate[]): Half => ({
  requests: estimates.length,
  estimate: toErrors(estimates, "expected"),
  planned: toErrors(estimates, "planned"),
  within: estimates.filter(isWithin).length / Math.max(1, estimates.length),
});

export function toFigures({ name, before, after }: Played): CorpusFigures {
  const counts = before.map(({ counted }) => counted);
  return { corpus: name, before: { ...toHalf(before), largest: quantile(counts, 1) }, after: toHalf(after) };
}

/** All corpora combined, and separately their requests that exactly one report preceded, where the least has been learned. */
export const toTotals = (played: readonly Played[]): CorpusFigures[] => {
  const before = played.flatMap((one) => one.before);
  const after = played.flatMap((one) => one.after);
  const second = after.filter(({ reports }) => reports === 1);
  return [toFigures({ name: "all", before, after }), toFigures({ name: "all, second requests", before, after: second })];
};
