/** What a session answers (`session-api`): plain data, in the form in which it crosses RPC and leaves as JSON. */

import type { Measure } from "../context/budget";
import type { PolicyChoice } from "../context/policy-choice";
import type { TokenFigure } from "../contract/tokens";
import type { CompactionTrigger } from "../domain/compaction-events";
import type { StoredEvent } from "../domain/events";
import type { BodyId } from "../domain/ids";

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

/** One page of the log with its bodies, for rebuilding the read model. */
export interface LogPage {
  readonly events: readonly StoredEvent[];
  readonly bodies: readonly { readonly id: BodyId; readonly text: string }[];
  readonly has_more: boolean;
}
