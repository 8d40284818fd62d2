/**
 * What `http` and `queue` may ask of a session: plain data in, plain data out, so that it crosses RPC. Every call
 * names the tenant that the credential proved; the object compares it with its own (docs/design.md §1.9).
 */
import type { PolicyChoice } from "../context/policy-choice";
import type { OnBusy } from "../domain/commands";
import type { CompactionFailure } from "../domain/compaction-events";
import type { FitReport, StoredEvent } from "../domain/events";
import type { CompactionId, ExecutionId, ItemId, SessionId, TenantId, TurnId } from "../domain/ids";
import type { Part, ToolDefinition } from "../domain/message";
import type { CallUsage, FinishReason } from "../domain/model-call";
import type { Rejection } from "../domain/rejection";
import type { Result } from "../lib/result";
import type { BranchChoice } from "./branch-views";
import type { CompactionView, ControlError } from "./control-views";
import type { ExecutionView } from "./execution-views";
import type { ToolArtifact } from "./ports";
import type { RecallInput, RecallReport } from "./recall-views";
import type {
  Accepted,
  ContextReport,
  DisplayItem,
  ErasureReceipt,
  LedgerRow,
  LogPage,
  Page,
  SessionDescription,
  TurnReport,
} from "./session-views";
import type { FoldNext, SummaryPart } from "./summary-part";

/** Why a call was refused: the domain's reasons and those of the object around it. */
export type SessionError =
  | Rejection
  | ControlError
  | { readonly code: "idempotency_conflict" }
  | { readonly code: "unknown_model"; readonly model: string }
  /** The registry of models is out of reach: nothing was changed, and the same request may succeed later. */
  | { readonly code: "models_unavailable" }
  | { readonly code: "turn_not_found"; readonly turn: string }
  | { readonly code: "compaction_not_found"; readonly compaction: string }
  /** The turn has asked no model, or not so often. `calls`: how often it has; `call`: which one was asked for, null: the last. */
  | { readonly code: "request_not_found"; readonly turn: string; readonly call: number | null; readonly calls: number }
  /** An older build did not record how it asked, and the registry no longer says it. */
  | { readonly code: "request_unknown"; readonly model: string }
  | { readonly code: "message_not_found"; readonly message: string }
  | { readonly code: "branch_not_found"; readonly branch: number }
  | { readonly code: "cannot_fit"; readonly fit: FitReport }
  /** What was asked for is there, and larger than one answer can be. `characters`: UTF-16 units of it, and how many there may be. */
  | { readonly code: "context_too_large"; readonly characters: number; readonly limit: number }
  /** `field` as the client wrote it: `system`, `results.0.output`. */
  | { readonly code: "invalid"; readonly field: string; readonly detail: string };

export type Outcome<T> = Result<T, SessionError>;

/** The caller's tenant and the session asked for. */
export interface Caller {
  readonly tenant: TenantId;
  readonly session: SessionId;
}

/** `digest`: of the request's method, path and body, so that the same key with another body is refused. */
export interface Idempotency {
  readonly key: string;
  readonly digest: string;
}

/** `replayed`: the idempotency key had been seen; this is the first request's outcome, as it stands now. */
export type Once<T> = T & { readonly replayed: boolean };

