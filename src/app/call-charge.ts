/** What a model call may cost at most, and what it is charged with when it has ended. Pure. */

import type { Prices } from "../context/economy";
import { perToken } from "../context/price-units";
import type { Budget } from "../contract/limits";
import { type CallPurpose, type CallReservation, type CallUsage, isCount, toGeneratedTokens } from "../domain/model-call";
import { toNano } from "./budget-counters";

/**
 * What counts for a model whose prices are unknown, so that no call is free under a budget in dollars. About what the most expensive of the
 * common models cost.
 */
const ASSUMED_PRICES: Prices = {
  input: perToken(15),
  cache_write: perToken(18.75),
  cached: perToken(1.5),
  output: perToken(75),
};

/** The most that a call may use. */
export interface CallNeed {
  readonly purpose: CallPurpose;
  /** Upper bound of the request's tokens. */
  readonly input: number;
  /** The most tokens of the reply, as the request names it. */
  readonly output: number;
  /** Absent: unknown. */
  readonly prices?: Prices | undefined;
  /** A worker of the queue makes the call: it does not end with this life of the object. */
  readonly byWorker?: true;
}

export type Bounds = Pick<CallNeed, "input" | "output" | "prices">;
type Unit = Budget["unit"];

/** Each token of the input may be one that is written to the provider's cache, which costs most. */
const costliest = ({ input, cached, cache_write }: Prices): number => Math.max(input, cached, cache_write);

/** What is reserved for the call, in counted units. */
export function toReserve({ input, output, prices = ASSUMED_PRICES }: Bounds, unit: Unit): number {
  if (unit === "tokens") return Math.ceil(input) + Math.ceil(output);
  return toNano(Math.ceil(input) * costliest(prices) + Math.ceil(output) * prices.output);
}

/** A call that has ended, as the ledger has it. */
export interface EndedCall {
  readonly usage: CallUsage | null;
  readonly estimate: number;
  readonly cost?: number;
  readonly reservation?: CallReservation;
}

/**
 * What the call is charged with, in counted units. Usage that is missing, or that cannot be a count of the request, is charged with the whole
 * reservation; a call that was refused before any output with nothing.
 */
export function toCharge(call: EndedCall, bounds: Bounds, unit: Unit): number {
  const { usage, cost } = call;
  if (usage && isCount(usage, call.estimate)) {
    if (unit === "tokens") return usage.input + toGeneratedTokens(usage);
    const { prices = ASSUMED_PRICES } = bounds;
    return toNano(cost ?? usage.input * costliest(prices) + toGeneratedTokens(usage) * prices.output);
  }
  return call.reservation?.free ? 0 : toReserve(bounds, unit);
}
