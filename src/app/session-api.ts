/**
 * What `http` and `queue` may ask of a session: plain data in, plain data out, so that it crosses RPC. Every call
 * names the tenant that the credential proved; the object compares it with its own (docs/design.md §1.9).
 */
import type { PolicyChoice } from "../context/policy-choice";
import type { OnBusy } from "../domain/commands";
import type { CompactionFailure, CompactionTrigger } from "../domain/compaction-events";
import type { FitReport, StoredEvent, TurnFailure } from "../domain/events";
import type { BodyId, CompactionId, ExecutionId, ItemId, SessionId, TenantId, TurnId } from "../domain/ids";
import type { ItemKind, Part, ToolDefinition } from "../domain/message";
import type { CallUsage, FinishReason } from "../domain/model-call";
import type { Rejection } from "../domain/rejection";
import type { TurnStatus } from "../domain/state";
import type { Result } from "../lib/result";
import type { CompactionView, ControlError, ControlledSettings } from "./control-views";
import type { FoldNext, SummaryPart } from "./summary-request";

export type { CompactionView } from "./control-views";

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
  | { readonly code: "cannot_fit"; readonly fit: FitReport }
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

export interface TokenFigure {
  readonly tokens: number;
  /** `reported`: the provider counted it; `estimated`: we did; `mixed`: reported up to a point, estimated from there. */
  readonly source: "reported" | "estimated" | "mixed";
  /** How far off `tokens` may be, in tokens, either way. */
  readonly error_bound: number;
}

export interface SessionDescription extends ControlledSettings {
  readonly id: SessionId;
  readonly model: string;
  readonly system: string | null;
  readonly tools: readonly ToolDefinition[];
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: number;
  readonly updated_at: number;
  readonly message_count: number;
  readonly epoch: number;
  /** FEAT-011's one cumulative summary: the chain of summaries, concatenated. Null: nothing was compacted. */
  readonly compacted_summary: string | null;
  readonly compact_boundary_timestamp: number | null;
  readonly context_window: number | null;
  readonly current_context_tokens: TokenFigure;
  readonly total_tokens: number;
  readonly turn: {
    readonly id: TurnId;
    readonly phase: "generating" | "awaiting_tools";
    readonly open_calls: readonly ToolCallView[];
  } | null;
  readonly last_turn: { readonly id: TurnId; readonly status: TurnStatus; readonly failure: TurnFailure | null } | null;
  readonly queued: readonly { readonly message_id: ItemId; readonly turn_id: TurnId | null }[];
  /** Offset of the newest frame of the live stream. */
  readonly stream_offset: number;
}

