/** The receipt of a change of the view: what it did, what it cost, and how its figures are known. */
import type { Edited } from "./draft-events";
import type { CallUsage } from "./model-call";

/** How a summary is requested: as a delimited transcript, or as the turn's own request up to the cut with one more instruction. */
export type SummaryMode = "transcript" | "same_prefix";

/** What a token count is based on. */
export interface Certainty {
  /** `mixed`: the provider counted a part of it, and the rest is estimated. */
  readonly source: "reported" | "estimated" | "mixed";
  /** Maximum error in tokens, in either direction. */
  readonly error_bound: number;
}

/**
 * What became of the standing instructions: the summariser was given them, or not, because an earlier answer could not be
 * used or because they would not leave it enough room.
 */
export type SummaryInstructions = "applied" | "left_out";

/** What a change of the view did. Tokens are those of the next request, before and after; costs are in the model's price unit. */
export interface Receipt {
  readonly tokens_before: number;
  readonly tokens_after: number;
  readonly measured: { readonly before: Certainty; readonly after: Certainty };
  readonly items_before: number;
  readonly items_after: number;
  /** The model that was asked for a summary, also when it delivered none. Null when no model was asked. */
  readonly model: string | null;
  /**
   * Sum over the compaction's calls that reported usage, including parts of a chunked summary and failed attempts. Null
   * when no call reported any.
   */
  readonly usage: CallUsage | null;
  /** Total duration of those calls in milliseconds. */
  readonly ms: number;
  /** Cost of those calls in US dollars. Null when the cost of any of them is unknown. */
  readonly cost: number | null;
  readonly economy: ReceiptEconomy;
  /** Rungs of the ladder in the order taken, and the expected gain of each: tokens of the next request, unpadded. */
  readonly rungs: readonly { readonly rung: string; readonly gain: number; readonly reason: string }[];
  readonly mode: SummaryMode | null;
  readonly attempts: number;
  /** Whether the breaker was open when the view changed. While it is open, a model is asked only by hand. */
  readonly breaker_open: boolean;
  /** Items that left the view without a summary. */
  readonly dropped_items: number;
  /** Whether the summary followed the standing instructions. Absent: there were none, or no model wrote it. */
  readonly summary_instructions?: SummaryInstructions;
  /** How many secrets were replaced in what the summariser read, if the policy redacts. Absent: it does not. */
  readonly redacted?: number;
  /** The last editor of the summary, if it was edited as a draft. Absent: the summary is as the model wrote it. */
  readonly edited?: Edited;
}

/** The cost of reading one request before and after the change, and the expected price of the change itself. */
export interface ReceiptEconomy {
  readonly read_cost_before: number;
  readonly read_cost_after: number;
  readonly price: number;
  /** Tokens at the start of the next request that the provider's cache is expected to hold still. */
  readonly cache_kept: number;
}
