/**
 * The session's events, named in the past tense. An event carries ids, kinds, sizes and numbers. Text, arguments,
 * results and summaries live in bodies (docs/events.md), so that content can be erased while the log stays
 * append-only. Stored types are never renamed or removed; a new shape is a new version with an upcaster in `upcasters`.
 */
import type { CompactionEvent, CoveredRange, Overlay, Reduced } from "./compaction-events";
import type { DraftEvent } from "./draft-events";
import type { BodyId, ExecutionId, ItemId, KeyId, OverlayId, SessionId, TenantId, TurnId } from "./ids";
import type { ItemMeta, NewItem, PinRef, TextRef } from "./message";
import type { AskedFor, CallPurpose, CallReservation, CallUsage, FailureKind, FinishReason, ReportedNames } from "./model-call";
import type { ScheduleEvent } from "./schedule-events";
import type { ToolRun } from "./tool-run";

export interface SessionSettings {
  readonly model: string;
  /** A preset's name, or a preset with changes as JSON text (`context/policy`). */
  readonly policy: string;
  readonly system: TextRef | null;
  readonly tools: TextRef | null;
  readonly title: TextRef | null;
  /** The client's metadata: a JSON object of strings. It is stored as a body, because it is content. */
  readonly metadata: TextRef | null;
  /** The client's own id of the session, as a body. The tenant's directory owns it; this is a copy. Absent: none. */
  readonly external_id?: TextRef | null;
  /** The client's id of the person who talks, as a body. Absent: none. */
  readonly end_user?: TextRef | null;
  /** Whether `memory_query` is offered when something is out of the view. Absent: it is. */
  readonly recall?: boolean;
  /** The session's own instructions for summaries. Absent or null: the policy's apply. */
  readonly summary_instructions?: TextRef | null;
  /** The instructions of the policy (`summary.instructions`), which `policy` leaves out because they are content. Absent or null: none. */
  readonly policy_instructions?: TextRef | null;
  /** The session's generation settings (`context/generation`) as JSON. Absent or null: none. */
  readonly generation?: TextRef | null;
  /** The session serves one request of a stateless API. No list has it, and it erases itself. Absent: it stays. */
  readonly throwaway?: true;
}

/** What a turn is asked with in place of the session's settings. Absent: the session's. */
export interface TurnChoices {
  /** Generation settings as JSON, merged field by field over the session's. */
  readonly generation?: TextRef;
  readonly model?: string;
  /** The system prompt. An empty text: the turn has none. */
  readonly system?: TextRef;
  /** The client's own text about the turn, which no model reads. A session has no such text: absent means none. */
  readonly note?: TextRef;
  /** The API key that asked for the turn, or made the access token that did. Absent: none did. */
  readonly key?: KeyId;
  /** The model reads the whole conversation: nothing leaves the view, and the turn fails where that does not fit. Absent: it is compacted. */
  readonly whole?: true;
}

/** A message that waits in the session's durable FIFO queue. */
export interface QueuedMessage extends TurnChoices {
  readonly item: NewItem;
  /** The items of an imported message after its first: the calls of a reply. */
  readonly rest: readonly NewItem[];
  /** The turn that the message will start. Null when it is only to be appended (`run: false`). */
  readonly turn: TurnId | null;
  /** Tools for this turn only, in place of the session's. */
  readonly tools: TextRef | null;
  /** The message goes before all others, but behind earlier interruptions. Absent: it waits behind all others, or an older build queued it. */
  readonly interrupts?: true;
}

/** The failures that a turn can end with: the model's, and this backend's own. */
export type TurnFailureKind =
  | FailureKind
  | "cannot_fit"
  | "round_limit"
  | "no_progress"
  | "budget"
  | "suspended"
  | "storage_full"
  | "unknown_model"
  | "crashed"
  | "internal";

/** The size of a request or of its unremovable content (`floor`), and the maximum size of a request, in bytes. */
export interface ByteFit {
  readonly floor: number;
  readonly limit: number;
}

/** Why a request was refused before it was sent: the floor, the limit and the largest items, in tokens. */
export interface FitReport {
  readonly floor: number;
  readonly limit: number;
  /** `bytes`: set where bytes are the reason. */
  readonly biggest: readonly { readonly what: string; readonly tokens: number; readonly bytes?: number | undefined }[];
  /** Set when the content that must stay has too many bytes. Absent: tokens are the reason. */
  readonly bytes?: ByteFit | undefined;
}

