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

export const costOf = ({ input, cached, output }: Spent): number =>
  (input - cached) * PRICES.input + cached * PRICES.cached + output * PRICES.output;
