/**
 * The circuit breaker of a session's compactions, judged by outcome (docs/compaction-protocol.md). While it is open, no model is
 * asked for a summary.
 */

/** Number of compactions that failed for good, and of compactions without progress, that open the breaker. */
export const FAILURES_TO_OPEN = 3;
export const FRUITLESS_TO_OPEN = 2;
/** The breaker closes when new messages have added this share of the view. */
const FIRST_GROWTH = 0.2;
/**
 * Each time the breaker opens again, it needs this many times the growth. So the number of failing calls grows with the
 * logarithm of what is appended.
 */
const GROWTH_FACTOR = 2;

/**
 * Counts raw tokens that are appended. Tokens that leave the view do not count, because a guard that keeps the view
 * small would close the breaker again and again.
 */
export interface Breaker {
  /** Tokens appended to the conversation since the breaker opened. */
  readonly appended: number;
  /** The breaker closes when this many tokens are appended. */
  readonly needed: number;
}

export interface BreakerState {
  /** Compactions that failed for good since the last one that made progress. */
  readonly failures: number;
  /** Consecutive compactions that shrank the view by less than a tenth. */
  readonly fruitless: number;
  /** Null when the breaker has not opened since a compaction made progress or it was reset. */
  readonly breaker: Breaker | null;
}

/** The state after a reset: by a request by hand, or by a change of model or policy. */
export const closedBreaker: BreakerState = { failures: 0, fruitless: 0, breaker: null };

/** `viewTokens`: raw tokens of the view when the breaker opens. */
export const openBreaker = (before: Breaker | null, viewTokens: number): Breaker => ({
  appended: 0,
  needed: before ? before.needed * GROWTH_FACTOR : Math.ceil(viewTokens * FIRST_GROWTH),
});

export const growBreaker = (breaker: Breaker | null, tokens: number): Breaker | null =>
  breaker && { ...breaker, appended: breaker.appended + tokens };

export const isBreakerOpen = ({ breaker }: Pick<BreakerState, "breaker">): boolean => breaker !== null && breaker.appended < breaker.needed;

/**
 * Number of attempts for a compaction. Once the breaker has opened, each compaction is a probe with one attempt until
 * one makes progress. `attempts`: the number otherwise.
 */
export const attemptsUnder = ({ breaker }: Pick<BreakerState, "breaker">, attempts: number): number => (breaker === null ? attempts : 1);

/** The breaker as the API shows it. */
export interface BreakerView extends Pick<BreakerState, "failures" | "fruitless"> {
  readonly open: boolean;
  /** Raw tokens still to be appended before a model is asked again. Null when the breaker is closed. */
  readonly closes_after: number | null;
}

export function describeBreaker(state: BreakerState): BreakerView {
  const { failures, fruitless, breaker } = state;
  const open = isBreakerOpen(state);
  return { open, failures, fruitless, closes_after: open && breaker ? breaker.needed - breaker.appended : null };
}
