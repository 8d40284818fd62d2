/** What `http` and `queue` may ask of a session, all plain data. Every call names the tenant of the caller's key, which the object compares. */

import type { GenerationChoice } from "../context/generation";
import type { Quirks } from "../context/model-quirks";
import type { PolicyChoice } from "../context/policy-choice";
import type { CompactionView } from "../contract/compaction";
import type { ContextReport } from "../contract/context";
import type { ExecutionView } from "../contract/execution";
import type { Accepted, DisplayItem, ImportedMessages } from "../contract/item";
import type { LedgerRow } from "../contract/model-call";
import type { Page } from "../contract/page";
import type { RecallReport } from "../contract/recall";
import type { ErasureReceipt, SessionDescription } from "../contract/session";
import type { TurnReport } from "../contract/turn";
import type { OnBusy } from "../domain/commands";
import type { CompactionFailure } from "../domain/compaction-events";
import type { FitReport, StoredEvent } from "../domain/events";
import type { BodyId, CompactionId, ExecutionId, ItemId, KeyId, SessionId, TenantId, TurnId } from "../domain/ids";
import type { Restriction } from "../domain/key-restriction";
import type { Part, ToolDefinition } from "../domain/message";
import type { CallReservation, CallUsage, FinishReason } from "../domain/model-call";
import type { Rejection } from "../domain/rejection";
import type { Result } from "../lib/result";
import type { Act } from "./audit-chain";
import type { BudgetRefusal } from "./budget-ports";
import type { ChunkRequest, NextChunk } from "./chunk-request";
import type { Condition, UnmetCondition } from "./conditions";
import type { ToolArtifact } from "./ports";
import type { MessageList, WrittenMessage } from "./written-message";

/** Why a manual change of the view was refused, beside the domain's rejections. */
type ControlError =
  /** The restored view, with the items added since, would exceed a request's limit. */
  | { readonly code: "would_not_fit"; readonly tokens: number; readonly limit: number }
  /** More items would come back than one change can carry. */
  | { readonly code: "too_many_items"; readonly items: number }
  /** The draft's summary would not make the next request smaller. The figures are the request's tokens before and after. */
  | { readonly code: "not_smaller"; readonly tokens_before: number; readonly tokens_after: number };

/** Why a call was refused: the domain's rejections, and refusals by the session's object. */
export type SessionError =
  | Rejection
  | ControlError
  | { readonly code: "idempotency_conflict" }
  | UnmetCondition
  | BudgetRefusal
  | { readonly code: "unknown_model"; readonly model: string }
  /** The model registry is unreachable. Nothing was changed, and the same request may succeed later. */
  | { readonly code: "models_unavailable" }
  | { readonly code: "turn_not_found"; readonly turn: string }
  | { readonly code: "compaction_not_found"; readonly compaction: string }
  /** The turn has made no model call, or fewer than asked for. `calls`: how many it made; `call`: the one asked for, null for the last. */
  | { readonly code: "request_not_found"; readonly turn: string; readonly call: number | null; readonly calls: number }
  /** This build does not have the provider's request format any more. */
  | { readonly code: "request_unknown"; readonly model: string }
  | { readonly code: "message_not_found"; readonly message: string }
  /** `message`: has the client's id already. `index`: of several messages, the one at fault. `list`: the field with them; absent: `items`. */
  | { readonly code: "client_id_taken"; readonly message: string; readonly index?: number; readonly list?: MessageList }
  | { readonly code: "branch_not_found"; readonly branch: number }
  | { readonly code: "cannot_fit"; readonly fit: FitReport }
  /** The result exists, and is larger than one answer may be. `characters`: its UTF-16 units; `limit`: the most that are allowed. */
  | { readonly code: "context_too_large"; readonly characters: number; readonly limit: number }
  /** `field` is named as the client wrote it: `system`, `results.0.output`. */
  | { readonly code: "invalid"; readonly field: string; readonly detail: string };

export type Outcome<T> = Result<T, SessionError>;

