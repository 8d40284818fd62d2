/** What a session's model calls come to, all of them: turns, summaries, titles. A running sum in the state. */
import type { CallOutcome } from "./events";
import { type CallUsage, generatedOf, uncachedOf } from "./model-call";

/** Tokens are those of the calls that reported them. */
export interface CallTotals {
  readonly calls: number;
  /** Calls that ended without the model's own end: failures, stops, crashes. */
  readonly failed: number;
  readonly input: number;
  readonly uncached: number;
  readonly cached: number;
  readonly cache_write: number;
  /** Thinking included. */
  readonly output: number;
  readonly reasoning: number;
  /** US dollars of the calls whose cost is known. */
  readonly cost: number;
  /** Calls whose cost is not. */
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

/** Outcomes of a call that the provider brought to its end, whatever became of the answer. */
export const FINISHED_OUTCOMES: readonly CallOutcome[] = ["stop", "length", "tool_calls", "content_filter", "other", "stale"];

/** Sums of costs are kept to this part of a dollar: what floating point adds below it is nobody's. */
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
    uncached: totals.uncached + (usage ? uncachedOf(usage) : 0),
    cached: totals.cached + (usage?.cached ?? 0),
    cache_write: totals.cache_write + (usage?.cache_write ?? 0),
    output: totals.output + (usage ? generatedOf(usage) : 0),
    reasoning: totals.reasoning + (usage?.reasoning ?? 0),
    cost: roundCost(totals.cost + (cost ?? 0)),
    unpriced: totals.unpriced + (cost === undefined ? 1 : 0),
  };
}
