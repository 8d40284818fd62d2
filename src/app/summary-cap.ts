/** How long a summary may be. */
import type { Policy } from "../context/policy";
import { summaryCap } from "../context/proposal";
import type { SummaryPlan } from "../domain/compaction-events";
import { windowOf } from "./build-request";
import type { ModelSpec } from "./ports";

/** Most tokens of the summary that stands in the view. */
export const capOf = (spec: ModelSpec, policy: Policy): number => summaryCap(windowOf(spec, policy), policy);

/** Most tokens of one answer: the two stages of a split turn are one summary in the end. */
export function answerCapOf({ mode, split, source }: SummaryPlan, spec: ModelSpec, policy: Policy): number {
  const cap = capOf(spec, policy);
  return mode === "transcript" && split !== null && split > source.from ? Math.floor(cap / 2) : cap;
}
