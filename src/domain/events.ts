/**
 * The session's facts, past tense. An event carries ids, kinds, sizes and numbers; text, arguments, results and
 * summaries live in bodies (docs/design.md §1.2), so that content can be erased while the log stays append-only.
 * Stored types are never renamed or removed; a new shape is a new version with an upcaster in `event-versions`.
 */
import type { CompactionEvent, CoveredRange, Overlay, Reduced } from "./compaction-events";
import type { DraftEvent } from "./draft-events";
import type { ExecutionId, ItemId, OverlayId, SessionId, TenantId, TurnId } from "./ids";
import type { ItemDraft, ItemMeta, TextRef } from "./message";
import type { AskedFor, CallPurpose, CallUsage, FailureKind, FinishReason } from "./model-call";
import type { ToolRun } from "./tool-run";

export interface SessionSettings {
  readonly model: string;
  /** A preset's name, or a choice of one with changes, as JSON text (`context/policy`). */
  readonly policy: string;
  readonly system: TextRef | null;
  readonly tools: TextRef | null;
  readonly title: TextRef | null;
  /** The client's own words, so content: a JSON object of strings. */
  readonly metadata: TextRef | null;
  /** Whether `memory_query` is offered where something is out of the view; absent: it is. */
  readonly recall?: boolean;
  /** The definition of `memory_query` names the session; absent: an older build's session, whose requests hold the definition without it. */
  readonly recall_names_session?: true;
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

/** A failure that a turn can end with: the model's, or our own refusal to send. */
export type TurnFailureKind = FailureKind | "cannot_fit" | "round_limit" | "storage_full" | "unknown_model" | "crashed" | "internal";

/** Bytes of a request, and the most that one may have. */
export interface ByteFit {
  readonly floor: number;
  readonly limit: number;
}

/** Why an overflow was refused before sending: the floor, the limit, and what weighs most, in tokens. */
export interface FitReport {
  readonly floor: number;
  readonly limit: number;
  /** `bytes`: where they are the reason. */
  readonly biggest: readonly { readonly what: string; readonly tokens: number; readonly bytes?: number | undefined }[];
  /** Bytes are the reason, of content that must stay; absent: tokens are. */
  readonly bytes?: ByteFit | undefined;
}

export interface TurnFailure {
  readonly kind: TurnFailureKind;
  readonly status: number | null;
  readonly fit?: FitReport;
  /** The request's body, which was not sent because it was larger than any may be; absent: that was not the reason. */
  readonly bytes?: ByteFit;
  /** Tokens that the provider says would fit: of the request (`overflow`), of the reply (`output_cap`); absent: it did not say. */
  readonly limit?: number;
  /** Milliseconds that the provider asked to wait when it was last asked; absent: it did not say. */
  readonly retry_after_ms?: number;
}

/** How a model call ended. `stale`: a summary came too late, or for a view that is no more; it was paid for all the same. */
export type CallOutcome = FinishReason | TurnFailureKind | "stale";

export type TurnStatus = "completed" | "failed" | "stopped" | "interrupted";

export interface LastTurn {
  readonly id: TurnId;
  readonly status: TurnStatus;
  readonly failure: TurnFailure | null;
  readonly stop_reason: StopReason | null;
  /** What it was offered in place of the session's tools: a retry is offered the same. */
  readonly tools: TextRef | null;
}

/** The line that an event makes the present one, and what the model then reads of it. */
export interface BranchLine {
  readonly branch: number;
  readonly elsewhere: readonly CoveredRange[];
  /** What a retry took back on it. Absent: written by an older build, which kept one list for all lines. */
  readonly taken_back?: readonly CoveredRange[];
  /** Messages of people and models on it. */
  readonly messages: number;
  readonly last_turn: LastTurn | null;
  readonly overlays: readonly Overlay[];
  readonly reduced: readonly Reduced[];
  /** Positions of the view as it was that stay; what comes back beside them travels in the event. */
  readonly keeps: readonly CoveredRange[];
  /** The view is the beginning of what it was: what a provider signed in it goes back as before. */
  readonly continues: boolean;
}

export type SessionEvent =
  | { readonly type: "SessionOpened"; readonly tenant: TenantId; readonly session: SessionId; readonly settings: SessionSettings }
  | { readonly type: "SettingsChanged"; readonly changes: Partial<SessionSettings> }
  | { readonly type: "PinsSet"; readonly pins: readonly TextRef[] }
  /** What follows of `from` was said there, up to its `position`. `view`: what already stood for the oldest of it; absent: nothing. `line`: which items; absent: all, and all are shown. */
  | {
      readonly type: "SessionForked";
      readonly from: SessionId;
      readonly position: number;
      readonly view?: ForkedView;
      readonly line?: ForkedLine;
    }
  /** All of it is copied: from here on the session is one like any other. */
  | { readonly type: "ForkCompleted" }
  | { readonly type: "SessionErased" };

export type MessageEvent =
  /** `aside`: they enter the record and not the view, where something stands for them already (a fork). */
  | {
      readonly type: "MessagesAppended";
      readonly items: readonly ItemMeta[];
      readonly dequeued: readonly ItemId[];
      readonly aside?: true;
    }
  | { readonly type: "MessageQueued"; readonly message: QueuedMessage; readonly front: boolean }
  | { readonly type: "QueuedMessageCancelled"; readonly message: ItemId; readonly turn: TurnId | null }
  /** `texts`: every summary that was made from it, in the view or not; absent: an older build's, those whose range has its position. */
  | {
      readonly type: "MessageRedacted";
      readonly item: ItemId;
      readonly position: number;
      readonly texts?: readonly OverlayId[];
      /** Raw weight of what stands in its place. Absent: an older build wrote it, and the item weighs what it was recorded with. */
      readonly tokens?: number;
    }
  /** A new line of the conversation, which leaves the present one after position `to`. `items`: what comes back into the view beside `line.keeps`. */
  | { readonly type: "HistoryRewound"; readonly to: number; readonly items: readonly ItemMeta[]; readonly line?: BranchLine }
  /** A line that was left before goes on. */
  | { readonly type: "BranchSwitched"; readonly items: readonly ItemMeta[]; readonly line: BranchLine };

/** What stands in a fork for the oldest of what it shares. */
export interface ForkedView {
  readonly overlays: readonly Overlay[];
  readonly reduced: readonly Reduced[];
  /** What each summary among them was made from, as the copy counts; absent: an older build's, and anything up to its end. */
  readonly reads?: readonly { readonly overlay: OverlayId; readonly ranges: readonly CoveredRange[] }[];
}

/** As the source counts, when the copy began. */
export interface ForkedLine {
  readonly elsewhere: readonly CoveredRange[];
  readonly shown: readonly CoveredRange[];
}

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
      /** What this call paid to read again what a compaction would have removed (docs/policy.md, rent); absent: nothing. */
      readonly rent?: number;
      /** Fencing token of the compaction that it was made for; null: for none. */
      readonly lease: number | null;
      /** What the registry said that the model's ratio starts with; absent: 1. */
      readonly ratio?: number;
      /** US dollars, by the prices of the moment; absent: unknown, which is never free. */
      readonly cost?: number;
      /** What its request is rebuilt from; absent: no turn's call, or an older build's. */
      readonly asked?: AskedFor;
    }
  | { readonly type: "AssistantReplied"; readonly turn: TurnId; readonly item: ItemMeta }
  /** `server`: it runs here; absent: the client owes its result. */
  | { readonly type: "ToolCalled"; readonly turn: TurnId; readonly item: ItemMeta; readonly server?: true }
  /** Written before anything of it can take effect outside: what was started and has no result may have happened. */
  | { readonly type: "ToolStarted"; readonly turn: TurnId; readonly execution: ExecutionId; readonly incarnation: string }
  /** `ran`: how it went; absent: nothing more is known than the result. */
  | {
      readonly type: "ToolResultRecorded";
      readonly turn: TurnId;
      readonly item: ItemMeta;
      readonly incarnation: string;
      readonly ran?: ToolRun;
    }
  | { readonly type: "ApprovalRequested"; readonly turn: TurnId; readonly execution: ExecutionId }
  /** What was approved runs in this life of the object; what was not is followed by its result. */
  | {
      readonly type: "ApprovalResolved";
      readonly turn: TurnId;
      readonly execution: ExecutionId;
      readonly approved: boolean;
      readonly incarnation: string;
    }
  | { readonly type: "TurnCompleted"; readonly turn: TurnId; readonly finish: FinishReason }
  | { readonly type: "TurnFailed"; readonly turn: TurnId; readonly failure: TurnFailure }
  | { readonly type: "TurnStopped"; readonly turn: TurnId; readonly reason: StopReason }
  | { readonly type: "TurnInterrupted"; readonly turn: TurnId };

export type StopReason = "requested" | "interrupted_by_message" | "superseded" | "tools_expired";

export type Event = SessionEvent | MessageEvent | TurnEvent | CompactionEvent | DraftEvent;
export type EventType = Event["type"];

/** An event in its place in the log. `seq` counts from 1 without gaps; `at` is epoch milliseconds. */
export type StoredEvent = { readonly seq: number; readonly at: number } & Event;
export type EventOf<T extends EventType> = Extract<StoredEvent, { type: T }>;