export interface OpenInput {
  readonly model: string;
  /** The deployment's, the tenant's and the session's own choice in one, as settings store it. */
  readonly policy: string;
  readonly system: string | null;
  readonly tools: readonly ToolDefinition[] | null;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Absent: unchanged. Null: removed. */
export interface PatchInput {
  readonly model?: string;
  /** Over the session's present one: without a preset only what it names changes. */
  readonly policy?: PolicyChoice;
  readonly system?: string | null;
  readonly tools?: readonly ToolDefinition[] | null;
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A call in a recorded reply. Its id is data, and may repeat. */
export interface ImportedCall {
  readonly call_id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

/** What a message says. Calls and results are imported only (`run: false`). */
type Said =
  /** `parts` may be empty when there are `calls`. */
  | { readonly role: "user" | "assistant" | "system"; readonly parts: readonly Part[]; readonly calls?: readonly ImportedCall[] }
  /** The result of an imported call. */
  | { readonly role: "tool"; readonly call_id: string; readonly output: string; readonly is_error: boolean };

export type SubmitInput = Said & {
  readonly run: boolean;
  readonly onBusy: OnBusy;
  /** For this turn only, in place of the session's. */
  readonly tools: readonly ToolDefinition[] | null;
  readonly idempotency: Idempotency | null;
};

export interface ToolResultInput {
  readonly execution_id: ExecutionId | null;
  readonly call_id: string | null;
  readonly output: string;
  readonly is_error: boolean;
  /** How it went, as far as the client says. */
  readonly exit_code?: number | null;
  readonly duration_ms?: number | null;
  readonly artifacts?: readonly ToolArtifact[];
}

/** A person's answer to a call that waits for it. */
export interface ApprovalInput {
  readonly execution_id: ExecutionId;
  readonly approved: boolean;
  /** Of a refusal; the model is told. */
  readonly reason: string | null;
}

export interface PageInput {
  /** The last position, seq or id of the page before; null: from the start. */
  readonly after: number | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
}
export interface StreamInput {
  /** Null: from the running turn's first frame, or from now on if none runs. */
  readonly after: number | null;
  /** End when this turn ends or waits for tools; null: never. */
  readonly turn: TurnId | null;
  /** What to read from. `frames`: the live stream; `events`: the log, `after` being a seq. */
  readonly of?: "frames" | "events";
}

/** What the summariser came back with; the object judges it. */
export type SummaryOutcome = {
  readonly model: string;
  /** Raw estimate of what it was asked, in tokens. */
  readonly estimate: number;
  readonly usage: CallUsage | null;
  readonly ms: number;
  /** US dollars, by the prices of the model that answered; absent: unknown. */
  readonly cost?: number;
} & (
  | { readonly ok: true; readonly text: string; readonly finish: FinishReason }
  /** `retry_after_ms`: what the provider asked to wait; absent: it did not say. */
  | { readonly ok: false; readonly failure: CompactionFailure; readonly retry_after_ms?: number }
);

export type LeaseOutcome =
  | { readonly kind: "leased"; readonly token: number; readonly part: SummaryPart; readonly timeoutMs: number }
  /** Nothing to do: over, void, or waiting for a turn to end. */
  | { readonly kind: "nothing"; readonly reason: string }
  /** Another worker holds it; the watchdog looks again. */
  | { readonly kind: "held"; readonly until: number };

/** What a worker hands back: the outcome of the part that it was given, and where that part ended. */
export interface Settled {
  readonly compaction: CompactionId;
  readonly token: number;
  readonly outcome: SummaryOutcome;
  /** Which part it is of: how many were done before it. */
  readonly part: number;
  readonly next: FoldNext | null;
  /** The worker's own time is over: a part is kept, and its lease is free for the next worker. Absent: it goes on. */
  readonly leaves?: true;
}

export type SettleOutcome =
  /** `later`: the part was kept, and there is more to read. */
  | { readonly next: "done" | "retry" | "later" }
  /** The part was kept; the next one is asked for under the same token. */
  | { readonly next: "continue"; readonly part: SummaryPart; readonly timeoutMs: number };

export interface SessionApi {
  open(caller: Caller, input: OpenInput): Promise<Outcome<SessionDescription>>;
  describe(caller: Caller): Promise<Outcome<SessionDescription>>;
  patch(caller: Caller, input: PatchInput): Promise<Outcome<SessionDescription>>;
  /** `isNoted`: the tenant's object knows that the session was, also where nothing of it is left here. */
  erase(caller: Caller, isNoted?: boolean): Promise<Outcome<ErasureReceipt>>;

  submit(caller: Caller, input: SubmitInput): Promise<Outcome<Accepted>>;
  cancelQueued(caller: Caller, message: ItemId): Promise<Outcome<null>>;
  toolResults(
    caller: Caller,
    input: { readonly results: readonly ToolResultInput[]; readonly idempotency: Idempotency | null },
  ): Promise<Outcome<Accepted>>;
  /** What is approved runs; of what is refused the model is told. All answers are taken or none. */
  approvals(
    caller: Caller,
    input: { readonly approvals: readonly ApprovalInput[]; readonly idempotency: Idempotency | null },
  ): Promise<Outcome<Accepted>>;
  stop(caller: Caller, input: { readonly idempotency: Idempotency | null }): Promise<Outcome<Once<{ readonly turn: TurnReport }>>>;
  retry(caller: Caller, input: { readonly idempotency: Idempotency | null }): Promise<Outcome<Accepted>>;

  /** Resolves when the turn has ended, or waits for tools. */
  waitForTurn(caller: Caller, turn: TurnId): Promise<Outcome<TurnReport>>;
  turn(caller: Caller, turn: TurnId): Promise<Outcome<TurnReport>>;
  /** Server-sent events as bytes; leaving it stops nothing. */
  stream(caller: Caller, input: StreamInput): Promise<Outcome<ReadableStream<Uint8Array>>>;

  /** The conversation as people read it; absent: the branch that goes on. */
  items(caller: Caller, page: PageInput & { readonly branch?: BranchChoice }): Promise<Outcome<Page<DisplayItem>>>;
  /** Every call of the session, by the position of the call. */
  executions(caller: Caller, page: PageInput): Promise<Outcome<Page<ExecutionView>>>;
  events(caller: Caller, page: PageInput): Promise<Outcome<Page<StoredEvent>>>;
  compactions(caller: Caller, page: PageInput): Promise<Outcome<Page<CompactionView>>>;
  /** The ledger: a row for each model call. */
  usage(caller: Caller, page: PageInput): Promise<Outcome<Page<LedgerRow>>>;
  compaction(caller: Caller, id: CompactionId): Promise<Outcome<CompactionView>>;
  /** `content`: as if this user message were sent next. */
  context(caller: Caller, input: { readonly content: readonly Part[] | null }): Promise<Outcome<ContextReport>>;

  /** What the whole record says, whatever the view holds (`memory_query`, for people). */
  recall(caller: Caller, input: RecallInput): Promise<Outcome<RecallReport>>;

  leaseCompaction(caller: Caller, compaction: CompactionId): Promise<Outcome<LeaseOutcome>>;
  recordCompaction(caller: Caller, input: Settled): Promise<Outcome<SettleOutcome>>;

  /** The log from `after` (a seq) on, for rebuilding the read model. */
  exportLog(caller: Caller, input: { readonly after: number; readonly limit: number }): Promise<Outcome<LogPage>>;
}
