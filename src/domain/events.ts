/**
 * The session's facts, past tense. An event carries ids, kinds, sizes and numbers; text, arguments, results and
 * summaries live in bodies (docs/design.md §1.2), so that content can be erased while the log stays append-only.
 * Stored types are never renamed or removed; a new shape is a new version with an upcaster in `event-versions`.
 */
import type { BodyId, CompactionId, ExecutionId, ItemId, OverlayId, SessionId, TenantId, TurnId } from "./ids";
import type { ItemDraft, ItemMeta } from "./message";

/** A stored text of the settings: where it is, and what it weighs. */
export interface TextRef {
  readonly body: BodyId;
  readonly bytes: number;
  readonly tokens: number;
}

export interface SessionSettings {
  readonly model: string;
  readonly policy: string;
  readonly system: TextRef | null;
  readonly tools: TextRef | null;
  readonly title: TextRef | null;
  /** The client's own words, so content: a JSON object of strings. */
  readonly metadata: TextRef | null;
}

/** A message that waits for its turn in the session's durable FIFO. */
export interface QueuedMessage {
  readonly item: ItemDraft;
  /** What an imported message holds after its first item: the calls of a reply. */
  readonly rest: readonly ItemDraft[];
  /** The turn it will start; null when it is only to be appended (`run: false`). */
  readonly turn: TurnId | null;
  /** Tools for this turn only, in place of the session's. */
  readonly tools: TextRef | null;
}

/** Token usage as one model call reported it. `input` includes cached tokens, which are counted once. */
export interface CallUsage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning: number;
}

