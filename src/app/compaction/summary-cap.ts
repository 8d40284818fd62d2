/** How long a summary may be. */
import type { Policy } from "../../context/policy";
import { summaryCap } from "../../context/proposal";
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

/** Most tokens of one answer: the two stages of a split turn are one summary in the end. */
export function answerCapOf({ mode, split, source }: SummaryPlan, spec: ModelSpec, policy: Policy): number {
  const cap = capOf(spec, policy);
  return mode === "transcript" && split !== null && split > source.from ? Math.floor(cap / 2) : cap;
}
