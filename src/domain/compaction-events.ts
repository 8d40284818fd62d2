/** How the model's view of a conversation changes: the operations of an epoch change, and the events of a compaction. */
import type { CompactionId, KeyId, OverlayId } from "./ids";
import type { ItemMeta, TextRef } from "./message";
import type { FailureKind } from "./model-call";
import type { Receipt, SummaryMode } from "./receipt";

/**
 * Why the view changed. `threshold`: the request passed a share of the window. `rent`: re-reading cost more than
 * compacting would. `inline`: the next call would not have fitted. `results`: the policy clears old tool results before
 * each call.
 */
export const COMPACTION_TRIGGERS = [
  "threshold",
  "rent",
  "inline",
  "guard",
  "overflow",
  "model_switch",
  "manual",
  "fallback",
  "results",
] as const;
export type CompactionTrigger = (typeof COMPACTION_TRIGGERS)[number];

/** An item that the view shows shortened or replaced, and what it then weighs (raw tokens). */
export interface Reduction {
  readonly position: number;
  readonly tokens: number;
}

/** The positions `from..to` that a summary or a marker covers, both included. */
export interface CoveredRange {
  readonly from: number;
  readonly to: number;
}

/** Everything that a summary was made from: each text that its requests held. This can be more than the range that it covers. */
export interface SummarySources {
  /** Positions whose items were in the requests. */
  readonly ranges: readonly CoveredRange[];
  /** Earlier summaries that were in the requests, or whose lists of files the new summary continues. */
  readonly overlays: readonly OverlayId[];
}

/** One operation of an epoch change. All operations of one event take effect together (docs/events.md). */
export type EpochOp =
  | ({
      readonly op: "summarize";
      readonly overlay: OverlayId;
      readonly replaces: readonly OverlayId[];
      /** Positions up to `to` that stay visible. Every other item up to there leaves the view. */
      readonly keeps: readonly number[];
      readonly tokens: number;
      readonly bytes: number;
      /** Number of covered items, including those of replaced summaries. */
      readonly items: number;
      /** `at` of the oldest item that stays verbatim, in epoch milliseconds (the API's `compact_boundary_timestamp`, docs/policy.md). */
      readonly boundary_timestamp: number;
      /** How often the oldest content of the summary was summarised again. 0: the summary was made straight from the messages. */
      readonly generation: number;
      /** Null for a note that takes a summary's place and that no model wrote. */
      readonly mode: SummaryMode | null;
      readonly read: SummarySources;
    } & CoveredRange)
  | ({ readonly op: "drop"; readonly overlay: OverlayId; readonly replaces: readonly OverlayId[]; readonly items: number } & CoveredRange)
  /** Shows results as a placeholder that names their execution. */
  | { readonly op: "clear_results"; readonly items: readonly Reduction[] }
  /** Shows only both ends of items, `chars` characters together. */
  | { readonly op: "shorten"; readonly items: readonly Reduction[]; readonly chars: number }
  | { readonly op: "evict_media"; readonly items: readonly Reduction[] }
  /** Restores the view before `compaction`, up to position `to`. Later items stay. */
  | ({ readonly op: "revert"; readonly compaction: CompactionId; readonly to: number } & RestoredView)
  /** Removes the summaries. Originals that fit come back; the rest is covered by `dropped` overlays. */
  | ({ readonly op: "reset"; readonly to: number } & RestoredView);

/** What the view shows again up to `to`, once a compaction or the summaries are taken back. */
interface RestoredView {
  readonly overlays: readonly Overlay[];
  readonly items: readonly ItemMeta[];
  readonly reduced: readonly Reduced[];
}

/** Stands in the view for positions that left it. The original items stay in the log. */
export type Overlay = CoveredRange & {
  readonly id: OverlayId;
  readonly items: number;
  readonly tokens: number;
} & ({ readonly kind: "summary"; readonly boundary_timestamp: number; readonly generation: number } | { readonly kind: "dropped" });

/** An item that the view shows shortened or replaced, and how. */
export type Reduced = Reduction & ({ readonly how: "cleared" | "evicted" } | { readonly how: "shortened"; readonly chars: number });

/** The options of a compaction that a person requested. */
export interface CompactionOptions {
  /** Tokens to keep verbatim. Null: as the policy says. */
  readonly keep_recent: number | null;
  /** Nothing after this position is compacted. Null: the compaction reaches to the kept tail. */
  readonly up_to: number | null;
  /** What the summary should pay attention to. */
  readonly instructions: TextRef | null;
  /** The compaction stops before its commit, as a draft. Absent: it commits. */
  readonly draft?: true;
  /** The existing summaries are made again from the record, and nothing else leaves the view. Absent: an ordinary compaction. */
  readonly rebuild?: true;
  /** The model that writes the summary, in place of the policy's. Absent: as the policy says. */
  readonly model?: string;
  /** A policy in its stored form, whose rules for summaries apply to this compaction. Absent: the session's policy. */
  readonly policy?: string;
  /**
   * The standing instructions that `policy` names for this compaction; null: none apply. Absent: it names none, and the
   * session's apply.
   */
  readonly policy_instructions?: TextRef | null;
}

