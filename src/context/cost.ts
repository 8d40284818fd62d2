/** What a model call cost, by the prices at the time of the call. An unknown cost is never taken for zero. */
import { roundCost } from "../domain/call-totals";
import { type CallUsage, isCount, toGeneratedTokens, toUncachedInput } from "../domain/model-call";
import type { Prices } from "./economy";

/**
 * US dollars, given prices in US dollars per token. Null when unknown. Each token is paid once: tokens that were read
 * from or written to the cache are part of the input; reasoning is part of the output or counted beside it.
 */
export function computeCost(usage: CallUsage | null, prices: Prices | null): number | null {
  if (!usage || !prices) return null;
  const { input, cached, cache_write = 0 } = usage;
  // Parts that exceed the whole: the input is not what was sent, so the cost is unknown.
  if (cached + cache_write > input) return null;
  const read = toUncachedInput(usage) * prices.input + cached * prices.cached + cache_write * prices.cache_write;
  return roundCost(read + toGeneratedTokens(usage) * prices.output);
}

interface PricedCall {
  readonly usage: CallUsage | null;
  /** Raw estimate of the request. */
  readonly estimate: number;
  /** The provider refused the call before any output, or it was never sent. Budgets are charged with nothing for it, too. */
  readonly isFree?: boolean;
}

/**
 * The cost as an optional field of the call. Absent when it is unknown, including when the reported input cannot be the
 * weight of the request.
 */
export function costField({ usage, estimate, isFree = false }: PricedCall, prices: Prices | undefined): { readonly cost?: number } {
  if (!usage || !isCount(usage, estimate)) return isFree ? { cost: 0 } : {};
  const cost = computeCost(usage, prices ?? null);
  return cost === null ? {} : { cost };
}
