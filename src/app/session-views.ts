/** What a session answers (`session-api`): plain data, in the form in which it crosses RPC and goes out as JSON. */

import type { Measure } from "../context/budget";
import type { PolicyChoice } from "../context/policy-choice";
import type { BreakerView } from "../domain/breaker";
import type { CompactionTrigger } from "../domain/compaction-events";
import type { CallOutcome, StoredEvent, TurnFailure, TurnStatus } from "../domain/events";
import type { BodyId, ExecutionId, ItemId, SessionId, TurnId } from "../domain/ids";
import type { ItemKind, Part, ToolDefinition } from "../domain/message";
import type { CallPurpose, CallUsage, FinishReason, UsageSource } from "../domain/model-call";
import type { TurnPhase } from "../domain/state";
import type { ControlledSettings } from "./control-views";

export interface TokenFigure {
  readonly tokens: number;
  /** `reported`: the provider counted it; `estimated`: we did; `mixed`: reported up to a point, estimated from there. */
  readonly source: "reported" | "estimated" | "mixed";
  /** How far off `tokens` may be, in tokens, either way. */
  readonly error_bound: number;
}

/** What a fork shares with its source, and where. */
interface ForkOrigin {
  readonly session: SessionId;
  readonly at: number;
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
  /** The branch that goes on, and how many there are. */
  readonly branch: number;
  readonly branches: number;
  /** Null: it began by itself. */
  readonly forked_from: ForkOrigin | null;
  /** FEAT-011's one cumulative summary: the chain of summaries, concatenated. Null: nothing was compacted. */
  readonly compacted_summary: string | null;
  readonly compact_boundary_timestamp: number | null;
  readonly context_window: number | null;
  /** What the next request would weigh: how full the window is. */
  readonly current_context_tokens: TokenFigure;
  /** What all calls together read and wrote, the same context again each time: a billing total, not a size. */
  readonly total_tokens: number;
  readonly usage: UsageSums;
  /** Whether a model may be asked for a summary now. */
  readonly breaker: BreakerView;
  readonly turn: {
    readonly id: TurnId;
    readonly phase: TurnPhase;
    readonly open_calls: readonly ToolCallView[];
  } | null;
  readonly last_turn: { readonly id: TurnId; readonly status: TurnStatus; readonly failure: TurnFailure | null } | null;
  readonly queued: readonly { readonly message_id: ItemId; readonly turn_id: TurnId | null }[];
  /** Offset of the newest frame of the live stream. */
  readonly stream_offset: number;
}

/** What model calls come to. Tokens are those of the calls that reported them. */
export interface UsageSums {
  readonly calls: number;
  readonly failed_calls: number;
  readonly input: number;
  readonly uncached: number;
  readonly cached: number;
  readonly cache_write: number;
  /** Thinking included. */
  readonly output: number;
  readonly reasoning: number;
  /** US dollars of the calls whose cost is known; null: it is known of none. */
  readonly cost: number | null;
  /** Calls whose cost is unknown: `cost` is without them. */
  readonly unpriced_calls: number;
  readonly cost_complete: boolean;
}

/** A call as the session's ledger has it. */
export interface LedgerRow {
  readonly seq: number;
  readonly at: number;
  readonly turn_id: TurnId | null;
  readonly purpose: CallPurpose;
  readonly source: UsageSource;
  readonly model: string;
  /** Null, with all counts: the provider reported none. */
  readonly input: number | null;
  readonly uncached: number | null;
  readonly cached: number | null;
  readonly cache_write: number | null;
  readonly output: number | null;
  readonly reasoning: number | null;
  /** US dollars; null: unknown. */
  readonly cost: number | null;
  /** Our own count of the request before it was sent, unscaled. */
  readonly estimate: number;
  readonly outcome: CallOutcome;
  readonly ms: number;
}

export interface ToolCallView {
  readonly execution_id: ExecutionId;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  /** Who runs it. */
  readonly runs: "client" | "server";
  /** It runs once a person has allowed it; null: it need not be asked for, or no longer. */
  readonly approval: "pending" | null;
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

/** What the user should be told. */
export interface Notice {
  readonly code: "history_trimmed";
  readonly text: string;
}

/** A turn as it stands. `open` statuses: `queued` and the phases. */
export interface TurnReport {
  readonly id: TurnId;
  readonly status: TurnStatus | "queued" | TurnPhase;
  readonly finish: FinishReason | null;
  readonly failure: TurnFailure | null;
  readonly attempt: number;
  readonly message_id: ItemId | null;
  /** What the turn produced, in order: the newest of it, if `items_truncated`. */
  readonly items: readonly DisplayItem[];
  readonly items_truncated: boolean;
  readonly open_calls: readonly ToolCallView[];
  /** Who was asked last, and where it completed gave the answer: one that the policy falls back on may. Null: nobody was asked yet. */
  readonly model: string | null;
  readonly usage: CallUsage | null;
  /** US dollars of its calls; null: unknown of one of them. */
  readonly cost: number | null;
  readonly context_window: number | null;
  /** What the policy takes an unknown window to be. */
  readonly assumed_window: number | null;
  readonly current_context_tokens: number;
  /** Of what befell the conversation in this turn, or after the one before it had ended. */
  readonly notices: readonly Notice[];
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

export interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

/** One message that the next request would hold, and what it weighs. */
export interface ContextPart {
  readonly part: "system" | "tools" | "pins" | "summary" | "dropped" | "message";
  readonly position: number | null;
  readonly tokens: number;
  readonly source: "reported" | "estimated";
  /** How far off `tokens` may be, in tokens, either way. */
  readonly error_bound: number;
}

export interface ContextReport {
  readonly model: string;
  readonly policy: PolicyChoice;
  readonly epoch: number;
  readonly context_window: number | null;
  /** What the policy takes an unknown window to be; null: it is known, or the policy takes it for nothing. */
  readonly assumed_window: number | null;
  /** window − reserve: what a request may weigh; null with no window, known or assumed. */
  readonly limit: number | null;
  readonly reserve: number | null;
  readonly total: TokenFigure;
  /** A compaction by a model would come before it: what follows is the request as it is if no summary can be had. */
  readonly compaction_first: { readonly trigger: CompactionTrigger; readonly expected: Measure } | null;
  readonly parts: readonly ContextPart[];
  /** The next request exactly: the body byte for byte. */
  readonly request: { readonly url: string | null; readonly body: string };
}

export interface ErasureReceipt {
  readonly session: SessionId;
  readonly erased_at: number;
  readonly stores: readonly { readonly store: string; readonly status: "erased" | "pending"; readonly rows: number | null }[];
}

/** One page of the log with its bodies, for rebuilding the read model. */
export interface LogPage {
  readonly events: readonly StoredEvent[];
  readonly bodies: readonly { readonly id: BodyId; readonly text: string }[];
  readonly has_more: boolean;
}
