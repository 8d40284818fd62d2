/** The compaction under way, as the state holds it: what was requested, and the lease of the one who works on it. */
import type { ChunkProgress, CompactionOptions, CompactionTrigger, InlineWork, SummaryPlan } from "./compaction-events";
import type { CompactionSpend } from "./compaction-spend";
import type { CompactionId, KeyId } from "./ids";

export interface CompactionLease extends SummaryPlan {
  readonly token: number;
  readonly attempt: number;
  readonly expires_at: number;
  readonly base_epoch: number;
  /** Null when a background worker holds the lease. */
  readonly inline: InlineWork | null;
}

/** The trigger that the work under a lease is recorded with. If a turn took it over, the turn's trigger. */
export const triggerOfWork = (requested: Pick<RequestedCompaction, "trigger">, lease: CompactionLease | null): CompactionTrigger =>
  lease?.inline?.trigger ?? requested.trigger;

export interface RequestedCompaction {
  readonly id: CompactionId;
  readonly trigger: CompactionTrigger;
  readonly at: number;
  readonly attempts: number;
  /** The summariser's answer to an earlier attempt could not be used. Absent: false. */
  readonly unusable?: true;
  readonly options: CompactionOptions | null;
  /** The API key that asked for the compaction. Absent: the session itself did. */
  readonly key?: KeyId;
  /** Progress of a summary that is made in several parts. A retry with the same plan continues from it. */
  readonly folded: ChunkProgress | null;
  /** The plan that `folded` was made under. */
  readonly folded_for: SummaryPlan | null;
  /** The first fencing token of this compaction: its leases have this token or a higher one. */
  readonly first_token: number;
  /** Usage, cost and time of this compaction's model calls that are in the ledger. */
  readonly spent: CompactionSpend;
}

/** The plan alone, of a lease or of the event that began it. */
export function takePlan(held: SummaryPlan): SummaryPlan {
  const { range, source, reread_from, replaces, keeps, merge, generation, split, mode } = held;
  const { instructions, instructions_left_out } = held;
  const plan = { range, source, replaces, keeps, merge, generation, split, mode };
  return {
    ...plan,
    ...(reread_from !== undefined && { reread_from }),
    ...(instructions && { instructions }),
    ...(instructions_left_out && { instructions_left_out }),
  };
}
