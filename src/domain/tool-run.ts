/** How a tool call went, beyond what the model reads of it. */
import type { CoveredRange } from "./compaction-events";
import type { BodyId } from "./ids";

/**
 * Why a call failed. `unknown_outcome`: it was started and its end was not observed. `refused_address`: its target is
 * an address that tools may not reach. `not_configured`: the tool, its server or its credential was removed.
 */
export const TOOL_FAILURES = [
  "tool_error",
  "unknown_tool",
  "invalid_arguments",
  "denied",
  "refused_address",
  "unreachable",
  "timeout",
  "status",
  "too_large",
  "not_configured",
  "unknown_outcome",
  "internal",
] as const;
export type ToolFailure = (typeof TOOL_FAILURES)[number];

/** Maximum number of artifacts beside one output. One event, which is one row, names them all. */
export const MAX_ARTIFACTS = 16;

/** Additional output of a call, for example its standard error or an image. `type` is chosen by the tool or client that ran the call. */
export interface Artifact {
  readonly type: string;
  /** The artifact's content, as JSON text. */
  readonly body: BodyId;
  /** Size of that text in UTF-8 bytes. */
  readonly bytes: number;
}

export interface ToolRun {
  /** Duration in milliseconds. Null when it was not measured. */
  readonly ms: number | null;
  /** Exit code, if the tool was a process. Else null. */
  readonly exit_code: number | null;
  /** Null when the call succeeded, or failed without a known reason. */
  readonly failure: ToolFailure | null;
  readonly artifacts: readonly Artifact[];
  /** The positions that a look-up's answer quotes. Absent: the call is no look-up. */
  readonly read?: readonly CoveredRange[];
}
