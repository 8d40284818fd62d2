/** A compaction as data: the rungs of the ladder to take, or the reason why there are none. */
import type { CompactionOptions, CompactionTrigger, CoveredRange, Reduction, SummaryPlan } from "../domain/compaction-events";
import type { FitReport } from "../domain/events";
import type { OverlayId } from "../domain/ids";
import type { SessionState } from "../domain/state";
import type { ModelLimits } from "./budget";
import type { Policy } from "./policy";
import type { Measure } from "./sizing";

/**
 * Common to all rungs. `gain`: tokens of the next request that the rung frees, in the unit of `current_context_tokens`.
 * `reason`: why the rung is taken.
 */
interface Step {
  readonly gain: number;
  readonly reason: string;
}

/** What a summary covers and how it is made, with its expected size. */
export interface SummarizeRung extends Omit<SummaryPlan, "reread_from" | "instructions" | "instructions_left_out">, Step {
  readonly rung: "summarize";
  /** Raw tokens of the record that the summary reads again beside its source. The lease says from where (`SummaryPlan.reread_from`). */
  readonly reread: number;
  readonly items: number;
  /** Raw estimate of the source. */
  readonly tokens: number;
  /** Expected size of the summary, in raw tokens. */
  readonly expected: number;
  readonly boundary_timestamp: number;
}

export interface DropRung extends CoveredRange, Step {
  readonly rung: "drop";
  readonly replaces: readonly OverlayId[];
  readonly items: number;
}

/** One step of the ladder, from the gentlest to the last (docs/summaries.md). */
export type Rung =
  | (Step & { readonly rung: "clear_results"; readonly items: readonly Reduction[] })
  | (Step & { readonly rung: "evict_media"; readonly items: readonly Reduction[] })
  | (Step & { readonly rung: "shorten"; readonly items: readonly Reduction[]; readonly chars: number })
  | SummarizeRung
  | DropRung;

export type NoPlanReason =
  | "unknown_window"
  | "below_threshold"
  | "nothing_older"
  | "fits"
  /** A revert suspended the soft trigger until the view has grown. */
  | "suspended"
  /** The view has no summary that could be made again. */
  | "no_summary"
  /** The policy never summarises, and no other rung helps. */
  | "not_by_policy";

/** What a plan costs and saves, in the model's price unit. */
export interface PlanEconomy {
  /** What this epoch's calls have paid to re-read what the plan removes. */
  readonly rent: number;
  readonly price: number;
  readonly read_cost_before: number;
  readonly read_cost_after: number;
  /** Tokens at the start of the request that the provider's cache is expected to hold still. */
  readonly cache_kept: number;
}

export type Plan =
  | { readonly kind: "none"; readonly reason: NoPlanReason; readonly next: Measure }
  | {
      readonly kind: "compact";
      readonly trigger: CompactionTrigger;
      readonly base_epoch: number;
      readonly next: Measure;
      /** The next request after all rungs are taken. */
      readonly expected: Measure;
      readonly rungs: readonly Rung[];
      /**
       * The rungs to take if no summary can be made. Under `on_failure: note` a note is made instead, for what the
       * summary was to cover (`fallback-note`). Empty when nothing can leave, when the policy changes nothing on
       * failure and the trigger is not forced, or when the compaction was requested by hand.
       */
      readonly fallback: readonly Rung[];
      readonly economy: PlanEconomy | null;
      readonly breaker_open: boolean;
    }
  | { readonly kind: "cannot_fit"; readonly fit: FitReport };

export type CompactPlan = Extract<Plan, { kind: "compact" }>;

export interface PlanInput {
  readonly state: SessionState;
  readonly limits: ModelLimits;
  readonly policy: Policy;
  /** `threshold` is the soft trigger, which may turn into `rent`. */
  readonly trigger: CompactionTrigger;
  /** Epoch milliseconds. A provider's cache that was not read for a while is cold. */
  readonly now: number;
  readonly options?: CompactionOptions | null;
}
