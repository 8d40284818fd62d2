/** How a call of a tool went, beyond what the model reads of it: the facts of an execution (OdinCode plan). */
import type { CoveredRange } from "./compaction-events";
import type { BodyId } from "./ids";

/**
 * Why a call failed. `unknown_outcome`: it was begun and its end was never seen, so that nobody knows what it did. `refused_address`:
 * it would have gone to where tools may not reach. `not_configured`: the tool, its server or its credential is gone.
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

/** Beside one output: they are named in one event, which is one row. */
export const MAX_ARTIFACTS = 16;

/** Something a call brought beside its output: its standard error, an image. `type` is whoever ran it's own word. */
export interface Artifact {
  readonly type: string;
  /** Its content, as JSON text. */
  readonly body: BodyId;
  /** UTF-8 size of that. */
  readonly bytes: number;
}

export interface ToolRun {
  /** From its start to its end, in milliseconds; null: nobody measured it. */
  readonly ms: number | null;
  /** Of a process, where it was one. */
  readonly exit_code: number | null;
  /** Null: it succeeded, or failed as whoever ran it says, with no more known. */
  readonly failure: ToolFailure | null;
  readonly artifacts: readonly Artifact[];
  /** The positions that a look-up's answer quotes. Absent: the call is no look-up, or an older build recorded it. */
  readonly read?: readonly CoveredRange[];
}
