/** The total cost of one compaction's model calls: parts of a chunked summary, both summaries of a split turn, failed attempts. */
import { roundCost } from "./call-totals";
import { type CallUsage, plusUsage } from "./model-call";

export interface CompactionSpend {
  /** The model that was asked last. Null when none was asked yet. */
  readonly model: string | null;
  /** Sum over the calls that reported usage. Null when none did. */
  readonly usage: CallUsage | null;
  /** Total duration of the calls in milliseconds. */
  readonly ms: number;
  /** US dollars of all calls. Null when the cost of any of them is unknown. */
  readonly cost: number | null;
}

export const NOTHING_SPENT: CompactionSpend = { model: null, usage: null, ms: 0, cost: 0 };

interface SpentCall {
  readonly model: string;
  readonly usage: CallUsage | null;
  readonly ms: number;
  readonly cost?: number;
}

export const addToSpend = (spent: CompactionSpend, call: SpentCall): CompactionSpend => ({
  model: call.model,
  usage: plusUsage(spent.usage, call.usage),
  ms: spent.ms + call.ms,
  cost: spent.cost === null || call.cost === undefined ? null : roundCost(spent.cost + call.cost),
});
