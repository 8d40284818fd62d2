/** A compaction as data: the rungs of the ladder that are to be taken, or why none is. */
import type { CompactionOptions, CompactionTrigger, CoveredRange, Reduction, SummaryPlan } from "../domain/compaction-events";
import type { FitReport } from "../domain/events";
import type { OverlayId } from "../domain/ids";
import type { SessionState } from "../domain/state";
import type { Measure, ModelLimits } from "./budget";
import type { Policy } from "./policy";

/** What every step of the ladder says: tokens of the next request that it frees, in the unit of `current_context_tokens`, and why it is taken. */
interface Step {
  readonly gain: number;
  readonly reason: string;
}

/** What a summary is to cover, and how; with what is expected of it. */
export interface SummarizeRung extends Omit<SummaryPlan, "reread_from">, Step {
  readonly rung: "summarize";
  /** Raw tokens of the record that it reads again, beside the source; the lease says from where (`SummaryPlan.reread_from`). */
  readonly reread: number;
  readonly items: number;
  /** Raw estimate of the source. */
  readonly tokens: number;
  /** Expected tokens of the summary, raw. */
  readonly expected: number;
  readonly boundary_timestamp: number;
}

export interface DropRung extends CoveredRange, Step {
  readonly rung: "drop";
  readonly replaces: readonly OverlayId[];
  readonly items: number;
}

/** One step of the ladder, from the gentlest to the last (docs/design.md §5). */
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
  /** No summary stands that could be made anew. */
  | "no_summary"
  /** The policy never summarises, and nothing else helps. */
  | "not_by_policy";

/** What it costs and saves, in the model's price unit. */
export interface PlanEconomy {
  /** What this epoch's calls have paid to read again what would go. */
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
      /** The next request when all rungs are taken. */
      readonly expected: Measure;
      readonly rungs: readonly Rung[];
      /**
       * What takes the rungs' place when no model helps: under a policy that asks for one, a note stands for what its summary was to cover
       * instead (`fallback-note`). Empty: nothing can leave, or, asked for by hand, nothing need.
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
  /** `threshold`: the soft trigger, which may find that rent is due instead. */
  readonly trigger: CompactionTrigger;
  /** Epoch milliseconds: a cache that was not read for a while is cold. */
  readonly now: number;
  readonly options?: CompactionOptions | null;
}
