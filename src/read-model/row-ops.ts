/** The operations that an event causes on the rows of its session: plain data, one small change each. `statements` turns them into SQL. */
import type { CoveredRange } from "../domain/compaction-events";
import type { Event } from "../domain/events";
import type { ExecutionStatus, RunsAt } from "../domain/execution";
import type { ToolFailure } from "../domain/tool-run";

export type ModelCallFinished = Extract<Event, { type: "ModelCallFinished" }>;

export interface MessageRow {
  readonly position: number;
  readonly id: string;
  readonly kind: string;
  readonly role: "system" | "user" | "assistant" | "tool";
  /** The parts as JSON, within `MAX_ROW_CONTENT_BYTES`. */
  readonly content: string;
  readonly content_state: "full" | "cut" | "redacted" | "missing";
  /** The beginning of the text. Null when the item is no message, or has no text. */
  readonly preview: string | null;
  readonly turn_id: string | null;
  readonly execution_id: string | null;
  readonly incomplete: 0 | 1;
  readonly tokens: number;
  readonly created_at: number;
}

/** The columns of a call when it is recorded. All other columns are null until they are known. */
export interface ExecutionColumns {
  readonly id: string;
  readonly turn_id: string | null;
  readonly position: number;
  readonly tool_name: string;
  readonly call_id: string;
  readonly runs: RunsAt;
  readonly status: ExecutionStatus;
  /** The arguments as the model wrote them, within `MAX_ROW_CONTENT_BYTES`. */
  readonly arguments_json: string;
  readonly arguments_state: "full" | "cut" | "missing";
  readonly timestamp: number;
}

export interface ExecutionEnd {
  readonly status: ExecutionStatus;
  readonly success: 0 | 1 | null;
  readonly exit_code: number | null;
  readonly duration_ms: number | null;
  readonly failure: ToolFailure | null;
  readonly error_message: string | null;
  readonly result_position: number;
  readonly finished_at: number;
}

type ExecutionChanges = ExecutionEnd | { readonly status: ExecutionStatus; readonly started_at?: number };

export interface ArtifactRow {
  readonly id: string;
  readonly execution_id: string;
  readonly number: number;
  readonly artifact_type: string;
  /** JSON, or the beginning of it, within `MAX_ROW_CONTENT_BYTES`. */
  readonly content_json: string;
  readonly content_state: "full" | "cut" | "missing";
  readonly bytes: number;
}

export interface OverlayRow {
  readonly id: string;
  readonly kind: "summary" | "dropped";
  readonly position_from: number;
  readonly position_to: number;
  readonly items: number;
  readonly content: string | null;
  readonly boundary_timestamp: number | null;
}

/** The epoch change that ended a compaction, or that was a compaction by itself. */
export interface EpochRow {
  readonly id: string;
  readonly trigger: string;
  readonly status: "completed" | "failed";
  readonly did_compact: 0 | 1;
  readonly epoch: number;
  readonly ops: string;
  readonly receipt: string;
  readonly summary: string | null;
}

export type SessionChanges = {
  readonly title?: string | null;
  readonly model?: string;
  readonly policy?: string;
  readonly end_user?: string | null;
  /** JSON. */
  readonly metadata?: string;
  readonly archived_at?: number | null;
};

/** The columns of a new session that clients choose. `metadata` is JSON. */
interface OpenedSession {
  readonly title: string | null;
  readonly model: string;
  readonly policy: string;
  readonly external_id: string | null;
  readonly end_user: string | null;
  readonly metadata: string;
}

/** `seq` and `at` are those of the event. */
export type RowOp = { readonly seq: number; readonly at: number } & (
  | { readonly op: "open_session"; readonly row: OpenedSession }
  | { readonly op: "change_session"; readonly changes: SessionChanges }
  /** Replaces all entries. */
  | { readonly op: "set_metadata"; readonly entries: readonly (readonly [name: string, value: string])[] }
  | { readonly op: "insert_message"; readonly row: MessageRow }
  /** `terms`: of the message, or of the title at position 0. Empty: it cannot be found any more. */
  | { readonly op: "index_text"; readonly position: number; readonly terms: string }
  | { readonly op: "insert_execution"; readonly row: ExecutionColumns }
  | { readonly op: "change_execution"; readonly id: string; readonly changes: ExecutionChanges }
  /** Cancels the calls that the turn left open. */
  | { readonly op: "cancel_executions"; readonly turn: string }
  | { readonly op: "insert_artifact"; readonly row: ArtifactRow }
  /** `texts` are the summaries that are removed with the message. */
  | { readonly op: "redact_message"; readonly position: number; readonly texts: readonly string[] }
  /** Messages at these positions belong to other branches, all others to the current branch. */
  | { readonly op: "choose_branch"; readonly elsewhere: readonly CoveredRange[] }
  | { readonly op: "insert_overlay"; readonly row: OverlayRow; readonly replaces: readonly string[] }
  /** `ids` null: all overlays. */
  | { readonly op: "hide_overlays"; readonly ids: readonly string[] | null }
  | { readonly op: "show_overlays"; readonly ids: readonly string[] }
  | { readonly op: "request_compaction"; readonly id: string; readonly trigger: string }
  | { readonly op: "start_compaction"; readonly id: string; readonly attempt: number }
  | { readonly op: "fail_compaction"; readonly id: string; readonly attempt: number; readonly failure: string; readonly final: boolean }
  | { readonly op: "draft_compaction"; readonly id: string }
  | { readonly op: "revert_compaction"; readonly id: string }
  | { readonly op: "change_epoch"; readonly row: EpochRow }
  | { readonly op: "insert_usage"; readonly call: ModelCallFinished; readonly endUser: string | null }
  | { readonly op: "erase_session" }
);
