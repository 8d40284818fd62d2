/** What clients see of a compaction, and what they may ask of one: plain data. */
import type { FileOps } from "../context/file-ops";
import type { Plan } from "../context/plan";
import type { PolicyChoice } from "../context/policy-choice";
import type { BreakerView } from "../domain/breaker";
import type { CompactionFailure, CompactionTrigger, CoveredRange, EpochOp, Receipt } from "../domain/compaction-events";
import type { CompactionId, KeyId } from "../domain/ids";

/** Why a manual change of the view was refused, beside the domain's rejections. */
export type ControlError =
  /** The restored view, with the items added since, would exceed a request's limit. */
  | { readonly code: "would_not_fit"; readonly tokens: number; readonly limit: number }
  /** More items would come back than one change can carry. */
  | { readonly code: "too_many_items"; readonly items: number }
  /** The draft's summary would not make the next request smaller. The figures are the request's tokens before and after. */
  | { readonly code: "not_smaller"; readonly tokens_before: number; readonly tokens_after: number };

type TakingBack = Extract<EpochOp, { op: "revert" | "reset" }>;
/** Only the number of the items that came back. */
type Counted<T> = T extends unknown ? Omit<T, "items"> & { readonly items: number } : never;
export type ShownOp = Exclude<EpochOp, TakingBack> | Counted<TakingBack>;

export interface CompactionView {
  readonly id: CompactionId;
  /** The seq of the event that requested it, or of the change itself where nothing requested it: its place in the list. */
  readonly seq: number;
  readonly trigger: CompactionTrigger;
  readonly status: "requested" | "running" | "drafted" | "completed" | "failed" | "reverted";
  readonly did_compact: boolean;
  readonly requested_at: number;
  readonly finished_at: number | null;
  readonly attempts: number;
  readonly failure: CompactionFailure | null;
  readonly epoch: number | null;
  /** Positions that left the view, or will leave it. */
  readonly range: CoveredRange | null;
  /** What a person asked for. */
  readonly keep_recent: number | null;
  readonly up_to: number | null;
  readonly instructions: string | null;
  /** The request was to write the current summaries anew. */
  readonly rebuild: boolean;
  /** The requested model, and the requested policy whose rules for summaries apply. Null: the session's policy decides. */
  readonly model: string | null;
  readonly policy: PolicyChoice | null;
  /** Null when it was not requested as a draft. */
  readonly draft: DraftView | null;
  /** For a draft that is read by itself: what committing it now would do. */
  readonly ops: readonly ShownOp[];
  readonly summary: string | null;
  /** For a draft that is read by itself: the expected receipt. */
  readonly receipt: ShownReceipt | null;
  readonly cache: CacheEffect | null;
  /** The change that reverted it. */
  readonly reverted: { readonly by: CompactionId; readonly at: number } | null;
}

/** The draft's edits. They stay with the compaction after it ends. */
export interface DraftView {
  /** The number of edits, which the next edit or a commit must name. */
  readonly edits: number;
  /** The key of the last editor. Null when the draft was not edited. */
  readonly edited_by: KeyId | null;
  readonly edited_at: number | null;
}

/**
 * A receipt with file paths. Paths are content, so the event does not hold them: they are read from the summary or the note of the change,
 * and leave with it.
 */
export type ShownReceipt = Receipt & {
  /** Files that the summary lists as read and modified, by tool calls. Null when there is no such list. */
  readonly files: FileOps | null;
};

/** What the change did to the provider's cache. */
interface CacheEffect {
  /** Tokens at the start of the next request that should still be cached. Null for changes by older builds, which did not record it. */
  readonly expected: number | null;
  /** The next call of a turn, as the provider counted it. Null when there was none, or the provider reported no usage. */
  readonly first_call: { readonly model: string; readonly input: number; readonly cached: number; readonly at: number } | null;
}

/** A compaction that a person asks for. */
export interface CompactInput {
  readonly dryRun: boolean;
  /** What the summary should pay attention to. */
  readonly instructions: string | null;
  /** Tokens to keep verbatim. Null: the policy decides. */
  readonly keepRecent: number | null;
  /** The last position that may be compacted. Null: no limit. */
  readonly upTo: number | null;
  /** The compaction waits for a person's commit. Absent: it does not. */
  readonly draft?: boolean;
  /** Writes the current summaries anew from the record, and removes nothing else from the view. Absent: an ordinary compaction. */
  readonly rebuild?: boolean;
  /** The model that writes the summary. Absent: the policy decides. */
  readonly model?: string;
  /** Merged over the session's policy, for this compaction only. Only its rules for summaries apply. */
  readonly policy?: PolicyChoice;
}

/** A manual plan assumes a closed breaker, because the request resets it; `breaker` is its real state. */
export type ShownPlan = Plan & { readonly breaker: BreakerView };

/** `plan`: a dry run, or there was nothing to do; nothing was stored. `done`: no model was needed. `requested`: a worker will do it. */
export type CompactOutcome =
  | { readonly kind: "plan"; readonly plan: ShownPlan }
  | { readonly kind: "done" | "requested"; readonly compaction: CompactionView };
