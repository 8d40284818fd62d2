/** What calls cost: prices per token, relative to plain input (docs/policy.md). */
import { type Prices, UNKNOWN_PRICES } from "../context/economy";

export const PRICES: Prices = UNKNOWN_PRICES;

export interface TokenCounts {
  /** All of the prompt, cached tokens included. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export const NO_TOKENS: TokenCounts = { input: 0, cached: 0, output: 0 };

export const plus = (left: TokenCounts, right: TokenCounts): TokenCounts => ({
  input: left.input + right.input,
  cached: left.cached + right.cached,
  output: left.output + right.output,
});

/** What is not cached is written to the cache: where that has a price of its own, it is paid. */
export const relativeCost = ({ input, cached, output }: TokenCounts, prices: Prices = PRICES): number =>
  (input - cached) * prices.cache_write + cached * prices.cached + output * prices.output;

/** A transcript is read once: nobody writes it to a cache. */
export const costOfReading = (spent: TokenCounts, prices: Prices): number => relativeCost(spent, { ...prices, cache_write: prices.input });
