/** The commands that a session accepts. Time, ids and estimates travel in them: `decide` has no clock, randomness or estimator. */
import type {
  ChunkProgress,
  CompactionFailure,
  CompactionOptions,
  CompactionTrigger,
  EpochOp,
  InlineWork,
  SummaryPlan,
} from "./compaction-events";
import type {
  BranchLine,
  ForkedLine,
  ForkedView,
  QueuedMessage,
  SessionSettings,
  StopReason,
  TurnChoices,
  TurnEvent,
  TurnFailure,
} from "./events";
import type { CompactionId, ExecutionId, ItemId, KeyId, OverlayId, SessionId, TenantId, TurnId } from "./ids";
import type { ItemMeta, NewItem, PinRef, TextRef } from "./message";
import type { MessageLimit, SubmitLimits } from "./message-limit";
import type { FinishReason } from "./model-call";
import type { CallRef, ImportedMessage } from "./open-calls";
import type { Receipt } from "./receipt";
import type { ScheduleCommand } from "./schedule-events";
import type { ToolRun } from "./tool-run";

export type OnBusy = "queue" | "reject" | "interrupt";
export type ModelCall = Omit<Extract<TurnEvent, { type: "ModelCallFinished" }>, "type">;

/** What a turn leaves behind when it ends during a model call: the partial reply and the call. Null when there is none. */
export interface CutShort {
  readonly partial: NewItem | null;
  readonly call: ModelCall | null;
  /** Results for tool calls that were started and whose end will not be observed. Absent: there are none. */
  readonly lost?: readonly NewToolRun[];
}
/** The result of a call that the server ran. */
export interface NewToolRun {
  readonly execution: ExecutionId;
  readonly item: NewResult;
  readonly is_error: boolean;
  readonly ran: ToolRun;
}

/** A call as the model made it, and who must run it. */
export interface CalledTool {
  readonly item: NewItem;
  /** The server runs the call. Absent: the client runs it. */
  readonly server?: true;
  /** The reply's limit cut the call off. It is not run, and its result says so. Absent: it is whole. */
  readonly cut?: true;
  readonly needs_approval?: true;
}

/** A person's answer to a request for approval. */
export interface NewApproval {
  readonly execution: ExecutionId;
  /** What the model reads in place of a result. Null when the call is approved. */
  readonly denied: NewResult | null;
}

/** The run of a turn that a result belongs to. A result of another incarnation is rejected as stale. */
export interface TurnRun {
  readonly turn: TurnId;
  readonly incarnation: string;
}

export type SessionCommand =
  | { readonly type: "OpenSession"; readonly tenant: TenantId; readonly session: SessionId; readonly settings: SessionSettings }
  | { readonly type: "ChangeSettings"; readonly changes: Partial<SessionSettings> }
  | { readonly type: "SetPins"; readonly pins: readonly PinRef[] }
  /**
   * Records a call for a title, and its result. The title is set only where the session has none. `tries`: how many
   * calls for a title were recorded before.
   */
  | { readonly type: "RecordTitle"; readonly call: ModelCall; readonly title: TextRef | null; readonly tries: number }
  | { readonly type: "ArchiveSession"; readonly cause?: "retention" }
  | { readonly type: "UnarchiveSession" }
  | { readonly type: "EraseSession"; readonly cause?: "retention" };

export type MessageCommand =
  | ({
      readonly type: "SubmitMessage";
      readonly message: QueuedMessage;
      /** Set when the message is an imported result (`run: false`): the call that it answers. Absent: the message is no result. */
      readonly answers?: { readonly call_id: string; readonly is_error: boolean };
      readonly onBusy: OnBusy;
      readonly incarnation: string;
      /** `CutShort`: what the running turn leaves behind, if this message stops it. */
    } & CutShort &
      SubmitLimits)
  /** Appends messages without turns, all or none. Results answer imported calls, also those of the same command. */
  | ({ readonly type: "ImportMessages"; readonly messages: readonly ImportedMessage[] } & MessageLimit)
  | { readonly type: "CancelQueued"; readonly message: ItemId };

