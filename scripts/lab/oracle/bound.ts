/**
 * The lowest possible cost of a profile if the whole future were known: the oracle's schedule under the profile's own
 * limits, and the distance of the profile's cost from it.
 */

import { toRequestLimit } from "../../../src/context/budget";
import { INSTRUCTION_TOKENS } from "../../../src/context/economy";
import { FIRST_SUMMARY_SHARE, toSummaryCap } from "../../../src/context/proposal";
import { PADDING } from "../../../src/context/sizing";
import type { Figures } from "../engine/ledger";
import { type Setup, toLimits } from "../engine/setup";
import { Oracle, type Rules, type Schedule } from "./schedule.ts";
import { Spans } from "./spans.ts";
import type { Tape } from "./tape.ts";

/** As the ledger has it. */
const LAST_TOKENS = 8_000;
const GRAIN = 32;
/** Halvings of the charge for missing verbatim text, and its maximum, each as a price in tokens. */
const ROUNDS = 8;
const MOST_PENALTY = 64_000;

export interface Bound {
  /** No schedule costs less that keeps as many tokens at each summary as the profile's minimum. */
  readonly keeping: number;
  /** No schedule costs less that also shows as much of the last 8,000 tokens word for word on average. */
  readonly retaining: number;
  /** The cuts of the cheapest schedule found that shows at least as much. */
  readonly schedule: Schedule;
}

/**
 * `figures`: the profile's figures, with a cache that stores prefixes to the token, as the oracle's does. The bound has
 * the same unit of cost.
 */
export function findBound(tape: Tape, by: { readonly setup: Setup; readonly figures: Figures; readonly window: number }): Bound {
  const rules = toRules(by);
  const most = tape.calls.length * (1 - by.figures.verbatim_8k);
  const free = new Oracle(tape, rules).solve();
  let best = { value: free.value, schedule: free };
  if (missing(tape, free) <= most) return { keeping: free.value, retaining: free.value, schedule: free };
  let [low, high] = [0, MOST_PENALTY];
  let found: Schedule | null = null;
  for (let round = 0; round < ROUNDS; round++) {
    // Any schedule that misses no more than `most` costs at least this, because its charge is at most `penalty *
    // most`.
    const penalty = round === 0 ? 1_000 : (low + high) / 2;
    const solved = new Oracle(tape, { ...rules, penalty }).solve();
    const value = solved.value - penalty * most;
    if (value > best.value) best = { value, schedule: solved };
    if (missing(tape, solved) > most) low = penalty;
    else [high, found] = [penalty, solved];
    if (round === 0 && high === MOST_PENALTY) high = 16 * penalty;
  }
  return { keeping: free.value, retaining: best.value, schedule: found ?? best.schedule };
}

function toRules({ setup, figures, window }: { readonly setup: Setup; readonly figures: Figures; readonly window: number }): Rules {
  const limits = toLimits(window, setup.prices);
  return {
    prices: setup.prices,
    limit: toRequestLimit(limits) ?? Number.POSITIVE_INFINITY,
    insideAbove: setup.policy.trigger.at === "each_call" ? 0 : 1 / PADDING,
    keep: Math.min(...figures.kept),
    share: FIRST_SUMMARY_SHARE,
    cap: toSummaryCap(limits, setup.policy),
    instruction: INSTRUCTION_TOKENS,
    last: LAST_TOKENS,
    penalty: 0,
    grain: GRAIN,
  };
}

/** The part of the last 8,000 tokens that a schedule does not show, summed over calls. */
export function missing(tape: Tape, { cuts }: Schedule): number {
  const spans = new Spans(tape);
  let [cut, next, sum] = [0, 0, 0];
  for (let call = 0; call < tape.calls.length; call++) {
    if (cuts[next]?.call === call) cut = cuts[next++]?.group ?? cut;
    sum += 1 - spans.verbatim(call, cut, LAST_TOKENS);
  }
  return sum;
}
