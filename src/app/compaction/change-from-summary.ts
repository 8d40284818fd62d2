/** Builds the change of the view that a summary makes: for a worker's result, for the preview of a draft, and for its commit. */
import { buildChangeFromSummary, type EpochChangeInput, fitsAfter, isSmallerAfter, type SummaryText } from "../../context/epoch-change";
import type { Plan, Rung } from "../../context/plan";
import { Sizing } from "../../context/sizing";
import type { EpochChange } from "../../domain/commands";
import type { CompactionOptions, CompactionTrigger, EpochOp, SummaryPlan } from "../../domain/compaction-events";
import type { OverlayId } from "../../domain/ids";
import type { ModelSpec } from "../ports";
import { type ChangePorts, toAssumedLimits, toChangeInput, toModelLimits } from "../request/build-request";
import { askedPolicy, planSession } from "./plan-session";
import { countRedacted } from "./summary-request";

interface WrittenSummary {
  readonly summary: SummaryText;
  /** The plan that was leased. */
  readonly plan: SummaryPlan;
  readonly overlay: OverlayId;
  readonly trigger: CompactionTrigger;
  /** What a person asked for; null for an automatic compaction. */
  readonly options: CompactionOptions | null;
  readonly summarizer: EpochChangeInput["summarizer"];
}

export interface SummaryChange {
  readonly change: EpochChange;
  /** True when the summary makes the next request smaller. For a rebuild: true when the request fits with the new summary. */
  readonly isWorthIt: boolean;
}

export function changeFromSummary(made: WrittenSummary, spec: ModelSpec, ports: ChangePorts): SummaryChange {
  const { summary, plan, overlay, trigger, options, summarizer } = made;
  const planned = planSession(spec, { trigger, options }, ports);
  const economy = planned.kind === "compact" ? planned.economy : null;
  const redacted = countRedacted({ plan, state: ports.writer.state, content: ports.content });
  const input = toChangeInput({ limits: toModelLimits(spec), trigger, summarizer, economy }, ports);
  const change = buildChangeFromSummary({ summary, plan, overlay, also: listShortenings(planned, plan.range.to), redacted }, input);
  return { change, isWorthIt: isWorthIt(change.ops, { spec, options }, ports) };
}

/** Messages after the summary's range that the plan shortens in the same change. */
function listShortenings(plan: Plan, to: number): Rung[] {
  return (plan.kind === "compact" ? plan.rungs : []).flatMap((rung) => {
    if (rung.rung !== "shorten") return [];
    const items = rung.items.filter((item) => item.position > to);
    return items.length > 0 ? [{ ...rung, items }] : [];
  });
}

function isWorthIt(
  ops: readonly EpochOp[],
  { spec, options }: { readonly spec: ModelSpec; readonly options: CompactionOptions | null },
  { writer: { state } }: ChangePorts,
): boolean {
  return options?.rebuild
    ? fitsAfter(state, ops, toAssumedLimits(spec, askedPolicy(state, options))).fits
    : isSmallerAfter(new Sizing(state, spec), ops);
}
