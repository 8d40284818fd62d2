/** What people see of a compaction, and what may be asked of one: plain data. */
import type { FileOps } from "../context/file-ops";
import type { Plan } from "../context/plan";
import type { Policy } from "../context/policy";
import type { PolicyChoice } from "../context/policy-choice";
import type { BreakerView } from "../domain/breaker";
import type { CompactionFailure, CompactionTrigger, CoveredRange, EpochOp, Receipt } from "../domain/compaction-events";
import type { CompactionId, KeyId } from "../domain/ids";

/** Why taking a compaction back was refused, beyond the domain's reasons. */
export type ControlError =
  /** The view as it was before, with what came since, would weigh more than a request may. */
  | { readonly code: "would_not_fit"; readonly tokens: number; readonly limit: number }
  /** More messages would come back than one change can carry. */
  | { readonly code: "too_many_items"; readonly items: number }
  /** With the draft's summary the next request would weigh no less: tokens of it, before and after. */
  | { readonly code: "not_smaller"; readonly tokens_before: number; readonly tokens_after: number };

type TakingBack = Extract<EpochOp, { op: "revert" | "reset" }>;
/** Of the items that came back the number only. */
type Counted<T> = T extends unknown ? Omit<T, "items"> & { readonly items: number } : never;
export type ShownOp = Exclude<EpochOp, TakingBack> | Counted<TakingBack>;

export interface CompactionView {
  readonly id: CompactionId;
  /** The seq of the event that began it: its place in the list. */
  readonly seq: number;
  readonly trigger: CompactionTrigger;
  readonly status: "requested" | "running" | "drafted" | "completed" | "failed" | "reverted";
  readonly did_compact: boolean;
  readonly requested_at: number;
  readonly finished_at: number | null;
  readonly attempts: number;
  readonly failure: CompactionFailure | null;
  readonly epoch: number | null;
  /** Positions that left the view, or are going to. */
  readonly range: CoveredRange | null;
  /** What was asked for by hand. */
  readonly keep_recent: number | null;
  readonly up_to: number | null;
  readonly instructions: string | null;
  /** The summaries that stood were to be made anew. */
  readonly rebuild: boolean;
  /** Who was to write it, and by which policy's rules for summaries; null: as the session's policy says. */
  readonly model: string | null;
  readonly policy: PolicyChoice | null;
  /** Null: it was not asked for as a draft. */
  readonly draft: DraftView | null;
  /** Of a draft that is read by itself: what committing it now would do. */
  readonly ops: readonly ShownOp[];
  readonly summary: string | null;
  /** Of a draft that is read by itself: what to expect. */
  readonly receipt: ShownReceipt | null;
  readonly cache: CacheEffect | null;
  /** The change that took it back. */
  readonly reverted: { readonly by: CompactionId; readonly at: number } | null;
}

/** Who had a hand in a draft: it stays with the compaction when it is over. */
export interface DraftView {
  /** How often it was edited: what the next edit, or a commit, names. */
  readonly edits: number;
  /** The key of who edited it last; null: nobody did. */
  readonly edited_by: KeyId | null;
  readonly edited_at: number | null;
}

/** Paths are content, and the event has none: they are read in the summary, or the note, that the change has made, and leave with it. */
export type ShownReceipt = Receipt & {
  /** Files that the summary says were read and modified, by tool calls; null: there is none. */
  readonly files: FileOps | null;
};

/** What the change did to the provider's cache. */
interface CacheEffect {
  /** Tokens at the start of the next request that should still be cached; null: recorded before every change of the view said it. */
  readonly expected: number | null;
  /** The first call of a turn afterwards, as the provider counted it; null: there was none, or it was not counted. */
  readonly first_call: { readonly model: string; readonly input: number; readonly cached: number; readonly at: number } | null;
}

/** A compaction by hand. */
export interface CompactInput {
  readonly dryRun: boolean;
  /** What the summary should look after. */
  readonly instructions: string | null;
  /** Tokens that stay verbatim; null: as the policy says. */
  readonly keepRecent: number | null;
  /** Nothing after this position is compacted. */
  readonly upTo: number | null;
  /** It waits for a person's commit. Absent: it does not. */
  readonly draft?: boolean;
  /** The summaries that stand are made anew from the record, and nothing else leaves the view. Absent: it compacts. */
  readonly rebuild?: boolean;
  /** Who writes it; absent: as the policy says. */
  readonly model?: string;
  /** Over the session's, for this compaction alone: its rules for summaries hold. */
  readonly policy?: PolicyChoice;
}

/** A plan by hand is made as if the breaker were closed, because the request resets it; `breaker` is the breaker as it is. */
export type ShownPlan = Plan & { readonly breaker: BreakerView };

/** `plan`: a dry run, or there was nothing to do; nothing was stored. `done`: no model was needed. `requested`: a worker does it. */
export type CompactOutcome =
  | { readonly kind: "plan"; readonly plan: ShownPlan }
  | { readonly kind: "done" | "requested"; readonly compaction: CompactionView };

/** What of a session is chosen by hand, as its description shows it. */
export interface ControlledSettings {
  /** What was chosen: a preset, or one with changes. */
  readonly policy: PolicyChoice;
  /** What that comes to. */
  readonly effective_policy: Policy;
  /** Texts that are sent again with every request, before the summaries. */
  readonly pins: readonly string[];
}
