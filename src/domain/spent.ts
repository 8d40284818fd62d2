/** What the calls of one compaction come to: parts of a fold, both stages of a split turn, attempts that failed. */
import { roundCost } from "./call-totals";
import { type CallUsage, plusUsage } from "./model-call";

export interface Spent {
  /** Who was asked, the last time; null: nobody yet. */
  readonly model: string | null;
  /** Of the calls that reported it; null: none did. */
  readonly usage: CallUsage | null;
  /** How long the calls took together. */
  readonly ms: number;
  /** US dollars of all calls; null: of one of them it is unknown. */
  readonly cost: number | null;
}

export const NOTHING_SPENT: Spent = { model: null, usage: null, ms: 0, cost: 0 };

interface SpentCall {
  readonly model: string;
  readonly usage: CallUsage | null;
  readonly ms: number;
  readonly cost?: number;
}

export const addCall = (spent: Spent, call: SpentCall): Spent => ({
  model: call.model,
  usage: plusUsage(spent.usage, call.usage),
  ms: spent.ms + call.ms,
  cost: spent.cost === null || call.cost === undefined ? null : roundCost(spent.cost + call.cost),
});