/** The caller's tenant and the requested session. */
export interface Caller {
  readonly tenant: TenantId;
  readonly session: SessionId;
  /** The only end user whose sessions the caller may reach. Absent: those of all. */
  readonly end_user?: string;
  /** The API key of the request, or the one that made its access token. Absent: the deployment itself asks. */
  readonly key?: KeyId;
  readonly restriction?: Restriction;
  /** For the audit log. Absent: none. */
  readonly act?: Act;
  /** The call is repeated because its commit found no room on the disk. It writes nothing: a read answers from what is stored, any other is refused. */
  readonly isFull?: true;
}

/** `digest`: of the request's method, path and body, so that one key with two different bodies is refused. */
export interface Idempotency {
  readonly key: string;
  readonly digest: string;
  /** The client names no key, and counts how often it sent the request before. `arrived_at`: before it waited in line, epoch milliseconds. */
  readonly attempt?: { readonly id: string; readonly tries: number; readonly arrived_at: number };
}

type Keyed = { readonly idempotency: Idempotency | null };
/** `replayed`: the idempotency key was used before, and this is the current state of the first request's outcome. */
export type Once<T> = T & { readonly replayed: boolean };

export interface OpenInput {
  readonly model: string;
  /** The policy merged from the deployment's, the tenant's and the session's choice, as a level stores it. */
  readonly policy: string;
  readonly system: string | null;
  readonly tools: readonly ToolDefinition[] | null;
  readonly title: string | null;
  /** Absent: the policy's apply. */
  readonly summaryInstructions?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Absent: the provider's defaults. */
  readonly generation?: GenerationChoice;
  /** The client's own id, which the tenant's directory has given out: an open session then answers `session_exists`. Absent: none. */
  readonly external_id?: string | null;
  /** The client's id of the person who talks. Absent: none. */
  readonly end_user?: string | null;
  /** For one request: no list has the session, it does nothing unasked, and it erases itself. */
  readonly throwaway?: true;
  /** The chat that opens the session, or takes over one that it finds open. Replies of schedules go there. Absent: none does. */
  readonly chat?: { readonly channel: string; readonly conversation: string };
}
/** An absent field is unchanged; null removes it. */
export interface PatchInput {
  readonly model?: string;
  /** Merged over the session's current policy: without a preset only the named values change. */
  readonly policy?: PolicyChoice;
  /** `policy` takes the place of the session's policy, instead of being merged over it. Absent: false. */
  readonly restoresPolicy?: true;
  readonly summaryInstructions?: string | null;
  readonly system?: string | null;
  readonly tools?: readonly ToolDefinition[] | null;
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly end_user?: string | null;
  /** Changes field by field. */
  readonly generation?: GenerationChoice | null;
}

/**
 * What a turn is asked with. Absent: what the turn that it repeats was asked with, or else what the session says. Null: what the session
 * says. `generation` changes field by field. `key`: the caller's, which the session's object adds.
 */
export interface TurnInput {
  readonly model?: string | null;
  readonly generation?: GenerationChoice | null;
  /** In place of the session's system prompt. An empty text: the turn has none. */
  readonly system?: string | null;
  /** The client's own text about the turn, of at most 64 KB, which no model reads. Null: none. */
  readonly note?: string | null;
  readonly key?: KeyId;
  /**
   * The model reads all of the conversation, to the end of the turn: a request that exceeds its window is refused with `cannot_fit`, not
   * compacted. Where the window is neither known nor assumed by the policy it is sent as it is, and the provider's refusal ends the turn.
   */
  readonly whole?: true;
}

export type SubmitInput = WrittenMessage &
  TurnInput &
  Keyed & {
    readonly run: boolean;
    readonly onBusy: OnBusy;
    /** For this turn only, in place of the session's tools. */
    readonly tools: readonly ToolDefinition[] | null;
  };

export interface ToolResultInput {
  readonly execution_id: ExecutionId | null;
  readonly call_id: string | null;
  readonly output: string;
  readonly is_error: boolean;
  /** Details that the client may report about the run. */
  readonly exit_code?: number | null;
  readonly duration_ms?: number | null;
  readonly artifacts?: readonly ToolArtifact[];
}

