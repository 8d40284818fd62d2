/**
 * What may be asked of a session. Time, ids and token estimates travel in the command: `decide` has no clock, no
 * randomness and no estimator of its own.
 */
import type {
  CompactionFailure,
  CompactionOptions,
  CompactionTrigger,
  EpochOp,
  FoldedPart,
  InlineWork,
  Receipt,
  SummaryPlan,
} from "./compaction-events";
import type { BranchLine, ForkedLine, ForkedView, QueuedMessage, SessionSettings, StopReason, TurnEvent, TurnFailure } from "./events";
import type { CompactionId, ExecutionId, ItemId, KeyId, OverlayId, SessionId, TenantId, TurnId } from "./ids";
import type { ItemDraft, ItemMeta, TextRef } from "./message";
import type { FinishReason } from "./model-call";
import type { CallRef } from "./open-calls";
import type { ToolRun } from "./tool-run";

export type OnBusy = "queue" | "reject" | "interrupt";
export type ModelCall = Omit<Extract<TurnEvent, { type: "ModelCallFinished" }>, "type">;

/** What a turn that ends in the middle of a model call leaves behind: what it had said, and the call itself. Null: there is none. */
export interface CutShort {
  readonly partial: ItemDraft | null;
  readonly call: ModelCall | null;
  /** Results for the calls of tools that were begun and whose end nobody will see; absent: there are none. */
  readonly lost?: readonly ToolRunDraft[];
}

/** The result of a call that ran here. */
export interface ToolRunDraft {
  readonly execution: ExecutionId;
  readonly item: ResultDraft;
  readonly is_error: boolean;
  readonly ran: ToolRun;
}

/** A call as the model made it, and who is to run it. */
export interface CalledTool {
  readonly item: ItemDraft;
  /** It runs here; absent: the client runs it. */
  readonly server?: true;
  readonly needs_approval?: true;
}

/** A person's answer. */
export interface ApprovalDraft {
  readonly execution: ExecutionId;
  /** What the model reads in place of a result; null: approved. */
  readonly denied: ResultDraft | null;
}

/** Which run of a turn a result belongs to: a result of another incarnation decides to nothing. */
export interface TurnRun {
  readonly turn: TurnId;
  readonly incarnation: string;
}

export type SessionCommand =
  | { readonly type: "OpenSession"; readonly tenant: TenantId; readonly session: SessionId; readonly settings: SessionSettings }
  | { readonly type: "ChangeSettings"; readonly changes: Partial<SessionSettings> }
  | { readonly type: "SetPins"; readonly pins: readonly TextRef[] }
  /** A call for a title, and what came of it: a title is set only where there is none. `tries`: how many were recorded before it. */
  | { readonly type: "RecordTitle"; readonly call: ModelCall; readonly title: TextRef | null; readonly tries: number }
  | { readonly type: "EraseSession" };

export type MessageCommand =
  | ({
      readonly type: "SubmitMessage";
      readonly message: QueuedMessage;
      /** The message is an imported result (`run: false`), and the call that it answers. Absent: it is no result. */
      readonly answers?: { readonly call_id: string; readonly is_error: boolean };
      readonly onBusy: OnBusy;
      readonly incarnation: string;
      /** Most messages that may wait. */
      readonly queueLimit: number;
      /** `CutShort`: of the running turn, should this message stop it. */
    } & CutShort)
  | { readonly type: "CancelQueued"; readonly message: ItemId };

export type TurnCommand =
  /** Takes the head of the queue, if nothing runs: messages to append, then the next turn. */
  | { readonly type: "StartTurn"; readonly incarnation: string }
  | ({
      readonly type: "RecordAssistant";
      readonly call: ModelCall;
      readonly reply: ItemDraft | null;
      readonly calls: readonly CalledTool[];
      readonly finish: FinishReason;
    } & TurnRun)
  /** A call that ended without ending the turn: it is made again, on a smaller view. */
  | ({ readonly type: "RecordCall"; readonly call: ModelCall } & TurnRun)
  | { readonly type: "RecordToolResults"; readonly incarnation: string; readonly results: readonly ToolResultDraft[] }
  /** Before a call of the turn takes effect outside. */
  | ({ readonly type: "StartTool"; readonly execution: ExecutionId } & TurnRun)
  /** A call that was about to run here is found to need a person's approval. */
  | ({ readonly type: "RequestApproval"; readonly execution: ExecutionId } & TurnRun)
  | ({ readonly type: "RecordToolRun"; readonly result: ToolRunDraft } & TurnRun)
  | { readonly type: "ResolveApprovals"; readonly incarnation: string; readonly approvals: readonly ApprovalDraft[] }
  | ({
      readonly type: "FailTurn";
      readonly failure: TurnFailure;
    } & TurnRun &
      CutShort)
  /** `turn` null: whichever runs. */
  | ({ readonly type: "StopTurn"; readonly turn: TurnId | null; readonly reason: StopReason } & CutShort)
  | { readonly type: "RetryTurn"; readonly turn: TurnId; readonly incarnation: string }
  /** The first thing a new incarnation says of a turn that an earlier one left open. */
  | ({ readonly type: "RecoverTurn"; readonly incarnation: string; readonly attemptLimit: number } & CutShort);

/** A result's item: what it is of comes from the call. */
export type ResultDraft = Omit<ItemDraft, "turn" | "tool" | "kind">;

/** A client's result, and the call that it names. */
export interface ToolResultDraft extends CallRef {
  readonly item: ResultDraft;
  readonly is_error: boolean;
  /** What the client says of how it went; absent: nothing. */
  readonly ran?: ToolRun;
}

