/** A draft as the state holds it. */
import type { CompactionOptions, SummaryPlan } from "./compaction-events";
import type { CompactionSpend } from "./compaction-spend";
import type { Edited } from "./draft-events";
import type { CompactionId, OverlayId } from "./ids";
import type { TextRef } from "./message";

/** A summary that waits for a person. It was made under a lease, and a commit must cover what that lease covered. */
export interface OpenDraft {
  readonly id: CompactionId;
  readonly at: number;
  readonly base_epoch: number;
  readonly plan: SummaryPlan;
  /** The id that the summary gets in the view when it is committed. */
  readonly overlay: OverlayId;
  readonly summary: TextRef;
  readonly options: CompactionOptions | null;
  readonly attempts: number;
  /** The first and the last fencing token of this compaction's leases. */
  readonly tokens: { readonly first: number; readonly last: number };
  readonly spent: CompactionSpend;
  /** Number of edits. An edit or a commit must name it, so that it cannot overwrite another edit. */
  readonly edits: number;
  /** Null when the summary is as the model wrote it. */
  readonly edited: Edited | null;
}