/** A person's answer to a call that waits for approval. */
export interface ApprovalInput {
  readonly execution_id: ExecutionId;
  readonly approved: boolean;
  /** The reason for a refusal, which the model reads. */
  readonly reason: string | null;
}

/** Selects the items' branch: by number, the current one, or all. */
type BranchChoice = number | "current" | "all";
export interface PageInput {
  /** The last position, seq or id of the previous page. Null: start at the beginning. */
  readonly after: number | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
}
/** A look-up in the record, by words within the range. Without a query it reads the execution, and without one the range. Null: not given. */
export interface RecallInput {
  readonly query: string | null;
  readonly execution: ExecutionId | null;
  readonly from: number | null;
  readonly to: number | null;
  /** UTF-16 units to skip in an execution or a range. */
  readonly offset: number;
  /** The most hits. */
  readonly limit: number;
}

export interface StreamInput {
  /** Null: from the first frame of `turn`, else of the running turn, or from now on if no turn runs. */
  readonly after: number | null;
  /** End the stream when this turn ends or waits for tools. Null: never. */
  readonly turn: TurnId | null;
  /** `frames`: the live stream; `events`: the log, where `after` is a seq. */
  readonly of?: "frames" | "events";
}

/** The summariser's result, which the session's object judges. */
export type SummaryOutcome = {
  readonly model: string;
  /** Raw estimate of the summariser's request, in tokens. */
  readonly estimate: number;
  readonly usage: CallUsage | null;
  readonly ms: number;
  /** US dollars, by the prices of the model that answered. Absent when unknown. */
  readonly cost?: number;
  readonly reservation?: CallReservation;
  /** What a refusal taught about the model. Absent: nothing. */
  readonly lesson?: Quirks;
} & (
  | { readonly ok: true; readonly text: string; readonly finish: FinishReason }
  /** `retry_after_ms`: the wait that the provider asked for. Absent when it named none. */
  | { readonly ok: false; readonly failure: CompactionFailure; readonly retry_after_ms?: number }
);

export type LeaseOutcome =
  | { readonly kind: "leased"; readonly token: number; readonly part: ChunkRequest; readonly timeoutMs: number }
  /** Nothing to do: the compaction has ended, is void, or waits for a turn to end. */
  | { readonly kind: "nothing"; readonly reason: string }
  /** Another worker holds the lease; the watchdog checks again later. */
  | { readonly kind: "held"; readonly until: number };

/** What a worker returns: the outcome of the part that it was given, and where that part ended. */
export interface CompactionResult {
  readonly compaction: CompactionId;
  readonly token: number;
  readonly outcome: SummaryOutcome;
  /** The part's number: how many parts were done before it. */
  readonly part: number;
  readonly next: NextChunk | null;
  /** The worker has no time for another part: this part is kept, and the lease is free for the next worker. Absent: the worker goes on. */
  readonly leaves?: true;
}

export type ApplyOutcome =
  /** `later`: the part was kept, and there is more to read. */
  | { readonly next: "done" | "retry" | "later" }
  /** The part was kept; the worker continues with the next part under the same token. */
  | { readonly next: "continue"; readonly part: ChunkRequest; readonly timeoutMs: number };

/** One page of the log with its bodies, for rebuilding the read model. */
export interface LogPage {
  readonly events: readonly StoredEvent[];
  readonly bodies: readonly { readonly id: BodyId; readonly text: string }[];
  readonly has_more: boolean;
}

export interface SessionApi {
  open(caller: Caller, input: OpenInput): Promise<Outcome<SessionDescription>>;
  describe(caller: Caller): Promise<Outcome<SessionDescription>>;
  /** `condition`: for the session's settings and pins. */
  patch(caller: Caller, input: PatchInput, condition?: Condition): Promise<Outcome<SessionDescription>>;
  /** `isNoted`: the tenant's object knows that the session existed, even if its own object is empty. `condition`: while it is not erased. */
  erase(caller: Caller, isNoted?: boolean, condition?: Condition): Promise<Outcome<ErasureReceipt>>;

