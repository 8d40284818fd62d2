/** How the view of a conversation changes: the operations of an epoch change, and the life of a compaction. */
import type { Edited } from "./draft-events";
import type { CompactionId, OverlayId } from "./ids";
import type { ItemMeta, TextRef } from "./message";
import type { CallUsage, FailureKind } from "./model-call";

/**
 * Why the view changed. `threshold`: a share of the window was passed; `rent`: re-reading cost more than compacting would;
 * `inline`: the next call would not have fitted; `results`: old tool results are cleared before each call (OdinCode plan).
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

/** How a summary is asked for: as a delimited transcript, or as the turn's own request up to the cut with one instruction more. */
export type SummaryMode = "transcript" | "same_prefix";

/** An item that is shown as less than it is, and what it then weighs (raw). */
export interface Reduction {
  readonly position: number;
  readonly tokens: number;
}

/** What a summary or a marker covers: positions `from..to`, both included. */
export interface CoveredRange {
  readonly from: number;
  readonly to: number;
}

/** What a summary was made from, whatever it stands for: every text that its requests held. */
export interface SummarySources {
  /** Positions whose items were in the requests. */
  readonly ranges: readonly CoveredRange[];
  /** Earlier summaries that were in the requests, or whose lists of files are carried on. */
  readonly overlays: readonly OverlayId[];
}

/** One operation of an epoch change. All operations of one event take effect together (docs/design.md §1.4). */
export type EpochOp =
  | ({
      readonly op: "summarize";
      readonly overlay: OverlayId;
      readonly replaces: readonly OverlayId[];
      /** Positions up to `to` that stay visible; every other item up to there leaves the view. */
      readonly keeps: readonly number[];
      readonly tokens: number;
      readonly bytes: number;
      /** Items covered, those of replaced summaries included. */
      readonly items: number;
      /** `created_at` of the oldest item that stays verbatim (RFC-011 `compact_boundary_timestamp`). */
      readonly boundary_timestamp: number;
      /** How many times the oldest words in it were summarised again; 0: straight from the messages. */
      readonly generation: number;
      /** Null: a note that takes a summary's place, which no model wrote. */
      readonly mode: SummaryMode | null;
      /** Absent: an older build did not record it, and anything up to `to` may have been read. */
      readonly read?: SummarySources;
    } & CoveredRange)
  | ({ readonly op: "drop"; readonly overlay: OverlayId; readonly replaces: readonly OverlayId[]; readonly items: number } & CoveredRange)
  /** Results shown as a placeholder that names their execution (OdinCode plan). */
  | { readonly op: "clear_results"; readonly items: readonly Reduction[] }
  /** Items shown by both their ends, `chars` characters together. */
  | { readonly op: "shorten"; readonly items: readonly Reduction[]; readonly chars: number }
  | { readonly op: "evict_media"; readonly items: readonly Reduction[] }
  /** The view as it was before `compaction`, up to position `to`; what came later stays. */
  | ({ readonly op: "revert"; readonly compaction: CompactionId; readonly to: number } & RestoredView)
  /** Summaries go: what fits of the originals comes back, the rest is `dropped`. */
  | ({ readonly op: "reset"; readonly to: number } & RestoredView);

/** What stands again in place of what is taken back. */
interface RestoredView {
  readonly overlays: readonly Overlay[];
  readonly items: readonly ItemMeta[];
  readonly reduced: readonly Reduced[];
}

/** A stand-in for positions that left the view. Originals stay in the log. */
export type Overlay = CoveredRange & {
  readonly id: OverlayId;
  readonly items: number;
  readonly tokens: number;
} & ({ readonly kind: "summary"; readonly boundary_timestamp: number; readonly generation: number } | { readonly kind: "dropped" });

/** An item that the view shows as less than it is. */
export type Reduced = Reduction & ({ readonly how: "cleared" | "evicted" } | { readonly how: "shortened"; readonly chars: number });

/** What a count of tokens rests on. */
export interface Certainty {
  /** `mixed`: the provider counted a part of it, the rest is estimated. */
  readonly source: "reported" | "estimated" | "mixed";
  /** How far off it may be, in tokens, either way. */
  readonly error_bound: number;
}

/** What a change of the view did. Tokens are those of the next request, before and after; cost in the price unit of the model. */
export interface Receipt {
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** Absent: recorded before receipts said it. */
  readonly measured?: { readonly before: Certainty; readonly after: Certainty };
  readonly items_before: number;
  readonly items_after: number;
  /** Who was asked for a summary, also where none could be had; null: nobody. */
  readonly model: string | null;
  /** Of all calls of the compaction that reported it: parts of a fold, attempts that failed. Null: none did. */
  readonly usage: CallUsage | null;
  /** How long those calls took together. */
  readonly ms: number;
  /** US dollars of those calls; null: unknown of one of them. Absent: recorded before receipts said it. */
  readonly cost?: number | null;
  /** Null: recorded before every change of the view said it. */
  readonly economy: ReceiptEconomy | null;
  /** Rungs of the ladder in the order taken, with what each was expected to gain: tokens of the next request, unpadded. */
  readonly rungs: readonly { readonly rung: string; readonly gain: number; readonly reason: string }[];
  readonly mode: SummaryMode | null;
  readonly attempts: number;
  /** Whether the breaker was open when the view changed: then no model is asked, unless by hand. */
  readonly breaker_open: boolean;
  /** Items that left the view without a summary. */
  readonly dropped_items: number;
  /** Who wrote the summary's last words, where a draft of it was edited. Absent: the model wrote it as it stands. */
  readonly edited?: Edited;
}