export interface TurnFailure {
  readonly kind: TurnFailureKind;
  readonly status: number | null;
  readonly fit?: FitReport;
  /** Set when the request's body was not sent because it exceeded the maximum size. Absent: that was not the reason. */
  readonly bytes?: ByteFit;
  /**
   * Tokens that the provider says would fit: of the request (`overflow`) or of the reply (`output_cap`). Absent: the
   * provider did not say.
   */
  readonly limit?: number;
  /** Milliseconds that the provider asked the caller to wait, on the last attempt. Absent: the provider did not say. */
  readonly retry_after_ms?: number;
  /** The provider's own names for the failure. Absent: it gave none that looks like an identifier. */
  readonly reported?: ReportedNames;
}

/** How a model call ended. `stale`: a summary arrived too late, or for a view that has changed. The call still costs what it cost. */
export type CallOutcome = FinishReason | TurnFailureKind | "stale";

export type TurnStatus = "completed" | "failed" | "stopped" | "interrupted";

/** A retry is asked with the same choices. */
export interface LastTurn extends TurnChoices {
  readonly id: TurnId;
  readonly status: TurnStatus;
  readonly failure: TurnFailure | null;
  readonly stop_reason: StopReason | null;
  /** The tools that the turn was offered in place of the session's. A retry is offered the same. */
  readonly tools: TextRef | null;
}

/** The branch that an event makes the current one, and what the model then reads of it. */
export interface BranchLine {
  readonly branch: number;
  readonly elsewhere: readonly CoveredRange[];
  /** Positions of cut-off replies that a retry took back on this branch. */
  readonly taken_back: readonly CoveredRange[];
  /** Number of messages by people and models on the branch. */
  readonly messages: number;
  readonly last_turn: LastTurn | null;
  readonly overlays: readonly Overlay[];
  readonly reduced: readonly Reduced[];
  /** Positions that stay from the previous view. Items that come back beside them travel in the event. */
  readonly keeps: readonly CoveredRange[];
  /** Whether the view is a prefix of the previous one. If so, providers get back what they signed in it, as before. */
  readonly continues: boolean;
}

export type SessionEvent =
  | { readonly type: "SessionOpened"; readonly tenant_id: TenantId; readonly session: SessionId; readonly settings: SessionSettings }
  | { readonly type: "SettingsChanged"; readonly changes: Partial<SessionSettings> }
  | { readonly type: "PinsSet"; readonly pins: readonly PinRef[] }
  /**
   * Begins a fork of `from`: the items that follow are copied from it, up to `position`. `view`: the overlays and
   * reductions that the fork starts with; absent: none. `line`: which items are copied and shown; absent: all of them.
   */
  | {
      readonly type: "SessionForked";
      readonly from: SessionId;
      readonly position: number;
      readonly view?: ForkedView;
      readonly line?: ForkedLine;
    }
  /** Everything is copied. From here on the fork is an ordinary session. */
  | { readonly type: "ForkCompleted" }
  /** Takes the session out of the default list, and changes nothing else. `cause`: a rule of the tenant's retention. Absent: a request. */
  | { readonly type: "SessionArchived"; readonly cause?: "retention" }
  /** A request brought the session back, or a message or a change did, in the same decision. */
  | { readonly type: "SessionUnarchived" }
  /** `cause`: a rule of the tenant's retention. Absent: a request. */
  | { readonly type: "SessionErased"; readonly cause?: "retention" };

export type MessageEvent =
  /** `aside`: the items enter the record only, because an overlay in the view already covers them (in a fork). */
  | {
      readonly type: "MessagesAppended";
      readonly items: readonly ItemMeta[];
      readonly dequeued: readonly ItemId[];
      readonly aside?: true;
    }
  | { readonly type: "MessageQueued"; readonly message: QueuedMessage; readonly front: boolean }
  | { readonly type: "QueuedMessageCancelled"; readonly message: ItemId; readonly turn: TurnId | null }
  /** `texts`: every summary that was made from the item, in the view or not. */
  | {
      readonly type: "MessageRedacted";
      readonly item: ItemId;
      readonly position: number;
      readonly texts: readonly OverlayId[];
      /** Raw weight of the placeholder that is left. */
      readonly tokens: number;
      /** A rule of the tenant's about the age of tool results. Absent: a request. */
      readonly cause?: "retention";
    }
  /** Starts a new branch that leaves the current one after position `to`. `items`: what comes back into the view beside `line.keeps`. */
  | { readonly type: "HistoryRewound"; readonly to: number; readonly items: readonly ItemMeta[]; readonly line: BranchLine }
  /** Makes a branch that was left before the current one again. */
  | { readonly type: "BranchSwitched"; readonly items: readonly ItemMeta[]; readonly line: BranchLine };