  submit(caller: Caller, input: SubmitInput): Promise<Outcome<Accepted>>;
  /** Appends messages without turns, in one transaction: all or none. */
  importMessages(caller: Caller, input: Keyed & { readonly messages: readonly WrittenMessage[] }): Promise<Outcome<Once<ImportedMessages>>>;
  cancelQueued(caller: Caller, message: ItemId): Promise<Outcome<null>>;
  toolResults(caller: Caller, input: Keyed & { readonly results: readonly ToolResultInput[] }): Promise<Outcome<Accepted>>;
  /** Runs approved calls, and reports refused ones to the model. Takes all answers or none. */
  approvals(caller: Caller, input: Keyed & { readonly approvals: readonly ApprovalInput[] }): Promise<Outcome<Accepted>>;
  /** `turn`: only this one, open or queued. If it is over, nothing is stopped, and its report says how it ended. Absent: whichever is open. */
  stop(caller: Caller, input: Keyed & { readonly turn?: TurnId }): Promise<Outcome<Once<{ readonly turn: TurnReport }>>>;
  retry(caller: Caller, input: TurnInput & Keyed): Promise<Outcome<Accepted>>;

  /** Resolves when the turn has ended, or waits for tools, and after `within` milliseconds at the latest. The object does not see that a caller left. */
  waitForTurn(caller: Caller, turn: TurnId, within?: number): Promise<Outcome<TurnReport>>;
  turn(caller: Caller, turn: TurnId): Promise<Outcome<TurnReport>>;
  turns(caller: Caller, page: Omit<PageInput, "after"> & { readonly after: TurnId | null }): Promise<Outcome<Page<TurnReport>>>;
  /** Server-sent events as bytes. Disconnecting stops nothing. */
  stream(caller: Caller, input: StreamInput): Promise<Outcome<ReadableStream<Uint8Array>>>;

  /** The conversation as people read it. `branch` absent: the current one. `clientId`: only the message with the client's own id, on any branch. */
  items(
    caller: Caller,
    page: PageInput & { readonly branch?: BranchChoice; readonly clientId?: string },
  ): Promise<Outcome<Page<DisplayItem>>>;
  /** One message, of any branch. `id` may be that of a call inside of it. */
  message(caller: Caller, id: ItemId): Promise<Outcome<DisplayItem>>;
  /** Every call of the session, in order of the calls' positions. */
  executions(caller: Caller, page: PageInput): Promise<Outcome<Page<ExecutionView>>>;
  events(caller: Caller, page: PageInput): Promise<Outcome<Page<StoredEvent>>>;
  compactions(caller: Caller, page: PageInput): Promise<Outcome<Page<CompactionView>>>;
  /** The ledger: one row for each model call. */
  usage(caller: Caller, page: PageInput): Promise<Outcome<Page<LedgerRow>>>;
  compaction(caller: Caller, id: CompactionId): Promise<Outcome<CompactionView>>;
  /** `content`: report the context as if this user message were sent next. */
  context(caller: Caller, input: { readonly content: readonly Part[] | null }): Promise<Outcome<ContextReport>>;

  /** Searches the whole record, whatever the view shows (`memory_query`, for people). */
  recall(caller: Caller, input: RecallInput): Promise<Outcome<RecallReport>>;
  leaseCompaction(caller: Caller, compaction: CompactionId): Promise<Outcome<LeaseOutcome>>;
  /** Whether the lease is the newest of its compaction, which is under way, and its call is paid. It is not after a redaction. */
  holdsLease(
    caller: Caller,
    lease: Pick<CompactionResult, "compaction" | "token"> & { readonly reservation?: number | undefined },
  ): Promise<Outcome<boolean>>;
  recordCompaction(caller: Caller, input: CompactionResult): Promise<Outcome<ApplyOutcome>>;

  /** The log after the seq `after`, for rebuilding the read model. */
  exportLog(caller: Caller, input: { readonly after: number; readonly limit: number }): Promise<Outcome<LogPage>>;
}
