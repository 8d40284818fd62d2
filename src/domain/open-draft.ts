/** What the state holds of a draft. */
import type { CompactionOptions, SummaryPlan } from "./compaction-events";
import type { Edited } from "./draft-events";
import type { CompactionId, OverlayId } from "./ids";
import type { TextRef } from "./message";
import type { Spent } from "./spent";

/** A summary that waits for a person: made under a lease, and committed, if at all, over what that covered. */
export interface OpenDraft {
  readonly id: CompactionId;
  readonly at: number;
  readonly base_epoch: number;
  readonly plan: SummaryPlan;
  /** The summary's id in the view, once it is committed. */
  readonly overlay: OverlayId;
  readonly summary: TextRef;
  readonly options: CompactionOptions | null;
  readonly attempts: number;
  /** Leases from the first to the last of these tokens were its own. */
  readonly tokens: { readonly first: number; readonly last: number };
  readonly spent: Spent;
  /** How often it was edited: what an edit, and a commit, is compared with. */
  readonly edits: number;
  /** Null: it stands as the model wrote it. */
  readonly edited: Edited | null;
}
