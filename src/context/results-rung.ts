/** OdinCode's rule: before each call, all tool results but the newest few are shown as a placeholder. */
import { isBreakerOpen } from "../domain/breaker";
import { measureNext, measureWithout, ratioOf } from "./budget";
import { gainFrom } from "./ladder";
import type { Plan, PlanInput } from "./plan";
import { olderResults, reductionGain } from "./reductions";

/** For a policy that clears before each call; `none` for any other, and when nothing is old enough. */
export function planResults({ state, limits, policy }: Omit<PlanInput, "trigger" | "now" | "options">): Plan {
  const next = measureNext(state, limits.model);
  if (policy.results.clear !== "each_call") return { kind: "none", reason: "not_by_policy", next };
  // All of them, even one that is shorter than the placeholder: the rule knows no size.
  const items = olderResults(state, state.view.items, policy.results);
  if (items.length === 0) return { kind: "none", reason: "nothing_older", next };
  const gain = Math.floor(reductionGain(state, items) * ratioOf(state, limits.model));
  const reason = "old tool results are cleared before each call";
  const rungs = [{ rung: "clear_results", items, gain, reason }] as const;
  return {
    kind: "compact",
    trigger: "results",
    base_epoch: state.view.epoch,
    next,
    expected: measureWithout(next, gainFrom(rungs, { state, limits })),
    rungs,
    fallback: [],
    economy: null,
    breaker_open: isBreakerOpen(state.compaction),
  };
}