export type TurnCommand =
  /** Takes messages from the head of the queue, if no turn is open: appends those without a turn, then starts the next turn. */
  | { readonly type: "StartTurn"; readonly incarnation: string }
  | ({
      readonly type: "RecordAssistant";
      readonly call: ModelCall;
      readonly reply: NewItem | null;
      readonly calls: readonly CalledTool[];
      readonly finish: FinishReason;
    } & TurnRun)
  /** Records a model call that failed or ended without ending the turn, which then makes another one. */
  | ({ readonly type: "RecordCall"; readonly call: ModelCall } & TurnRun)
  | { readonly type: "RecordToolResults"; readonly incarnation: string; readonly results: readonly NewToolResult[] }
  /** Written before the server starts a tool call, whose effects outside may then happen. */
  | ({ readonly type: "StartTool"; readonly execution: ExecutionId } & TurnRun)
  /** Asks a person to approve a call that the server was about to run. */
  | ({ readonly type: "RequestApproval"; readonly execution: ExecutionId } & TurnRun)
  | ({ readonly type: "RecordToolRun"; readonly result: NewToolRun } & TurnRun)
  | { readonly type: "ResolveApprovals"; readonly incarnation: string; readonly approvals: readonly NewApproval[] }
  | ({ readonly type: "FailTurn"; readonly failure: TurnFailure } & TurnRun & CutShort)
  /** `turn`: null stops whichever turn is open. */
  | ({ readonly type: "StopTurn"; readonly turn: TurnId | null; readonly reason: StopReason } & CutShort)
  /** Absent `choices` and `tools`: what the last turn was asked with. */
  | ({ readonly type: "RetryTurn"; readonly choices?: TurnChoices; readonly tools?: TextRef | null } & TurnRun)
  /** Starts a turn without a message: it answers imported results. */
  | ({ readonly type: "AnswerResults"; readonly choices: TurnChoices; readonly tools: TextRef | null } & TurnRun)
  /** The first command of a new incarnation for a turn that an earlier one left open. */
  | ({ readonly type: "RecoverTurn"; readonly incarnation: string; readonly stallLimit: number } & CutShort);

/** The item of a result. Its turn, tool and kind come from the call. */
export type NewResult = Omit<NewItem, "turn" | "tool" | "kind">;

/** A client's result, and the call that it names. */
export interface NewToolResult extends CallRef {
  readonly item: NewResult;
  readonly is_error: boolean;
  /** What the client reports about the execution. Absent: nothing. */
  readonly ran?: ToolRun;
}

/** The plan of a compaction, and the epoch that it was planned on. */
export interface CompactionPlanRef extends SummaryPlan {
  readonly base_epoch: number;
}

/** An epoch change that is ready to be committed, if the epoch has not moved since it was planned. */
export interface EpochChange {
  readonly base_epoch: number;
  readonly ops: readonly EpochOp[];
  readonly receipt: Receipt;
}

export type CompactionCommand =
  | {
      readonly type: "RequestCompaction";
      readonly compaction: CompactionId;
      readonly trigger: CompactionTrigger;
      readonly options: CompactionOptions | null;
      readonly key?: KeyId;
    }
  | {
      readonly type: "LeaseCompaction";
      readonly compaction: CompactionId;
      readonly plan: CompactionPlanRef;
      readonly expiresAt: number;
      readonly attemptLimit: number;
      /** Inline work takes over a running lease with a higher token (docs/compaction-protocol.md). Null for a background worker. */
      readonly inline: InlineWork | null;
    }
  | {
      readonly type: "ProgressCompaction";
      readonly compaction: CompactionId;
      readonly token: number;
      readonly expiresAt: number;
      readonly part: ChunkProgress;
      readonly call: ModelCall;
    }
  | {
      readonly type: "RecordCompaction";
      readonly compaction: CompactionId;
      readonly token: number;
      readonly change: EpochChange;
      readonly call: ModelCall | null;
      /** The turn that waits for the compaction and inside which it takes effect. Null: it takes effect only between turns. */
      readonly inside: TurnRun | null;
    }
  | {
      readonly type: "FailCompaction";
      readonly compaction: CompactionId;
      /** Null when the compaction failed before or without a lease. */
      readonly token: number | null;
      readonly failure: CompactionFailure;
      readonly attemptLimit: number;
      readonly call: ModelCall | null;
      /** What leaves the view if this was the last attempt. Null when nothing can. */
      readonly fallback: EpochChange | null;
      /** The turn inside which the fallback may take effect, as in `RecordCompaction`. */
      readonly inside: TurnRun | null;
    }
  /**
   * Records a summariser's call whose result is not used, so that the ledger has it exactly once. `part`: how many
   * parts were done before it.
   */
  | { readonly type: "RecordSpentCall"; readonly call: ModelCall; readonly part: number }
  /** Changes the view between a turn's model calls. It needs no lease, because the object is the only writer. */
  | { readonly type: "ChangeEpoch"; readonly compaction: CompactionId; readonly trigger: CompactionTrigger; readonly change: EpochChange }
  /** Takes back the newest committed compaction. `compaction` is the id of the new event. */
  | {
      readonly type: "RevertCompaction";
      readonly compaction: CompactionId;
      readonly reverts: CompactionId;
      readonly change: EpochChange;
    }
  | { readonly type: "ResetSummary"; readonly compaction: CompactionId; readonly change: EpochChange };