/** The class of a model's failure; the labels are those of `provider-errors.json`. */
export const FAILURE_KINDS = [
  "overflow",
  "output_cap",
  "payload",
  "rate_limit",
  "quota",
  "media",
  "invalid_param",
  "auth",
  "refused",
  "unavailable",
  "timeout",
  "aborted",
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** A failure that a turn can end with: the model's, or our own refusal to send. */
export type TurnFailureKind = FailureKind | "cannot_fit" | "unknown_model" | "crashed" | "internal";

/** Why an overflow was refused before sending: the floor, the limit, and what weighs most. */
export interface FitReport {
  readonly floor: number;
  readonly limit: number;
  readonly biggest: readonly { readonly what: string; readonly tokens: number }[];
}

export interface TurnFailure {
  readonly kind: TurnFailureKind;
  readonly status: number | null;
  readonly fit?: FitReport;
}

/** How a model call ended. `stale`: a summary came too late, or for a view that is no more; it was paid for all the same. */
export type CallOutcome = FinishReason | TurnFailureKind | "stale";
export type CallPurpose = "turn" | "compaction" | "title";
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "other";
export type CompactionTrigger = "threshold" | "guard" | "overflow" | "model_switch" | "manual" | "fallback";

/** What a summary or a marker covers: positions `from..to`, both included. */
export interface CoveredRange {
  readonly from: number;
  readonly to: number;
}

/** One operation of an epoch change. All operations of one event take effect together (docs/design.md §1.4). */
export type EpochOp =
  | ({
      readonly op: "summarize";
      readonly overlay: OverlayId;
      readonly replaces: readonly OverlayId[];
      readonly tokens: number;
      readonly bytes: number;
      /** Items covered, those of replaced summaries included. */
      readonly items: number;
      /** `created_at` of the oldest item that stays verbatim (RFC-011 `compact_boundary_timestamp`). */
      readonly boundary_timestamp: number;
    } & CoveredRange)
  | ({ readonly op: "drop"; readonly overlay: OverlayId; readonly replaces: readonly OverlayId[]; readonly items: number } & CoveredRange)
  | { readonly op: "clear_results"; readonly positions: readonly number[] }
  | { readonly op: "shorten_results"; readonly positions: readonly number[] }
  | { readonly op: "evict_media"; readonly positions: readonly number[] }
  /** Takes an overlay back; `overlays` and `items` are what stands in its place again. */
  | { readonly op: "revert"; readonly overlay: OverlayId; readonly overlays: readonly Overlay[]; readonly items: readonly ItemMeta[] }
  | { readonly op: "reset"; readonly items: readonly ItemMeta[] };

/** A stand-in for positions that left the view. Originals stay in the log. */
export type Overlay = CoveredRange & {
  readonly id: OverlayId;
  readonly items: number;
  readonly tokens: number;
} & ({ readonly kind: "summary"; readonly boundary_timestamp: number } | { readonly kind: "dropped" });

/** Estimated tokens of the next request, before and after. */
export interface Receipt {
  readonly tokens_before: number;
  readonly tokens_after: number;
  readonly items_before: number;
  readonly items_after: number;
  readonly model: string | null;
  readonly usage: CallUsage | null;
  readonly ms: number;
}

export type SessionEvent =
  | { readonly type: "SessionOpened"; readonly tenant: TenantId; readonly session: SessionId; readonly settings: SessionSettings }
  | { readonly type: "SettingsChanged"; readonly changes: Partial<SessionSettings> }
  | { readonly type: "PinsSet"; readonly pins: readonly TextRef[] }
  | { readonly type: "SessionForked"; readonly from: SessionId; readonly at: number }
  | { readonly type: "SessionErased" };

export type MessageEvent =
  | { readonly type: "MessagesAppended"; readonly items: readonly ItemMeta[]; readonly dequeued: readonly ItemId[] }
  | { readonly type: "MessageQueued"; readonly message: QueuedMessage; readonly front: boolean }
  | { readonly type: "QueuedMessageCancelled"; readonly message: ItemId; readonly turn: TurnId | null }
  | { readonly type: "MessageRedacted"; readonly item: ItemId; readonly position: number }
  | { readonly type: "HistoryRewound"; readonly to: number; readonly items: readonly ItemMeta[] };

export type TurnEvent =
  | {
      readonly type: "TurnStarted";
      readonly turn: TurnId;
      readonly incarnation: string;
      /** From 1; a turn run again after a crash keeps its id and counts up. */
      readonly attempt: number;
      /** The message that asks; null on a further attempt and on a retry, where it is already recorded. */
      readonly item: ItemMeta | null;
      readonly tools: TextRef | null;
      readonly retry_of: TurnId | null;
    }
  | {
      readonly type: "ModelCallFinished";
      readonly turn: TurnId | null;
      readonly purpose: CallPurpose;
      readonly model: string;
      readonly epoch: number;
      /** The last position that was part of the request. */
      readonly up_to: number;
      readonly usage: CallUsage | null;
      readonly estimate: number;
      readonly request_digest: string | null;
      readonly outcome: CallOutcome;
      /** Milliseconds from the request to its end; 0: nobody saw the end. */
      readonly ms: number;
      /** Fencing token of the compaction that it was made for; null: for none. */
      readonly lease: number | null;
    }
  | { readonly type: "AssistantReplied"; readonly turn: TurnId; readonly item: ItemMeta }
  | { readonly type: "ToolCalled"; readonly turn: TurnId; readonly item: ItemMeta }
  | { readonly type: "ToolResultRecorded"; readonly turn: TurnId; readonly item: ItemMeta; readonly incarnation: string }
  | { readonly type: "ApprovalRequested"; readonly turn: TurnId; readonly execution: ExecutionId }
  | { readonly type: "ApprovalResolved"; readonly turn: TurnId; readonly execution: ExecutionId; readonly approved: boolean }
  | { readonly type: "TurnCompleted"; readonly turn: TurnId; readonly finish: FinishReason }
  | { readonly type: "TurnFailed"; readonly turn: TurnId; readonly failure: TurnFailure }
  | { readonly type: "TurnStopped"; readonly turn: TurnId; readonly reason: StopReason }
  | { readonly type: "TurnInterrupted"; readonly turn: TurnId };

export type StopReason = "requested" | "interrupted_by_message" | "superseded" | "tools_expired";

export type CompactionEvent =
  | {
      readonly type: "CompactionRequested";
      readonly compaction: CompactionId;
      readonly trigger: CompactionTrigger;
      readonly base_epoch: number;
    }
  | {
      readonly type: "CompactionStarted";
      readonly compaction: CompactionId;
      /** Fencing token: a higher one makes every lower one void. */
      readonly token: number;
      readonly attempt: number;
      readonly expires_at: number;
      readonly base_epoch: number;
      readonly range: CoveredRange;
      readonly replaces: readonly OverlayId[];
    }
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

/** Why a summary was not accepted: the model's failure, or a rule of `context/summary-check`. */
export type CompactionFailure =
  | FailureKind
  | "empty"
  | "cut_off"
  | "too_long"
  | "not_smaller"
  | "lease_expired"
  | "unknown_model"
  | "nothing_to_do"
  /** The view changed under it: what it was planned on is no more. Counts as nobody's failure. */
  | "superseded"
  | "internal";

export type Event = SessionEvent | MessageEvent | TurnEvent | CompactionEvent;
export type EventType = Event["type"];

/** An event in its place in the log. `seq` counts from 1 without gaps; `at` is epoch milliseconds. */
export type StoredEvent = { readonly seq: number; readonly at: number } & Event;
