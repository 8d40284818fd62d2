/** The result of evaluating a policy on a session's log: positions, counts and sizes, but no content. */
import type { Policy } from "../context/policy";
import type { PolicyChoice } from "../context/policy-choice";
import type { Certainty, CompactionTrigger, CoveredRange } from "../domain/compaction-events";
import type { SessionId } from "../domain/ids";
import type { TokenCounts } from "./costs";
import type { Missed } from "./mentions";

/** In US dollars where the prices are known, else relative to the price of plain input. */
export interface CostFigure {
  readonly amount: number;
  /** The part of it that summaries cost. */
  readonly summaries: number;
  readonly source: Certainty["source"];
  /** How far off `amount` may be, in either direction. */
  readonly error_bound: number;
}

export interface EvaluatedChange {
  readonly trigger: CompactionTrigger;
  /** The newest position when the change was made. */
  readonly after_position: number;
  readonly turn: number;
  readonly at: number;
  /** The range that left the view. Null when nothing left it and items are only shown shortened or cleared. */
  readonly range: CoveredRange | null;
  readonly rungs: readonly string[];
  readonly tokens_before: number;
  readonly tokens_after: number;
  readonly measured: { readonly before: Certainty; readonly after: Certainty } | null;
  /** Tokens of the next request as the plan expected it. Null for a recorded change, which does not say. */
  readonly expected: number | null;
}

/** Estimated tokens of the record, by how the view shows them at the end. */
export interface RecordShares {
  readonly verbatim: number;
  /** Cleared or shortened. */
  readonly reduced: number;
  readonly summarized: number;
  readonly dropped: number;
  /** Neither shown nor covered: taken back by a retry, or on another branch. */
  readonly withdrawn: number;
}

interface Changes {
  readonly compactions: number;
  /** Number of changes of the view, including those without a summary. */
  readonly epochs: number;
  /** The first changes, as many as an answer holds. */
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
  /** The cost divided by that of sending everything each time; null when that cost is 0. */
  readonly relative_cost: number | null;
  /** Number of calls for which there would have been no room. */
  readonly would_not_fit: number;
  /** Number of requests that do not begin with the whole request before them, in the same epoch. */
  readonly breaks: number;
  /** Mean share of the newest 8,000 tokens that a request shows word for word. */
  readonly verbatim_8k: number;
  readonly identifiers: { readonly needed: number; readonly out_of_view: number; readonly examples: readonly Missed[] };
}

/** What really happened, as providers reported it and as the log holds it. */
export interface Recorded extends Changes {
  readonly turns: number;
  readonly calls: number;
  readonly failed_calls: number;
  readonly tokens: TokenCounts;
  readonly summary_tokens: TokenCounts;
  readonly cached_share: number;
  /** US dollars of the calls whose cost is known, including summaries but not titles. */
  readonly cost: { readonly usd: number; readonly summaries_usd: number; readonly unpriced_calls: number };
}

export interface Evaluation {
  readonly session: SessionId;
  readonly model: string;
  readonly context_window: number | null;
  readonly unit: "usd" | "relative";
  /** The position where the evaluated part begins; what is older was left out. */
  readonly from_position: number | null;
  readonly messages: number;
  readonly messages_left_out: number;
  /** The whole history sent each time, however large the window would have to be. */
  readonly everything: Called;
  readonly recorded: Recorded;
  readonly current: PolicyRun;
  readonly proposed: PolicyRun;
  /** The cost of `proposed` divided by that of `current`; null when `current` costs 0. */
  readonly ratio: number | null;
}
