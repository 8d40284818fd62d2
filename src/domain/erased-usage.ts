/**
 * What stays of a session's ledger when the session is erased: sums of its calls, without ids of turns and without text. An
 * invoice outlives the conversation that it is for.
 */
import { addToTotals, type CallTotals, type CountedCall, NO_CALLS } from "./call-totals";
import type { CallPurpose } from "./model-call";

/** Days begin and end at a quarter of an hour in every time zone, so that a sum belongs to one day of each. */
export const USAGE_SLOT_MS = 15 * 60_000;

/** The calls of one model for one purpose that ended in the quarter of an hour from `at` (epoch milliseconds) on. */
export interface ErasedUsage extends CallTotals {
  readonly at: number;
  readonly model: string;
  readonly purpose: CallPurpose;
}

interface LedgerCall extends CountedCall {
  readonly at: number;
  readonly model: string;
  readonly purpose: CallPurpose;
}

/** In order of the first call of each. */
export function sumForErasure(calls: Iterable<LedgerCall>): readonly ErasedUsage[] {
  const sums = new Map<string, ErasedUsage>();
  for (const call of calls) {
    const { model, purpose } = call;
    const at = Math.floor(call.at / USAGE_SLOT_MS) * USAGE_SLOT_MS;
    const key = JSON.stringify([at, model, purpose]);
    const before = sums.get(key) ?? { at, model, purpose, ...NO_CALLS };
    sums.set(key, { ...before, ...addToTotals(before, call) });
  }
  return [...sums.values()];
}