/** Starts a new branch that leaves the current one after position `to`, and optionally its first turn. */
export interface RewindHistory {
  readonly type: "RewindHistory";
  readonly to: number;
  readonly items: readonly ItemMeta[];
  readonly line: BranchLine;
  readonly then:
    | { readonly do: "nothing" }
    | ({ readonly do: "ask"; readonly message: QueuedMessage; readonly incarnation: string } & MessageLimit)
    /** Answers the message at `to` again. `of`: the turn that answered it before; null when none did. */
    | {
        readonly do: "answer";
        readonly turn: TurnId;
        readonly of: TurnId | null;
        readonly tools: TextRef | null;
        readonly choices: TurnChoices;
        readonly incarnation: string;
      };
}

/** Removes the content of items from the record, and every text that was made from them (`summary-sources`). */
export interface RedactMessage {
  readonly type: "RedactMessage";
  /** The named item, and the calls of the message that it begins. */
  readonly items: readonly RedactedItem[];
  /** Results of look-ups that quote these items. */
  readonly quotes: readonly RedactedItem[];
  /** Summaries that were made from any of these items and whose text still exists. */
  readonly texts: readonly OverlayId[];
  /** Whether a model made the session's title from any of these items. */
  readonly isTitleMadeFrom: boolean;
}

/** One page of a copy. */
interface CopyMessages {
  readonly type: "CopyMessages";
  readonly items: readonly ItemMeta[];
  /** An overlay in the view covers the items, so they enter the record only. */
  readonly aside: boolean;
  /** Those of the items that were redacted in the source. */
  readonly redacted?: readonly ItemId[];
  /**
   * What was redacted in the source since the copy began. `items`: of these positions, those that are in the record already. Absent: nothing.
   */
  readonly later?: Pick<RedactMessage, "items" | "texts" | "isTitleMadeFrom"> & { readonly positions: readonly number[] };
}

export interface RedactedItem {
  readonly item: ItemId;
  readonly position: number;
  /** Raw weight of the placeholder that is left. */
  readonly tokens: number;
  /** The item was redacted before. */
  readonly isRedacted: boolean;
}

export type BranchCommand =
  | RewindHistory
  | { readonly type: "SwitchBranch"; readonly items: readonly ItemMeta[]; readonly line: BranchLine }
  | RedactMessage
  /** Removes the content of tool results by their age. What was made from them stays: summaries, the title, pins. */
  | { readonly type: "ExpireResults"; readonly items: readonly Omit<RedactedItem, "isRedacted">[] }
  /** The first command of a session that will share the past of another one. */
  | {
      readonly type: "BeginFork";
      readonly from: SessionId;
      readonly position: number;
      readonly view: ForkedView;
      readonly line: ForkedLine;
    }
  | CopyMessages
  | { readonly type: "CompleteFork" };

/** Commands about a draft: a compaction that stops before its commit. */
export type DraftCommand =
  /** Keeps the summariser's result as a draft instead of committing it. */
  | {
      readonly type: "RecordDraft";
      readonly compaction: CompactionId;
      readonly token: number;
      readonly overlay: OverlayId;
      readonly summary: TextRef;
      readonly call: ModelCall;
    }
  /** `edits`: how often the draft had been edited when its editor read it. */
  | { readonly type: "EditDraft"; readonly compaction: CompactionId; readonly edits: number; readonly summary: TextRef; readonly by: KeyId }
  /** `edits`: how often the text that `change` was made from had been edited. */
  | { readonly type: "CommitDraft"; readonly compaction: CompactionId; readonly edits: number; readonly change: EpochChange }
  /** Records the model call of a question about a summary. It changes nothing in the view. */
  | { readonly type: "RecordAnswer"; readonly call: ModelCall }
  /** Discards a draft, or a compaction that is still producing one. */
  | { readonly type: "DiscardDraft"; readonly compaction: CompactionId };

/** `at`: epoch milliseconds. */
export type Command = { readonly at: number } & (
  | SessionCommand
  | MessageCommand
  | TurnCommand
  | CompactionCommand
  | DraftCommand
  | BranchCommand
  | ScheduleCommand
);

export type CommandType = Command["type"];
export type CommandOf<T extends CommandType> = Extract<Command, { type: T }>;
