/**
 * What remains of a session's ledger after its erasure: sums of its calls, without turn ids and without text. Invoices
 * must outlive the conversation.
 */
import { addToTotals, type CallTotals, type CountedCall, NO_CALLS } from "./call-totals";
import type { CallPurpose } from "./model-call";

/** Length of a slot: 15 minutes. Every time zone's days begin at a multiple of it, so each slot belongs to one day in each zone. */
export const USAGE_SLOT_MS = 15 * 60_000;

/** The calls of one model for one purpose that ended in the slot that starts at `at` (epoch milliseconds). */
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

/** Sums per slot, model and purpose, in the order of each group's first call. */
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
