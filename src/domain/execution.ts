/**
 * A call as an execution (OdinCode plan): what became of it, told alike by the session's object and by the read model. An imported call is
 * one too: somebody else made it, and what became of it is unknown unless its result was imported.
 */
import type { ToolFailure } from "./tool-run";

/**
 * `open`: nothing of it was begun. `unknown`: it was begun, here or elsewhere, and nobody saw its end. `cancelled`: its turn ended before
 * it was begun.
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

/** What a call is once it is recorded. */
export const statusOfCall = (turn: string | null): ExecutionStatus => (turn === null ? "unknown" : "open");

export function statusOfResult(is_error: boolean, failure: ToolFailure | null): ExecutionStatus {
  if (failure === "denied") return "denied";
  if (failure === "unknown_outcome") return "unknown";
  return is_error ? "failed" : "succeeded";
}

/** Null: it is not over, or nobody knows. */
export function successOf(status: ExecutionStatus): boolean | null {
  if (status === "succeeded") return true;
  return status === "failed" || status === "denied" ? false : null;
}

/** Of the output of what failed, the beginning: UTF-16 units. */
export const ERROR_MESSAGE_CHARS = 2_000;

/** Whether the output says what went wrong. */
export const hasErrorMessage = (status: ExecutionStatus): boolean => status === "failed" || status === "denied";