export interface ToolCallView {
  readonly execution_id: ExecutionId;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface SubmitInput {
  readonly role: "user" | "assistant" | "system";
  readonly parts: readonly Part[];
  readonly run: boolean;
  readonly onBusy: OnBusy;
  /** For this turn only, in place of the session's. */
  readonly tools: readonly ToolDefinition[] | null;
  readonly idempotency: Idempotency | null;
}

/** The durable acknowledgement of a message. */
export interface Accepted {
  readonly message_id: ItemId;
  readonly turn_id: TurnId | null;
  /** Null while it waits in the queue: its place in the conversation is known when its turn starts. */
  readonly position: number | null;
  readonly queued: boolean;
  /** The idempotency key had been seen: this is the first request's outcome. */
  readonly replayed: boolean;
  /** Read the live stream after this offset to see everything from `message.accepted` on. */
  readonly cursor: number;
}

export interface ToolResultInput {
  readonly execution_id: ExecutionId | null;
  readonly call_id: string | null;
  readonly output: string;
  readonly is_error: boolean;
}

/** A turn as it stands. `open` statuses: `queued`, `generating`, `awaiting_tools`. */
export interface TurnReport {
  readonly id: TurnId;
  readonly status: TurnStatus | "queued" | "generating" | "awaiting_tools";
  readonly finish: FinishReason | null;
  readonly failure: TurnFailure | null;
  readonly attempt: number;
  readonly message_id: ItemId | null;
  /** What the turn produced, in order. */
  readonly items: readonly DisplayItem[];
  readonly open_calls: readonly ToolCallView[];
  readonly usage: CallUsage | null;
  readonly context_window: number | null;
  readonly current_context_tokens: number;
}

/** An item as people read it: every one, whatever the model's view holds. */
export interface DisplayItem {
  readonly id: ItemId;
  readonly position: number;
  readonly kind: ItemKind;
  readonly turn_id: TurnId | null;
  readonly created_at: number;
  readonly parts: readonly Part[];
  readonly execution_id: ExecutionId | null;
  readonly incomplete: boolean;
  /** Estimated. */
  readonly tokens: number;
}

export interface PageInput {
  /** The last position, seq or id of the page before; null: from the start. */
  readonly after: number | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
}
export interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

export interface StreamInput {
  /** Null: from the running turn's first frame, or from now on if none runs. */
  readonly after: number | null;
  /** End when this turn ends or waits for tools; null: never. */
  readonly turn: TurnId | null;
  /** What to read from. `frames`: the live stream; `events`: the log, `after` being a seq. */
  readonly of?: "frames" | "events";
}

/** One message that the next request would hold, and what it weighs. */
export interface ContextPart {
  readonly part: "system" | "tools" | "pins" | "summary" | "dropped" | "message";
  readonly position: number | null;
  readonly tokens: number;
  readonly source: "reported" | "estimated";
}

export interface ContextReport {
  readonly model: string;
  readonly policy: PolicyChoice;
  readonly epoch: number;
  readonly context_window: number | null;
  /** window − reserve: what a request may weigh; null with an unknown window. */
  readonly limit: number | null;
  readonly reserve: number | null;
  readonly total: TokenFigure;
  /** A compaction by a model would come before it: what follows is the request as it is if no summary can be had. */
  readonly compaction_first: { readonly trigger: CompactionTrigger; readonly expected_tokens: number } | null;
  readonly parts: readonly ContextPart[];
  /** The next request exactly: the body byte for byte. */
  readonly request: { readonly url: string; readonly body: string };
}

/** What the summariser came back with; the object judges it. */
export type SummaryOutcome = {
  readonly usage: CallUsage | null;
  readonly ms: number;
} & (
  | { readonly ok: true; readonly text: string; readonly finish: FinishReason }
  | { readonly ok: false; readonly failure: CompactionFailure }
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
  readonly next: FoldNext | null;
}

export type SettleOutcome =
  | { readonly next: "done" | "retry" }
  /** The part was kept; the next one is asked for under the same token. */
  | { readonly next: "continue"; readonly part: SummaryPart; readonly timeoutMs: number };

export interface ErasureReceipt {
  readonly session: SessionId;
  readonly erased_at: number;
  readonly stores: readonly { readonly store: string; readonly status: "erased" | "pending"; readonly rows: number | null }[];
}

export interface LogPage {
  readonly events: readonly StoredEvent[];
  readonly bodies: readonly { readonly id: BodyId; readonly text: string }[];
  readonly has_more: boolean;
}

export interface SessionApi {
  open(caller: Caller, input: OpenInput): Promise<Outcome<SessionDescription>>;
  describe(caller: Caller): Promise<Outcome<SessionDescription>>;
  patch(caller: Caller, input: PatchInput): Promise<Outcome<SessionDescription>>;
  erase(caller: Caller): Promise<Outcome<ErasureReceipt>>;

  submit(caller: Caller, input: SubmitInput): Promise<Outcome<Accepted>>;
  cancelQueued(caller: Caller, message: ItemId): Promise<Outcome<null>>;
  toolResults(
    caller: Caller,
    input: { readonly results: readonly ToolResultInput[]; readonly idempotency: Idempotency | null },
  ): Promise<Outcome<Accepted>>;
  stop(caller: Caller): Promise<Outcome<TurnReport>>;
  retry(caller: Caller, input: { readonly idempotency: Idempotency | null }): Promise<Outcome<Accepted>>;

  /** Resolves when the turn has ended, or waits for tools. */
  waitForTurn(caller: Caller, turn: TurnId): Promise<Outcome<TurnReport>>;
  turn(caller: Caller, turn: TurnId): Promise<Outcome<TurnReport>>;
  /** Server-sent events as bytes; leaving it stops nothing. */
  stream(caller: Caller, input: StreamInput): Promise<Outcome<ReadableStream<Uint8Array>>>;

  items(caller: Caller, page: PageInput): Promise<Outcome<Page<DisplayItem>>>;
  events(caller: Caller, page: PageInput): Promise<Outcome<Page<StoredEvent>>>;
  compactions(caller: Caller, page: PageInput): Promise<Outcome<Page<CompactionView>>>;
  compaction(caller: Caller, id: CompactionId): Promise<Outcome<CompactionView>>;
  /** `content`: as if this user message were sent next. */
  context(caller: Caller, input: { readonly content: readonly Part[] | null }): Promise<Outcome<ContextReport>>;

  leaseCompaction(caller: Caller, compaction: CompactionId): Promise<Outcome<LeaseOutcome>>;
  recordCompaction(caller: Caller, input: Settled): Promise<Outcome<SettleOutcome>>;

  /** The log from `after` (a seq) on, for rebuilding the read model. */
  exportLog(caller: Caller, input: { readonly after: number; readonly limit: number }): Promise<Outcome<LogPage>>;
}
