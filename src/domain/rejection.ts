/** Why a turn does not start, or a stream does not open, now: as many are under way as may be. `seconds`: until it may be asked for again. */
export interface SlotRefusal {
  readonly code: "rate_limited";
  readonly limit: "concurrent_turns" | "concurrent_streams";
  readonly of: "tenant" | "key" | "end_user";
  readonly max: number;
  readonly seconds: number;
}

/** Why a command was rejected. The union is closed, so that every edge maps it exhaustively (docs/api/errors.md). */
export type Rejection =
  | { readonly code: "session_not_found" }
  | { readonly code: "session_erased" }
  | { readonly code: "session_exists" }
  | { readonly code: "turn_running"; readonly turn: string }
  | { readonly code: "queue_full"; readonly limit: number }
  /** The session has as many messages as the tenant allows. */
  | { readonly code: "message_limit"; readonly limit: number }
  | { readonly code: "no_turn" }
  /** `status`: the last turn's status. Null when no turn has ended yet. */
  | { readonly code: "not_retryable"; readonly status: string | null }
  /**
   * `index`: the index of the result in its request; null when the message itself is the result. `became`: the call's
   * actual status, where it was looked up.
   */
  | { readonly code: "call_not_open"; readonly index: number | null; readonly call: string; readonly became?: ClosedCall }
  /** The open turn waits for results of these calls, or for approvals of them, and the request brings something else. */
  | { readonly code: "calls_unanswered"; readonly calls: readonly { readonly execution: string; readonly call_id: string }[] }
  /** No such call waits for an approval. `index`: the index of the answer in its request. */
  | { readonly code: "approval_not_open"; readonly index: number; readonly execution: string }
  | { readonly code: "message_not_queued"; readonly message: string }
  /** A late, duplicate or foreign result. It has no effect and must not be retried. */
  | { readonly code: "stale"; readonly reason: StaleReason }
  /** A compaction is under way, and another one was requested by hand. */
  | { readonly code: "compaction_running"; readonly compaction: string }
  /** Another draft waits for its commit. There is one at a time. */
  | { readonly code: "draft_open"; readonly compaction: string }
  /** No draft with that id waits for its commit. */
  | { readonly code: "not_drafted"; readonly compaction: string }
  /** The draft was edited after the client read it. `edits`: the current number of edits. */
  | { readonly code: "draft_edited"; readonly edits: number }
  /** Only the newest committed compaction can be reverted. */
  | { readonly code: "not_newest"; readonly newest: string | null }
  | { readonly code: "lease_held"; readonly expires_at: number }
  | { readonly code: "branch_limit"; readonly limit: number }
  | { readonly code: "schedule_limit"; readonly limit: number }
  | { readonly code: "schedule_not_found"; readonly schedule: string }
  | SlotRefusal
  /** The session's database has no room for the change. Nothing was changed. */
  | { readonly code: "storage_full" }
  /** The session is still being copied from another one. */
  | { readonly code: "fork_unfinished"; readonly from: string };

/**
 * The status of a call that is not open for the client. `runs_here`: the call is open, but the server runs it.
 * `unknown`: no such call is among the newest items.
 */
export type ClosedCall = "answered" | "answered_here" | "runs_here" | "cancelled" | "unknown";

export type StaleReason =
  | "turn_over"
  | "other_incarnation"
  | "compaction_over"
  | "lease_lost"
  | "epoch_moved"
  | "range_changed"
  | "not_idle"
  | "title_recorded"
  | "schedule_changed"
  | "call_over";
