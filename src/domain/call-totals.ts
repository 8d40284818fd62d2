/** Running sums over all of a session's model calls: turns, summaries, titles, questions about summaries. */
import type { CallOutcome } from "./events";
import { type CallUsage, toGeneratedTokens, toUncachedInput } from "./model-call";

/** Token sums cover only the calls that reported usage. */
export interface CallTotals {
  readonly calls: number;
  /** Calls that the model did not finish: failures, stops, crashes. */
  readonly failed: number;
  readonly input: number;
  readonly uncached: number;
  readonly cached: number;
  readonly cache_write: number;
  /** Includes reasoning. */
  readonly output: number;
  readonly reasoning: number;
  /** US dollars of the calls whose cost is known. */
  readonly cost: number;
  /** Calls whose cost is unknown. */
  readonly unpriced: number;
}

export const NO_CALLS: CallTotals = {
  calls: 0,
  failed: 0,
  input: 0,
  uncached: 0,
  cached: 0,
  cache_write: 0,
  output: 0,
  reasoning: 0,
  cost: 0,
  unpriced: 0,
};

/** Outcomes of calls that the provider finished, whether or not the answer was used. */
export const FINISHED_OUTCOMES: readonly CallOutcome[] = ["stop", "length", "tool_calls", "content_filter", "other", "stale"];

/** Sums of costs are rounded to this fraction of a dollar, to remove floating-point noise. */
const COST_UNITS = 1e12;
export const roundCost = (dollars: number): number => Math.round(dollars * COST_UNITS) / COST_UNITS;

export interface CountedCall {
  readonly usage: CallUsage | null;
  readonly outcome: CallOutcome;
  readonly cost?: number;
}

export function addToTotals(totals: CallTotals, { usage, outcome, cost }: CountedCall): CallTotals {
  return {
    calls: totals.calls + 1,
    failed: totals.failed + (FINISHED_OUTCOMES.includes(outcome) ? 0 : 1),
    input: totals.input + (usage?.input ?? 0),
    uncached: totals.uncached + (usage ? toUncachedInput(usage) : 0),
    cached: totals.cached + (usage?.cached ?? 0),
    cache_write: totals.cache_write + (usage?.cache_write ?? 0),
    output: totals.output + (usage ? toGeneratedTokens(usage) : 0),
    reasoning: totals.reasoning + (usage?.reasoning ?? 0),
    cost: roundCost(totals.cost + (cost ?? 0)),
    unpriced: totals.unpriced + (cost === undefined ? 1 : 0),
  };
}
