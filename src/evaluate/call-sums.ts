/** Sums over calls: what they read and wrote, what that costs, and how far off it may be. */
import { PADDING } from "../context/budget";
import type { Prices } from "../context/economy";
import { costOf, NOTHING, plus, type Spent } from "./costs";
import type { CostFigure } from "./evaluation";

export class CallSums {
  calls = 0;
  peak = 0;
  readonly #prices: Prices;
  #spent: Spent = NOTHING;
  #summaries: Spent = NOTHING;
  #uncertain = 0;
  #reported = 0;

  constructor(prices: Prices) {
    this.#prices = prices;
  }

  /** `known`: the share of its input that the provider itself has counted, 0 to 1. */
  called(spent: Spent, known: number): void {
    this.calls += 1;
    this.peak = Math.max(this.peak, spent.input);
    this.#spent = plus(this.#spent, spent);
    this.#uncertain += costOf({ ...spent, output: 0 }, this.#prices) * (1 - known);
    this.#reported += known;
  }

  /** Of a summary that nobody wrote all is estimated. */
  summarized(spent: Spent): void {
    this.#summaries = plus(this.#summaries, spent);
    this.#uncertain += costOf(spent, this.#prices);
  }

  get amount(): number {
    return costOf(this.#spent, this.#prices) + costOf(this.#summaries, this.#prices);
  }

  cost(): CostFigure {
    const source = this.#uncertain === 0 ? "reported" : this.#reported === 0 ? "estimated" : "mixed";
    const summaries = costOf(this.#summaries, this.#prices);
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
