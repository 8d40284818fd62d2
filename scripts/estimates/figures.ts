/** Errors of many estimates, in a few figures. All are shares of what the provider counted; below 0: too little was thought. */
import type { Estimate, Played } from "./play-corpus.ts";

export interface Errors {
  /** Of the signed errors. */
  readonly median: number;
  /** Of their sizes. */
  readonly median_size: number;
  readonly p95_size: number;
  /** Furthest below and above; 0: never. */
  readonly under: number;
  readonly over: number;
}

interface Half {
  readonly requests: number;
  readonly estimate: Errors;
  readonly planned: Errors;
  /** Share of the requests whose true count lies within the bound that is stated beside the estimate, either way. */
  readonly within: number;
}

export interface CorpusFigures {
  readonly corpus: string;
  /** With no report; `estimate`: without padding, `planned`: with it, which is what is decided by. */
  readonly before: Half & { readonly largest: number };
  /** With at least one report. */
  readonly after: Half;
}

/** By nearest rank; 0 of nothing. */
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

/** All corpora as one, and of those only the requests that exactly one report came before: the least that can have been learned. */
export const toTotals = (played: readonly Played[]): CorpusFigures[] => {
  const before = played.flatMap((one) => one.before);
  const after = played.flatMap((one) => one.after);
  const second = after.filter(({ reports }) => reports === 1);
  return [toFigures({ name: "all", before, after }), toFigures({ name: "all, second requests", before, after: second })];
};
