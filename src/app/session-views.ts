/** What a session answers (`session-api`): plain data, in the form in which it crosses RPC and leaves as JSON. */

import type { Measure } from "../context/budget";
import type { PolicyChoice } from "../context/policy-choice";
import type { DisplayItem } from "../contract/item";
import type { UsageSums } from "../contract/model-call";
import type { TokenFigure } from "../contract/tokens";
import type { ToolCallView } from "../contract/tool";
import type { BreakerView } from "../domain/breaker";
import type { CompactionTrigger } from "../domain/compaction-events";
import type { StoredEvent, TurnFailure, TurnStatus } from "../domain/events";
import type { BodyId, ItemId, SessionId, TurnId } from "../domain/ids";
import type { ToolDefinition } from "../domain/message";
import type { CallUsage, FinishReason } from "../domain/model-call";
import type { TurnPhase } from "../domain/state";
import type { ControlledSettings } from "./control-views";

/** The source of a fork, and the last position shared with it. */
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
  /** The current branch's number, and the number of branches. */
  readonly branch: number;
  readonly branches: number;
  /** Null when the session is not a fork. */
  readonly forked_from: ForkOrigin | null;
  /** All summaries in the view, concatenated. Null when there is none. */
  readonly compacted_summary: string | null;
  readonly compact_boundary_timestamp: number | null;
  readonly context_window: number | null;
  /** The weight of the next request: how full the window is. */
  readonly current_context_tokens: TokenFigure;
  /** Tokens that all calls together read and wrote. Each call counts its whole context again, so this is a billing total, not a size. */
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

/** A message that the client should show to the user. */
export interface Notice {
  readonly code: "history_trimmed";
  readonly text: string;
}

/** The current state of a turn. Open statuses: `queued` and the phases. */
export interface TurnReport {
  readonly id: TurnId;
  readonly status: TurnStatus | "queued" | TurnPhase;
  readonly finish: FinishReason | null;
  readonly failure: TurnFailure | null;
  readonly attempt: number;
  readonly message_id: ItemId | null;
  /** The items that the turn produced, in order. With `items_truncated`, only the newest of them. */
  readonly items: readonly DisplayItem[];
  readonly items_truncated: boolean;
  readonly open_calls: readonly ToolCallView[];
  /**
   * The model that was asked last, which may be a fallback model. In a completed turn it gave the answer. Null when no model was asked yet.
   */
  readonly model: string | null;
  readonly usage: CallUsage | null;
  /** US dollars of its calls. Null when the cost of one of them is unknown. */
  readonly cost: number | null;
  readonly context_window: number | null;
  /** The window that the policy assumes for an unknown one. */
  readonly assumed_window: number | null;
  readonly current_context_tokens: number;
  /** Notices for events in this turn, or between the previous turn and this one. */
  readonly notices: readonly Notice[];
}

/** One part of the next request, with its weight. */
export interface ContextPart {
  readonly part: "system" | "tools" | "pins" | "summary" | "dropped" | "message";
  readonly position: number | null;
  readonly tokens: number;
  readonly source: "reported" | "estimated";
  /** The largest error of `tokens`, in tokens, in either direction. */
  readonly error_bound: number;
}

export interface ContextReport {
  readonly model: string;
  readonly policy: PolicyChoice;
  readonly epoch: number;
  readonly context_window: number | null;
  /** The window that the policy assumes for an unknown one. Null when the window is known, or the policy assumes none. */
  readonly assumed_window: number | null;
  /** Window minus reserve: the most tokens of a request. Null without a known or assumed window. */
  readonly limit: number | null;
  readonly reserve: number | null;
  readonly total: TokenFigure;
  /**
   * A compaction by a model would run before this request. The rest of the report shows the request as it is when no summary is available.
   */
  readonly compaction_first: { readonly trigger: CompactionTrigger; readonly expected: Measure } | null;
  readonly parts: readonly ContextPart[];
  /** The exact next request: its body byte for byte. */
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
