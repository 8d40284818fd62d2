/** Why a command was refused: a closed union, so that every edge maps it exhaustively (docs/design.md §1.8). */
export type Rejection =
  | { readonly code: "session_not_found" }
  | { readonly code: "session_erased" }
  | { readonly code: "session_exists" }
  | { readonly code: "turn_running"; readonly turn: string }
  | { readonly code: "queue_full"; readonly limit: number }
  | { readonly code: "no_turn" }
  /** `status`: the last turn's; null: no turn has ended yet. */
  | { readonly code: "not_retryable"; readonly status: string | null }
  /** `index`: of the result in its request; null: the message itself is the result. `became`: where it was looked up. */
  | { readonly code: "call_not_open"; readonly index: number | null; readonly call: string; readonly became?: ClosedCall }
  /** `index`: in its request. No such call waits for an answer of this kind. */
  | { readonly code: "approval_not_open"; readonly index: number; readonly execution: string }
  | { readonly code: "message_not_queued"; readonly message: string }
  /** A late, doubled or foreign result: it decides to nothing and must not be tried again. */
  | { readonly code: "stale"; readonly reason: StaleReason }
  /** One is under way: asked for by hand, a second one waits for nobody. */
  | { readonly code: "compaction_running"; readonly compaction: string }
  /** Another draft waits for its commit, and there is one at a time. */
  | { readonly code: "draft_open"; readonly compaction: string }
  /** No draft of that id waits: it is over, or was none. */
  | { readonly code: "not_drafted"; readonly compaction: string }
  /** It was edited since it was read. `edits`: how often it was. */
  | { readonly code: "draft_edited"; readonly edits: number }
  /** Only the newest compaction that stands can be taken back. */
  | { readonly code: "not_newest"; readonly newest: string | null }
  | { readonly code: "lease_held"; readonly expires_at: number }
  | { readonly code: "branch_limit"; readonly limit: number }
  /** The session's database has no room for it. Nothing was changed. */
  | { readonly code: "storage_full" }
  /** It is being copied from another session, and that is not done. */
  | { readonly code: "fork_unfinished"; readonly from: string };

/** What became of a call that is not open. `runs_here`: it is, and not the client's. `unknown`: none of the newest items is such a call. */
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
  | "call_over";