/** What a fork's view shows in place of the oldest items that it shares. */
export interface ForkedView {
  readonly overlays: readonly Overlay[];
  readonly reduced: readonly Reduced[];
  /** The positions that each of these summaries was made from, as the fork numbers them. */
  readonly reads: readonly { readonly overlay: OverlayId; readonly ranges: readonly CoveredRange[] }[];
  /** The position up to which a model read what it made the fork's first title from. Absent: no model made it. */
  readonly title_read_to?: number;
}

/** Positions as the source session numbered them when the copy began. */
export interface ForkedLine {
  readonly elsewhere: readonly CoveredRange[];
  readonly shown: readonly CoveredRange[];
  /** The source's newest event when the copy began. What was redacted later is redacted in the copy too. Absent: an older build began the copy. */
  readonly seq?: number;
}

export type TurnEvent =
  | ({
      readonly type: "TurnStarted";
      readonly turn: TurnId;
      readonly incarnation: string;
      /** Counts from 1. A turn that runs again after a crash keeps its id and has the next number. */
      readonly attempt: number;
      /** The message that starts the turn. Null where it is already recorded: on a further attempt, on a retry, and behind imported results. */
      readonly item: ItemMeta | null;
      readonly tools: TextRef | null;
      readonly retry_of: TurnId | null;
    } & TurnChoices)
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
      /** Milliseconds from the request to its end. 0 when the end was not observed. */
      readonly ms: number;
      /** What this call paid to re-read tokens that a compaction would have removed (docs/policy.md, rule 1). Absent: nothing. */
      readonly rent?: number;
      /** Fencing token of the compaction that the call was made for. Null when it was made for none. */
      readonly lease: number | null;
      /** The registry's initial value for the model's estimate ratio. Absent: 1. */
      readonly ratio?: number;
      /** US dollars, by the prices at the time of the call. Absent: unknown, which must not be read as free. */
      readonly cost?: number;
      /** What the request can be rebuilt from. Absent: the call was not a turn's. */
      readonly asked?: AskedFor;
      /** The API key that the call is counted for (`call-owner`). Absent: none is known. */
      readonly key?: KeyId;
      /** The body with the session's end user at the time of the call. Absent: the session had none. */
      readonly end_user?: BodyId;
      /** Absent: no budget counted the call. */
      readonly reservation?: CallReservation;
    }
  | { readonly type: "AssistantReplied"; readonly turn: TurnId; readonly item: ItemMeta }
  /** `server`: the server runs the call. Absent: the client must send its result. */
  | { readonly type: "ToolCalled"; readonly turn: TurnId; readonly item: ItemMeta; readonly server?: true; readonly cut?: true }
  /** Written before the call can take effect outside. A call that was started and has no result may have happened. */
  | { readonly type: "ToolStarted"; readonly turn: TurnId; readonly execution: ExecutionId; readonly incarnation: string }
  /** `ran`: how the execution went. Absent: nothing is known beyond the result. */
  | {
      readonly type: "ToolResultRecorded";
      readonly turn: TurnId;
      readonly item: ItemMeta;
      readonly incarnation: string;
      readonly ran?: ToolRun;
    }
  | { readonly type: "ApprovalRequested"; readonly turn: TurnId; readonly execution: ExecutionId }
  /** An approved call runs in this incarnation of the object. A denied call is followed by its result. */
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

export type Event = SessionEvent | MessageEvent | TurnEvent | CompactionEvent | DraftEvent | ScheduleEvent;
export type EventType = Event["type"];

/** An event at its place in the log. `seq` counts from 1 without gaps; `at` is epoch milliseconds. */
export type StoredEvent = { readonly seq: number; readonly at: number } & Event;
export type EventOf<T extends EventType> = Extract<StoredEvent, { type: T }>;