/**
 * Whether the compaction has requirements of its own (draft, rebuild, model or policy). A turn that needs room never takes
 * over such a compaction. If the turn compacts, it ends this one (docs/compaction-by-hand.md).
 */
export const isStandalone = (options: CompactionOptions | null): boolean =>
  options !== null && (options.draft ?? options.rebuild ?? options.model ?? options.policy) !== undefined;

/** What is to be summarised, and how. The plan is fixed with the lease. */
export interface SummaryPlan {
  readonly range: CoveredRange;
  /** Positions whose items go into the prompt beside earlier summaries. */
  readonly source: CoveredRange;
  /**
   * From this position on the whole source is read, including what the summaries to be updated have read. Absent: only
   * what no summary has read.
   */
  readonly reread_from?: number;
  readonly replaces: readonly OverlayId[];
  /** Positions within the range that stay visible. */
  readonly keeps: readonly number[];
  /** Earlier summaries go into the prompt, to be updated. */
  readonly merge: boolean;
  readonly generation: number;
  /**
   * First position of a turn that the cut splits. Null when the cut splits none, or one whose compacted part is too
   * short for a summary of its own.
   */
  readonly split: number | null;
  readonly mode: SummaryMode;
  /** The standing instructions that the summariser is given. Absent: none. */
  readonly instructions?: TextRef;
  /** There are standing instructions, and the summariser is not given them (`SummaryInstructions`). Absent: false. */
  readonly instructions_left_out?: true;
}

/**
 * Work that a turn waits for: the trigger that it is done for, regardless of the one first requested, and the
 * incarnation of the object that does it.
 */
export interface InlineWork {
  readonly trigger: CompactionTrigger;
  readonly incarnation: string;
}

/** Progress of a chunked summary: everything before `position` is read, and `chars` characters of the entry at `position`. */
export interface ChunkProgress {
  readonly summary: TextRef;
  /** `prefix`: the summary so far is of the beginning of a split turn, and `history` holds the summary of what came before that turn. */
  readonly stage: "history" | "prefix";
  readonly history: TextRef | null;
  readonly position: number;
  readonly chars: number;
  /** Number of calls made so far. */
  readonly parts: number;
}

export type CompactionEvent =
  | {
      readonly type: "CompactionRequested";
      readonly compaction: CompactionId;
      readonly trigger: CompactionTrigger;
      readonly base_epoch: number;
      readonly options?: CompactionOptions;
      /** The API key that asked for the compaction. Absent: the session itself did. */
      readonly key?: KeyId;
    }
  /** One part of a long source is summarised. Its text is stored as a body, and a retry continues from `part`. */
  | {
      readonly type: "CompactionProgressed";
      readonly compaction: CompactionId;
      readonly token: number;
      readonly expires_at: number;
      readonly part: ChunkProgress;
    }
  | ({
      readonly type: "CompactionStarted";
      readonly compaction: CompactionId;
      /** Fencing token: a higher one invalidates every lower one. */
      readonly token: number;
      readonly attempt: number;
      readonly expires_at: number;
      readonly base_epoch: number;
      /** Absent: a background worker holds the lease, and works for the trigger of the request. */
      readonly inline?: InlineWork;
    } & SummaryPlan)
  | {
      readonly type: "CompactionFailed";
      readonly compaction: CompactionId;
      readonly token: number | null;
      readonly attempt: number;
      readonly failure: CompactionFailure;
      /** No further attempt follows. */
      readonly final: boolean;
    }
  | {
      readonly type: "EpochChanged";
      readonly base_epoch: number;
      readonly epoch: number;
      readonly trigger: CompactionTrigger;
      readonly compaction: CompactionId | null;
      readonly ops: readonly EpochOp[];
      readonly receipt: Receipt;
    };

interface ViewChange {
  readonly trigger: CompactionTrigger;
  readonly ops: readonly EpochOp[];
}

/**
 * Whether the oldest groups left the view without a summary: they were dropped, or a note covers them that was made as
 * a fallback. The user is notified.
 */
export const isTrim = ({ trigger, ops }: ViewChange): boolean => trigger === "fallback" || ops.some((op) => op.op === "drop");

/**
 * Whether a summary took effect: a model's, or the note that `summary.form: note` asks for. A fallback is part of a
 * failure and does not count.
 */
export const isSummarized = ({ trigger, ops }: ViewChange): boolean => trigger !== "fallback" && ops.some((op) => op.op === "summarize");

/** Why a summary was not accepted: the model's failure, or a rule of `context/summary-check`. */
export type CompactionFailure =
  | FailureKind
  | "empty"
  | "cut_off"
  | "too_long"
  | "not_smaller"
  | "sections_missing"
  | "lease_expired"
  | "unknown_model"
  | "nothing_to_do"
  /** A budget is used up. Does not count as a failure. */
  | "budget"
  /** The view changed, so the plan no longer applies. Does not count as a failure. */
  | "superseded"
  /** A person discarded the compaction. Does not count as a failure. */
  | "discarded"
  | "internal";