/** Re-reading one request before and after, and the expected price of the change itself. */
export interface ReceiptEconomy {
  readonly read_cost_before: number;
  readonly read_cost_after: number;
  readonly price: number;
  /** Tokens at the start of the next request that the provider's cache is expected to hold still. */
  readonly cache_kept: number;
}

/** What a person asked of a compaction by hand. */
export interface CompactionOptions {
  /** Tokens to keep verbatim; null: as the policy says. */
  readonly keep_recent: number | null;
  /** Nothing after this position is compacted; null: as far as the kept tail. */
  readonly up_to: number | null;
  /** What the summary should look after. */
  readonly instructions: TextRef | null;
  /** It stops before the commit. Absent: it does not. */
  readonly draft?: true;
  /** The summaries that stand are made anew from the record, and nothing else leaves the view. Absent: it compacts. */
  readonly rebuild?: true;
  /** Who writes it, in place of those that the policy names. Absent: as the policy says. */
  readonly model?: string;
  /** A policy as settings store it, whose rules for summaries hold for this one. Absent: the session's. */
  readonly policy?: string;
}

/** Asked for in words of its own: no turn that runs out of room makes it its own, and what a turn needs ends it (docs/design.md §5). */
export const standsApart = (options: CompactionOptions | null): boolean =>
  options !== null && (options.draft ?? options.rebuild ?? options.model ?? options.policy) !== undefined;

/** What is to be summarised, and how: settled with the lease. */
export interface SummaryPlan {
  readonly range: CoveredRange;
  /** What goes into the prompt beside earlier summaries: positions. */
  readonly source: CoveredRange;
  /** From this position on all of the source is read, also what the summaries that are updated have read. Absent: only what none has. */
  readonly reread_from?: number;
  readonly replaces: readonly OverlayId[];
  /** Positions within the range that stay visible. */
  readonly keeps: readonly number[];
  /** Earlier summaries go into the prompt, to be updated. */
  readonly merge: boolean;
  readonly generation: number;
  /** First position of a turn that the cut goes through; null: none, or one too short for a summary of its own. */
  readonly split: number | null;
  readonly mode: SummaryMode;
}

/** Work that a turn waits for: what it is done for, whatever was asked for first, and the life of the object that does it. */
export interface InlineWork {
  readonly trigger: CompactionTrigger;
  readonly incarnation: string;
}

/** How far a fold has come: everything before `position`, and `chars` characters of the entry at it. */
export interface FoldedPart {
  readonly summary: TextRef;
  /** `prefix`: the summary so far is of a split turn's beginning, and `history` holds what came before it. */
  readonly stage: "history" | "prefix";
  readonly history: TextRef | null;
  readonly position: number;
  readonly chars: number;
  /** Calls made so far. */
  readonly parts: number;
}

export type CompactionEvent =
  | {
      readonly type: "CompactionRequested";
      readonly compaction: CompactionId;
      readonly trigger: CompactionTrigger;
      readonly base_epoch: number;
      readonly options?: CompactionOptions;
    }
  /** One part of a long source is summarised: its text is a body, and a retry goes on from `done`. */
  | {
      readonly type: "CompactionProgressed";
      readonly compaction: CompactionId;
      readonly token: number;
      readonly expires_at: number;
      readonly part: FoldedPart;
    }
  | ({
      readonly type: "CompactionStarted";
      readonly compaction: CompactionId;
      /** Fencing token: a higher one makes every lower one void. */
      readonly token: number;
      readonly attempt: number;
      readonly expires_at: number;
      readonly base_epoch: number;
      /** Absent: a background worker's, for what was asked. */
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
 * The oldest groups leave the view, and no summary takes their place: the user is told (FEAT-011). A note that takes the place of a
 * summary is made without a model, and says how many they were.
 */
export const isTrim = ({ trigger, ops }: ViewChange): boolean => trigger === "fallback" || ops.some((op) => op.op === "drop");

/** A model's summary took effect. What is done because none could be had is part of a failure. */
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
  /** The view changed under it: what it was planned on is no more. Counts as nobody's failure. */
  | "superseded"
  /** A person wanted it no more. Counts as nobody's failure. */
  | "discarded"
  | "internal";
