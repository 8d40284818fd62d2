/**
 * How much of a counter a session is granted. It gets what its next call needs, and a block beside it for the calls after that, so that it
 * need not ask before each of them. Pure.
 */

/** A counter as the tenant's object has it, without what the asking session held before. All in counted units. */
export interface CounterState {
  readonly amount: number;
  readonly spent: number;
  /** What sessions hold: reserved for calls, or granted and not used yet. */
  readonly held: number;
  /** The sessions that hold something. */
  readonly holders: number;
}

interface PlannedGrant {
  readonly granted: number;
  /** Little is left: what is granted and not used is to be returned at once. */
  readonly tight: boolean;
}

/** A block is granted only while the counter has this many times the call's need. */
const AMPLE = 64;
/** The most needs that one block holds. */
export const MOST_AHEAD = 8;

export const countLeft = ({ amount, spent, held }: CounterState): number => amount - spent - held;

/** Null: the counter has no room for the call. `ahead`: the calls beside it that the session would be granted, from 1 to `MOST_AHEAD`. */
export function planGrant(counter: CounterState, { need, ahead }: { readonly need: number; readonly ahead: number }): PlannedGrant | null {
  const left = countLeft(counter) - need;
  if (left < 0) return null;
  if (left < AMPLE * need) return { granted: need, tight: true };
  const share = Math.floor(left / (2 * (counter.holders + 1)));
  const block = Math.min(Math.max(1, Math.min(ahead, MOST_AHEAD)) * need, share);
  return { granted: need + (block < need ? 0 : block), tight: false };
}
