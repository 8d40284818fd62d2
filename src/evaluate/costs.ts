/** What calls cost: prices per token, relative to plain input (docs/policy.md). */
import { type Prices, UNKNOWN_PRICES } from "../context/economy";

export const PRICES: Prices = UNKNOWN_PRICES;

export interface Spent {
  /** All of the prompt, cached tokens included. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export const NOTHING: Spent = { input: 0, cached: 0, output: 0 };

export const plus = (left: Spent, right: Spent): Spent => ({
  input: left.input + right.input,
  cached: left.cached + right.cached,
  output: left.output + right.output,
});

/** What is not cached is written to the cache: where that has a price of its own, it is paid. */
export const costOf = ({ input, cached, output }: Spent, prices: Prices = PRICES): number =>
  (input - cached) * prices.cache_write + cached * prices.cached + output * prices.output;

/** A transcript is read once: nobody writes it to a cache. */
export const costOfReading = (spent: Spent, prices: Prices): number => costOf(spent, { ...prices, cache_write: prices.input });
