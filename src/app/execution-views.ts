/** What clients see of an execution: a call, which side ran it, and its result. Plain data. */
import type { ExecutionStatus, RunsAt } from "../domain/execution";
import type { ExecutionId, SessionId, TurnId } from "../domain/ids";
import type { ToolFailure } from "../domain/tool-run";

/** Data that came beside the output. */
interface ArtifactView {
  /** Counts from 0, in the order of arrival. */
  readonly number: number;
  readonly type: string;
  /** UTF-8 size of its content as JSON. */
  readonly bytes: number;
}

export interface ExecutionView {
  readonly id: ExecutionId;
  readonly session_id: SessionId;
  /** Null when the call was imported. */
  readonly turn_id: TurnId | null;
  /** The call's position in the conversation. */
  readonly position: number;
  /** The result's position. Null when there is no result. */
  readonly result_position: number | null;
  readonly tool_name: string;
  /** The provider's own id of the call; it may repeat. */
  readonly call_id: string;
  readonly runs: RunsAt;
  readonly status: ExecutionStatus;
  /** Null when the call has not ended, or its outcome is unknown. */
  readonly success: boolean | null;
  readonly exit_code: number | null;
  readonly duration_ms: number | null;
  /** Null when the call did not fail, or when the client reported a failure without details. */
  readonly failure: ToolFailure | null;
  /** The beginning of the output of a failed call. */
  readonly error_message: string | null;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
  /** When the call was recorded. */
  readonly created_at: number;
  /** When it started here. Null: it did not start, it has no effect outside, or the client ran it. */
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly artifacts: readonly ArtifactView[];
}

/** `cut`: only the beginning is included. `missing`, `redacted`: the content is not available. */
export type ContentState = "full" | "cut" | "redacted" | "missing";

/** An execution from the read model, with its content. */
export interface ExecutionDetail extends Omit<ExecutionView, "artifacts"> {
  readonly arguments_state: ContentState;
  /** The output as it was recorded. Null when there is none yet, or it is not available. */
  readonly output: string | null;
  /** Null when there is no result. */
  readonly output_state: ContentState | null;
  /** `content`: any JSON value; for a cut artifact, the beginning of its JSON text. */
  readonly artifacts: readonly (ArtifactView & { readonly content: unknown; readonly content_state: ContentState })[];
}
