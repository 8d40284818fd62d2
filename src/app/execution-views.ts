/** What people see of an execution: a call, who ran it, and what became of it. Plain data. */
import type { ExecutionStatus, RunsAt } from "../domain/execution";
import type { ExecutionId, SessionId, TurnId } from "../domain/ids";
import type { ToolFailure } from "../domain/tool-run";

/** Something that came beside the output. */
interface ArtifactView {
  /** From 0, in the order in which they came. */
  readonly number: number;
  readonly type: string;
  /** UTF-8 size of its content as JSON. */
  readonly bytes: number;
}

export interface ExecutionView {
  readonly id: ExecutionId;
  readonly session_id: SessionId;
  /** Null: the call was imported. */
  readonly turn_id: TurnId | null;
  /** Where the call stands in the conversation. */
  readonly position: number;
  /** Where its result does; null: there is none. */
  readonly result_position: number | null;
  readonly tool_name: string;
  /** The provider's own id of the call; it may repeat. */
  readonly call_id: string;
  readonly runs: RunsAt;
  readonly status: ExecutionStatus;
  /** Null: it is not over, or nobody knows. */
  readonly success: boolean | null;
  readonly exit_code: number | null;
  readonly duration_ms: number | null;
  /** Null: it did not fail, or failed as the client says, with no more known. */
  readonly failure: ToolFailure | null;
  /** The beginning of the output, where it failed. */
  readonly error_message: string | null;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
  /** When the call was recorded. */
  readonly created_at: number;
  /** When it was begun here; null: it was not, or it has no effect outside, or the client ran it. */
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly artifacts: readonly ArtifactView[];
}

/** `cut`: what is given is the beginning. `missing`, `redacted`: it is not there. */
export type ContentState = "full" | "cut" | "redacted" | "missing";

/** As the read model has it, with its content. */
export interface ExecutionDetail extends Omit<ExecutionView, "artifacts"> {
  readonly arguments_state: ContentState;
  /** As it was recorded; null: there is none yet, or it is not there. */
  readonly output: string | null;
  /** Null: there is no result. */
  readonly output_state: ContentState | null;
  /** `content`: any JSON value; of one that is cut, the beginning of its JSON text. */
  readonly artifacts: readonly (ArtifactView & { readonly content: unknown; readonly content_state: ContentState })[];
}
