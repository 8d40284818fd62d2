/** The change of the view that a summary makes: as a worker's result takes effect, as a draft is shown, and as it is committed. */
import { type DraftInput, draftFromSummary, fitsAfter, isSmallerBySummary, type SummaryText } from "../../context/epoch-draft";
import type { Plan, Rung } from "../../context/plan";
import type { EpochDraft } from "../../domain/commands";
import type { CompactionOptions, CompactionTrigger, EpochOp, SummaryPlan } from "../../domain/compaction-events";
import type { OverlayId } from "../../domain/ids";
import type { ModelSpec } from "../ports";
import { type DraftPorts, draftInput, limitsOf, windowOf } from "../request/build-request";
import { askedPolicy, planSession } from "./plan-session";

interface WrittenSummary {
  readonly summary: SummaryText;
  /** As it was leased. */
  readonly plan: SummaryPlan;
  readonly overlay: OverlayId;
  readonly trigger: CompactionTrigger;
  /** What was asked for by hand. */
  readonly options: CompactionOptions | null;
  readonly summarizer: DraftInput["summarizer"];
}

export interface SummaryChange {
  readonly change: EpochDraft;
  /** The view gets smaller by the summary; of one that was only made anew: the request fits with it. */
  readonly isWorthIt: boolean;
}

export function changeFromSummary(made: WrittenSummary, spec: ModelSpec, ports: DraftPorts): SummaryChange {
  const { summary, plan, overlay, trigger, options, summarizer } = made;
  const planned = planSession(spec, { trigger, options }, ports);
  const economy = planned.kind === "compact" ? planned.economy : null;
  const input = draftInput({ limits: limitsOf(spec), trigger, summarizer, economy }, ports);
  const change = draftFromSummary({ summary, plan, overlay, also: shorteningsOf(planned, plan.range.to) }, input);
  return { change, isWorthIt: isWorthIt(change.ops, { spec, options }, ports) };
}

/** What else the plan rewrites, behind the summary: messages of the tail that are shown by their ends. */
function shorteningsOf(plan: Plan, to: number): Rung[] {
  return (plan.kind === "compact" ? plan.rungs : []).flatMap((rung) => {
    if (rung.rung !== "shorten") return [];
    const items = rung.items.filter((item) => item.position > to);
    return items.length > 0 ? [{ ...rung, items }] : [];
  });
}

function isWorthIt(
  ops: readonly EpochOp[],
  { spec, options }: { readonly spec: ModelSpec; readonly options: CompactionOptions | null },
  { writer: { state } }: DraftPorts,
): boolean {
  return options?.rebuild ? fitsAfter(state, ops, windowOf(spec, askedPolicy(state, options))).fits : isSmallerBySummary(state, ops);
}
