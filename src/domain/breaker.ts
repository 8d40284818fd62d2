/** The breaker of a session's compactions, judged by outcome (docs/design.md §5): while it is open, no model is asked for a summary. */

/** Compactions that failed for good, and compactions that gained nothing, before the breaker opens. */
export const FAILURES_TO_OPEN = 3;
export const FRUITLESS_TO_OPEN = 2;
/** The breaker closes when this share of the view has been appended to the conversation. */
const FIRST_GROWTH = 0.2;
/** Each time that it opens again, it asks for so many times the growth: vain calls grow with the logarithm of what is appended. */
const GROWTH_FACTOR = 2;

/** Raw tokens. What leaves the view in the meantime counts neither way: a guard that keeps the view small would close it again and again. */
export interface Breaker {
  /** Appended to the conversation since it opened. */
  readonly appended: number;
  /** It closes when so many are. */
  readonly needed: number;
}

export interface BreakerState {
  /** Compactions that failed for good since the last one that gained something. */
  readonly failures: number;
  /** Compactions in a row that shrank the view by less than a tenth. */
  readonly fruitless: number;
  /** Null: it has not opened since a compaction gained something, or since it was reset. */
  readonly breaker: Breaker | null;
}

/** What resets the breaker: a request by hand, another model or policy. */
export const closedBreaker: BreakerState = { failures: 0, fruitless: 0, breaker: null };

/** `viewTokens`: of the view as it is when the breaker opens. */
export const openBreaker = (before: Breaker | null, viewTokens: number): Breaker => ({
  appended: 0,
  needed: before ? before.needed * GROWTH_FACTOR : Math.ceil(viewTokens * FIRST_GROWTH),
});

export const growBreaker = (breaker: Breaker | null, tokens: number): Breaker | null =>
  breaker && { ...breaker, appended: breaker.appended + tokens };

export const isBreakerOpen = ({ breaker }: Pick<BreakerState, "breaker">): boolean => breaker !== null && breaker.appended < breaker.needed;

/** A compaction after the breaker has opened is a probe, of one call that may fail, until one gains something. `attempts`: of any other. */
export const attemptsUnder = ({ breaker }: Pick<BreakerState, "breaker">, attempts: number): number => (breaker === null ? attempts : 1);

/** The breaker as the API shows it. */
export interface BreakerView extends Pick<BreakerState, "failures" | "fruitless"> {
  readonly open: boolean;
  /** Raw tokens still to be appended before a model is asked again; null: it is closed. */
  readonly closes_after: number | null;
}

export function describeBreaker(state: BreakerState): BreakerView {
  const { failures, fruitless, breaker } = state;
  const open = isBreakerOpen(state);
  return { open, failures, fruitless, closes_after: open && breaker ? breaker.needed - breaker.appended : null };
}
