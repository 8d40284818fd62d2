/** The cost of calls: prices per token, relative to plain input (docs/policy-figures.md). */
import { type Prices, UNKNOWN_PRICES } from "../context/economy";
import type { TokenCounts } from "../contract/evaluation";

export const PRICES: Prices = UNKNOWN_PRICES;

export const NO_TOKENS: TokenCounts = { input: 0, cached: 0, output: 0 };

export const plus = (left: TokenCounts, right: TokenCounts): TokenCounts => ({
  input: left.input + right.input,
  cached: left.cached + right.cached,
  output: left.output + right.output,
});

/** Input that is not cached is written to the cache, at the cache's own price where it has one. */
export const relativeCost = ({ input, cached, output }: TokenCounts, prices: Prices = PRICES): number =>
  (input - cached) * prices.cache_write + cached * prices.cached + output * prices.output;

/** A transcript is read only once, so it is not written to a cache. */
export const costOfReading = (spent: TokenCounts, prices: Prices): number => relativeCost(spent, { ...prices, cache_write: prices.input });
