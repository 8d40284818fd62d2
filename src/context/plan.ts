/** A compaction as data: the rungs of the ladder that are to be taken, or why none is. */
import type { CompactionTrigger, CoveredRange, FitReport } from "../domain/events";
import type { OverlayId } from "../domain/ids";
import type { SessionState } from "../domain/state";
import type { Measure, ModelLimits } from "./budget";
import type { Policy } from "./policy";

/** One step of the ladder. Tokens are scaled and padded, as everything that is planned with. */
export type Rung =
  | { readonly rung: "shorten_results"; readonly positions: readonly number[] }
  | ({ readonly rung: "drop"; readonly replaces: readonly OverlayId[]; readonly items: number; readonly tokens: number } & CoveredRange)
  | ({
      readonly rung: "summarize";
      /** Overlays that the summary takes the place of. */
      readonly replaces: readonly OverlayId[];
      /** What goes into the prompt beside the previous summary: positions, both included. */
      readonly source: CoveredRange;
      readonly items: number;
      readonly tokens: number;
      readonly boundary_timestamp: number;
    } & CoveredRange);

export type NoPlanReason = "unknown_window" | "below_threshold" | "nothing_older" | "fits";

export type Plan =
  | { readonly kind: "none"; readonly reason: NoPlanReason; readonly next: Measure }
  | {
      readonly kind: "compact";
      readonly trigger: CompactionTrigger;
      readonly base_epoch: number;
      readonly next: Measure;
      readonly rungs: readonly Rung[];
      /** What takes the rungs' place when no model helps; empty: nothing can leave. */
      readonly fallback: readonly Rung[];
    }
  | { readonly kind: "cannot_fit"; readonly fit: FitReport };

export interface PlanInput {
  readonly state: SessionState;
  readonly limits: ModelLimits;
  readonly policy: Policy;
  readonly trigger: CompactionTrigger;
}
