/**
 * What a person may do to the model's view of a session: compact, revert, reset the summary, pin. Part of what a session's object answers.
 */

import type { SessionDescription } from "../contract/session";
import type { CompactionId } from "../domain/ids";
import type { BranchApi } from "./branch-api";
import type { CompactInput, CompactionView, CompactOutcome } from "./control-views";
import type { DraftApi } from "./draft-api";
import type { PastApi } from "./past-api";
import type { Caller, Idempotency, Once, Outcome, SessionApi } from "./session-api";

export interface ControlApi {
  compact(caller: Caller, input: CompactInput & { readonly idempotency: Idempotency | null }): Promise<Outcome<Once<CompactOutcome>>>;
  /** Reverts the newest compaction in force, and returns that compaction. */
  revertCompaction(
    caller: Caller,
    input: { readonly compaction: CompactionId; readonly idempotency: Idempotency | null },
  ): Promise<Outcome<Once<{ readonly compaction: CompactionView }>>>;
  /** Removes the summaries from the view. Null when there is no summary. */
  resetSummary(caller: Caller): Promise<Outcome<CompactionView | null>>;
  setPins(caller: Caller, pins: readonly string[]): Promise<Outcome<SessionDescription>>;
}

/** All methods of a session's object. */
export type WholeSessionApi = SessionApi & ControlApi & DraftApi & BranchApi & PastApi;
