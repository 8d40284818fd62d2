/** Sums over calls: the tokens that they read and wrote, their cost, and how far off the cost may be. */

import type { Prices } from "../context/economy";
import { PADDING } from "../context/sizing";
import type { CostFigure, TokenCounts } from "../contract/evaluation";
import { NO_TOKENS, plus, relativeCost } from "./costs";

export class CallSums {
  calls = 0;
  peak = 0;
  readonly #prices: Prices;
  #spent: TokenCounts = NO_TOKENS;
  #summaries: TokenCounts = NO_TOKENS;
  #uncertain = 0;
  #reported = 0;

  constructor(prices: Prices) {
    this.#prices = prices;
  }

  /** `known` is the share of the call's input that the provider itself counted, from 0 to 1. */
  called(spent: TokenCounts, known: number): void {
    this.calls += 1;
    this.peak = Math.max(this.peak, spent.input);
    this.#spent = plus(this.#spent, spent);
    this.#uncertain += relativeCost({ ...spent, output: 0 }, this.#prices) * (1 - known);
    this.#reported += known;
  }

  /** Adds a summary that no model wrote, so that all of it is estimated. */
  summarized(spent: TokenCounts): void {
    this.#summaries = plus(this.#summaries, spent);
    this.#uncertain += relativeCost(spent, this.#prices);
  }

  get amount(): number {
    return relativeCost(this.#spent, this.#prices) + relativeCost(this.#summaries, this.#prices);
  }

  cost(): CostFigure {
    const source = this.#uncertain === 0 ? "reported" : this.#reported === 0 ? "estimated" : "mixed";
    const summaries = relativeCost(this.#summaries, this.#prices);
    return { amount: this.amount, summaries, source, error_bound: this.#uncertain * (PADDING - 1) };
  }

  figures(turns: number) {
    const { input, cached } = this.#spent;
    return {
      turns,
      calls: this.calls,
      tokens: this.#spent,
      summary_tokens: this.#summaries,
      cost: this.cost(),
      cached_share: cached / Math.max(1, input),
      peak_tokens: this.peak,
    };
  }
}