/** What a compaction is going to cover, how, and what it was planned on. */
export interface CompactionPlanRef extends SummaryPlan {
  readonly base_epoch: number;
}

/** An epoch change ready to be committed, if nothing moved since it was planned. */
export interface EpochDraft {
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
    }
  | {
      readonly type: "LeaseCompaction";
      readonly compaction: CompactionId;
      readonly plan: CompactionPlanRef;
      readonly expiresAt: number;
      readonly attemptLimit: number;
      /** Inline work takes a running lease with a higher token (docs/design.md §5); null: a background worker's. */
      readonly inline: InlineWork | null;
    }
  | {
      readonly type: "ProgressCompaction";
      readonly compaction: CompactionId;
      readonly token: number;
      readonly expiresAt: number;
      readonly part: FoldedPart;
      readonly call: ModelCall;
    }
  | {
      readonly type: "RecordCompaction";
      readonly compaction: CompactionId;
      readonly token: number;
      readonly change: EpochDraft;
      readonly call: ModelCall | null;
      /** The turn that waits for it, inside which it takes effect; null: only between turns. */
      readonly inside: TurnRun | null;
    }
  | {
      readonly type: "FailCompaction";
      readonly compaction: CompactionId;
      /** Null: failed before or without a lease. */
      readonly token: number | null;
      readonly failure: CompactionFailure;
      readonly attemptLimit: number;
      readonly call: ModelCall | null;
      /** What leaves the view when this was the last attempt; null: nothing can. */
      readonly fallback: EpochDraft | null;
      /** As with `RecordCompaction`: the turn inside which the fallback may take effect. */
      readonly inside: TurnRun | null;
    }
  /** A summariser's call whose result comes to nothing: it was made, so the ledger has it, once. `part`: how many of the fold were done. */
  | { readonly type: "RecordSpentCall"; readonly call: ModelCall; readonly part: number }
  /** Inline work between a turn's model calls: no lease, the object itself is the only writer. */
  | { readonly type: "ChangeEpoch"; readonly compaction: CompactionId; readonly trigger: CompactionTrigger; readonly change: EpochDraft }
  /** Takes the newest compaction that stands back; `compaction` is the new event's own id. */
  | {
      readonly type: "RevertCompaction";
      readonly compaction: CompactionId;
      readonly reverts: CompactionId;
      readonly change: EpochDraft;
    }
  | { readonly type: "ResetSummary"; readonly compaction: CompactionId; readonly change: EpochDraft };

/** A new line that leaves the present one after position `to`, and what is said on it first. */
export interface RewindHistory {
  readonly type: "RewindHistory";
  readonly to: number;
  readonly items: readonly ItemMeta[];
  readonly line: BranchLine;
  readonly then:
    | { readonly do: "nothing" }
    | { readonly do: "ask"; readonly message: QueuedMessage; readonly incarnation: string }
    /** The message at `to` is answered again. `of`: the turn that answered it; null: none did. */
    | {
        readonly do: "answer";
        readonly turn: TurnId;
        readonly of: TurnId | null;
        readonly tools: TextRef | null;
        readonly incarnation: string;
      };
}

/** Content that leaves the record, and every text that was made from it (`summary-sources`). */
export interface RedactMessage {
  readonly type: "RedactMessage";
  readonly item: ItemId;
  readonly position: number;
  /** Raw weight of what stands in its place. */
  readonly tokens: number;
  /** Results of look-ups that quote it. */
  readonly quotes: readonly RedactedItem[];
  /** Summaries that were made from any of these and whose text is still there. */
  readonly texts: readonly OverlayId[];
  /** A model made the session's title from it. */
  readonly isTitleMadeFrom: boolean;
}

type RedactedItem = Pick<RedactMessage, "item" | "position" | "tokens">;

export type BranchCommand =
  | RewindHistory
  | { readonly type: "SwitchBranch"; readonly items: readonly ItemMeta[]; readonly line: BranchLine }
  | RedactMessage
  /** The first thing said in a session that is going to share another one's past. */
  | {
      readonly type: "BeginFork";
      readonly from: SessionId;
      readonly position: number;
      readonly view: ForkedView;
      readonly line: ForkedLine;
    }
  /** `aside`: something in the view stands for them. */
  | { readonly type: "CopyMessages"; readonly items: readonly ItemMeta[]; readonly aside: boolean }
  | { readonly type: "CompleteFork" };

/** Of a draft: a compaction that stops before its commit. */
export type DraftCommand =
  /** The summariser's result, kept instead of committed. */
  | {
      readonly type: "RecordDraft";
      readonly compaction: CompactionId;
      readonly token: number;
      readonly overlay: OverlayId;
      readonly summary: TextRef;
      readonly call: ModelCall;
    }
  /** `edits`: how often it had been edited when its editor read it. */
  | { readonly type: "EditDraft"; readonly compaction: CompactionId; readonly edits: number; readonly summary: TextRef; readonly by: KeyId }
  /** `edits`: of the text that `change` was drafted from. */
  | { readonly type: "CommitDraft"; readonly compaction: CompactionId; readonly edits: number; readonly change: EpochDraft }
  /** A question that was asked of a summary: the view has no part in it, and the ledger has its call. */
  | { readonly type: "RecordAnswer"; readonly call: ModelCall }
  /** Of a draft, or of one that is being made. */
  | { readonly type: "DiscardDraft"; readonly compaction: CompactionId };

/** `at`: epoch milliseconds. */
export type Command = { readonly at: number } & (
  | SessionCommand
  | MessageCommand
  | TurnCommand
  | CompactionCommand
  | DraftCommand
  | BranchCommand
);

export type CommandType = Command["type"];
export type CommandOf<T extends CommandType> = Extract<Command, { type: T }>;
