/**
 * A tool call as an execution: its status, determined in the same way by the session's object and by the read model. An
 * imported call is an execution too. Another system made it, so its status is `unknown` unless its result was imported.
 */
import type { ToolFailure } from "./tool-run";

/**
 * `open`: not started. `unknown`: started here or elsewhere, with an end that was not observed. `cancelled`: its turn
 * ended before it was started.
 */
export const EXECUTION_STATUSES = [
  "open",
  "awaiting_approval",
  "running",
  "succeeded",
  "failed",
  "denied",
  "cancelled",
  "unknown",
] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/** Who runs a call. */
export type RunsAt = "client" | "server";

/** The status of a call when it is recorded. */
export const statusOfCall = (turn: string | null): ExecutionStatus => (turn === null ? "unknown" : "open");

export function statusOfResult(is_error: boolean, failure: ToolFailure | null): ExecutionStatus {
  if (failure === "denied") return "denied";
  if (failure === "unknown_outcome") return "unknown";
  return is_error ? "failed" : "succeeded";
}

/** Whether the execution succeeded. Null when it is not over, or its outcome is unknown. */
export function toSuccess(status: ExecutionStatus): boolean | null {
  if (status === "succeeded") return true;
  return status === "failed" || status === "denied" ? false : null;
}

/** Maximum length of a failure's message, taken from the start of its output, in UTF-16 units. */
export const ERROR_MESSAGE_CHARS = 2_000;

/** Whether the output contains an error message. */
export const hasErrorMessage = (status: ExecutionStatus): boolean => status === "failed" || status === "denied";
