/** What comes of evaluating a policy on a session's log. Positions, counts and sizes: no content. */
import type { Policy } from "../context/policy";
import type { PolicyChoice } from "../context/policy-choice";
import type { Certainty, CompactionTrigger, CoveredRange } from "../domain/compaction-events";
import type { SessionId } from "../domain/ids";
import type { TokenCounts } from "./costs";
import type { Missed } from "./mentions";

/** In US dollars where the prices are known; else in prices relative to plain input. */
export interface CostFigure {
  readonly amount: number;
  /** Part of it that summaries took. */
  readonly summaries: number;
  readonly source: Certainty["source"];
  /** How far off `amount` may be, either way. */
  readonly error_bound: number;
}

export interface EvaluatedChange {
  readonly trigger: CompactionTrigger;
  /** The newest position when it was done. */
  readonly after_position: number;
  readonly turn: number;
  readonly at: number;
  /** What left the view; null: nothing did, items are shown as less than they are. */
  readonly range: CoveredRange | null;
  readonly rungs: readonly string[];
  readonly tokens_before: number;
  readonly tokens_after: number;
  readonly measured: { readonly before: Certainty; readonly after: Certainty } | null;
  /** Tokens of the next request as the plan expected it; null: of a change that was recorded, which does not say. */
  readonly expected: number | null;
}

/** Estimated tokens of the record by what became of them in the view at the end. */
export interface RecordShares {
  readonly verbatim: number;
  /** Cleared, or shown as less than they are. */
  readonly reduced: number;
  readonly summarized: number;
  readonly dropped: number;
  /** Neither shown nor covered: what a retry took back, and other lines of the conversation. */
  readonly withdrawn: number;
}

interface Changes {
  readonly compactions: number;
  /** Changes of the view, those without a summary included. */
  readonly epochs: number;
  /** The first of them, so many as an answer holds. */
  readonly changes: readonly EvaluatedChange[];
  readonly changes_truncated: boolean;
  readonly record: RecordShares;
}

interface Called {
  readonly turns: number;
  readonly calls: number;
  readonly tokens: TokenCounts;
  readonly summary_tokens: TokenCounts;
  readonly cost: CostFigure;
  readonly cached_share: number;
  readonly peak_tokens: number;
}

export interface PolicyRun extends Called, Changes {
  readonly policy: PolicyChoice;
  readonly effective_policy: Policy;
  /** Cost over that of sending everything each time; null: nothing was called. */
  readonly relative_cost: number | null;
  /** Calls for which there would have been no room. */
  readonly would_not_fit: number;
  /** Requests that do not begin with all of the one before, in the same epoch. */
  readonly breaks: number;
  /** Mean share of the newest 8,000 tokens that a request shows word for word. */
  readonly verbatim_8k: number;
  readonly identifiers: { readonly needed: number; readonly out_of_view: number; readonly examples: readonly Missed[] };
}

/** What really happened: as providers reported it, and as the log has it. */
export interface Recorded extends Changes {
  readonly turns: number;
  readonly calls: number;
  readonly failed_calls: number;
  readonly tokens: TokenCounts;
  readonly summary_tokens: TokenCounts;
  readonly cached_share: number;
  /** US dollars of the calls whose cost is known, summaries included; titles are not. */
  readonly cost: { readonly usd: number; readonly summaries_usd: number; readonly unpriced_calls: number };
}

export interface Evaluation {
  readonly session: SessionId;
  readonly model: string;
  readonly context_window: number | null;
  readonly unit: "usd" | "relative";
  /** Where the part that was evaluated begins: what is older was left out. */
  readonly from_position: number | null;
  readonly messages: number;
  readonly messages_left_out: number;
  /** All of the history sent each time, however large the window would have to be. */
  readonly everything: Called;
  readonly recorded: Recorded;
  readonly current: PolicyRun;
  readonly proposed: PolicyRun;
  /** Cost of `proposed` over that of `current`; null: nothing was called. */
  readonly ratio: number | null;
}
