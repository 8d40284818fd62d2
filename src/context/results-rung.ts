/** The rule of preset `odincode`: before each call, all tool results except the newest few are shown as a placeholder. */
import { toSizing } from "./budget";
import { buildImmediatePlan } from "./ladder";
import type { Plan, PlanInput } from "./plan";
import { olderResults } from "./reductions";

/** Plans for a policy that clears results before each call. `none` for any other policy, and when no result is old enough. */
export function planResults({ state, limits, policy }: Omit<PlanInput, "trigger" | "now" | "options">): Plan {
  const sizing = toSizing({ state, limits });
  const next = sizing.next();
  if (policy.results.clear !== "each_call") return { kind: "none", reason: "not_by_policy", next };
  // Includes results that are shorter than the placeholder, because the rule ignores size.
  const items = olderResults(state, state.view.items, policy.results);
  if (items.length === 0) return { kind: "none", reason: "nothing_older", next };
  const gain = sizing.gain(sizing.freed(items));
  const reason = "old tool results are cleared before each call";
  const rungs = [{ rung: "clear_results", items, gain, reason }] as const;
  return buildImmediatePlan("results", sizing, { next, rungs });
}
