/** How long a summary may be. */
import type { Policy } from "../../context/policy";
import { summaryCap } from "../../context/proposal";
import { CAP_TOLERANCE } from "../../context/summary-check";
import type { SummaryPlan } from "../../domain/compaction-events";
import type { ModelSpec } from "../ports";
import { windowOf } from "./build-request";

/** Most tokens of the summary that stands in the view. */
export const capOf = (spec: ModelSpec, policy: Policy): number => summaryCap(windowOf(spec, policy), policy);

/** Most tokens of a summary that `model` writes for a session of `spec`: what stands in the view, and what the writer can. */
export const capFor = (model: ModelSpec, spec: ModelSpec, policy: Policy): number => {
  const cap = capOf(spec, policy);
  return model.id === spec.id ? cap : Math.min(cap, model.max_output, Math.floor((model.context_window ?? Number.POSITIVE_INFINITY) / 4));
};

export interface Writing {
  readonly plan: SummaryPlan;
  /** The session's model, for whose view it is. */
  readonly spec: ModelSpec;
  /** Who writes it. */
  readonly summarizer: ModelSpec;
  readonly policy: Policy;
}

/** Most tokens of one answer, as its writer is told: the two stages of a split turn are one summary in the end. */
export function answerCapOf({ plan: { mode, split, source }, spec, summarizer, policy }: Writing): number {
  const cap = capFor(summarizer, spec, policy);
  return mode === "transcript" && split !== null && split > source.from ? Math.min(cap, Math.floor(capOf(spec, policy) / 2)) : cap;
}

/** What the request allows: who writes a little more than it was told comes to its end, and what it wrote is worth having (`summary-check`). */
export const allowedOutput = (cap: number, { max_output }: Pick<ModelSpec, "max_output">): number =>
  Math.min(max_output, Math.ceil(cap * CAP_TOLERANCE));
