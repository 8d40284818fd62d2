/** What a model call cost, by the prices of the moment. What is not known is never taken for free. */
import { roundCost } from "../domain/call-totals";
import { type CallUsage, generatedOf, isCount, uncachedOf } from "../domain/model-call";
import type { Prices } from "./economy";

/**
 * US dollars, by prices of US dollars per token; null: unknown. Each token is paid for once: what was read from the cache or written
 * to it is part of the input, thinking is part of the output or stands beside it.
 */
export function costOf(usage: CallUsage | null, prices: Prices | null): number | null {
  if (!usage || !prices) return null;
  const { input, cached, cache_write = 0 } = usage;
  // Parts that are more than the whole: then the input is not what was sent, and there is nothing to multiply.
  if (cached + cache_write > input) return null;
  const read = uncachedOf(usage) * prices.input + cached * prices.cached + cache_write * prices.cache_write;
  return roundCost(read + generatedOf(usage) * prices.output);
}

interface PricedCall {
  readonly usage: CallUsage | null;
  /** Raw estimate of the request. */
  readonly estimate: number;
}

/** As a field of the call: absent where it is unknown, also where the report cannot be what the request weighed. */
export function costField({ usage, estimate }: PricedCall, prices: Prices | undefined): { readonly cost?: number } {
  const cost = usage && isCount(usage, estimate) ? costOf(usage, prices ?? null) : null;
  return cost === null ? {} : { cost };
}
