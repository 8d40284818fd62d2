/**
 * Decides what to compact: a pure function from state and policy to a plan. The API's dry run calls the same function.
 * A plan is data that `app` carries out; each rung names exactly what it changes.
 */
import { isBreakerOpen } from "../domain/breaker";
import type { CompactionTrigger } from "../domain/compaction-events";
import { PROGRESS_RATIO } from "../domain/evolve-compaction";
import type { SessionState } from "../domain/state";
import { assumeWindow, type ModelLimits, toRequestLimit, toSizing } from "./budget";
import { isForced, keptTokens } from "./cut";
import { dropRungs } from "./drop";
import { computeGain, toCacheReadCost, tokensNow, UNKNOWN_PRICES } from "./economy";
import { fitReport } from "./guard";
import { gainFrom, type LadderStart, planRungs, planRungsWithoutModel } from "./ladder";
import type { NoPlanReason, Plan, PlanInput, Rung } from "./plan";
import { buildPlanEconomy } from "./plan-economy";
import { planRebuild } from "./plan-rebuild";
import type { Policy } from "./policy";
import { keptPositions, type Proposal, propose } from "./proposal";
import { type Measure, measureWithout, toUpperBound } from "./sizing";

/** Tokens above which the next request starts a compaction. Null when the policy or the window sets no bound. */
function softLimit(limits: ModelLimits, policy: Policy): number | null {
  const usable = toRequestLimit(limits);
  if (limits.window === null || usable === null) return null;
  const { window_ratio, usable_ratio, bound } = policy.trigger;
  const allowed = (tokens: number): number => (bound === "reached" ? Math.ceil(tokens) - 1 : Math.floor(tokens));
  const bounds = [window_ratio && allowed(limits.window * window_ratio), usable_ratio && allowed(usable * usable_ratio)];
  const known = bounds.filter((bound) => bound !== null);
  return known.length > 0 ? Math.min(...known) : null;
}

const isSuspended = ({ compaction, view }: SessionState): boolean =>
  compaction.quiet_until !== null && view.tokens < compaction.quiet_until;

export function planCompaction(asked: PlanInput): Plan {
  const limits = assumeWindow(asked.limits, asked.policy);
  const input = { ...asked, limits };
  // A plan reports tokens in the same unit as the API's context size. Its decisions use the policy's estimator (docs/policy.md, contradictions).
  const next = toSizing(input).next();
  if (limits.window === null) return { kind: "none", reason: "unknown_window", next };
  if (input.trigger === "threshold") return planSoft(input, next);
  if (input.options?.rebuild) return planRebuild(input, next);
  // If the floor does not fit, no rung is worth its cost.
  const fit = isForced(input.trigger) || input.trigger === "manual" ? fitReport(input) : null;
  if (fit) return { kind: "cannot_fit", fit };
  const proposal = propose(input);
  return proposal ? toPlan(input, { proposal, next, trigger: input.trigger, over: true }) : { kind: "none", reason: "nothing_older", next };
}

/** Plans for the soft trigger: compacts above the policy's bound, or when the cache read cost is due. */
function planSoft(input: PlanInput, next: Measure): Plan {
  const { state, limits, policy } = input;
  const none = (reason: NoPlanReason): Plan => ({ kind: "none", reason, next });
  if (isSuspended(state)) return none("suspended");
  const bound = softLimit(limits, policy);
  const over = bound !== null && toSizing(input).planned({ estimator: policy.estimator, ofEpoch: true }) > bound;
  if (!over && policy.trigger.rent_factor === null) return none("below_threshold");
  const proposal = propose(input);
  if (!proposal) return none(over ? "nothing_older" : "below_threshold");
  if (over) return toPlan(input, { proposal, next, trigger: "threshold", over });
  return isCacheReadCostDue(input, proposal) ? toPlan(input, { proposal, next, trigger: "rent", over }) : none("below_threshold");
}

/**
 * Whether the cache read cost is due: this epoch's calls have paid `rent_factor` times the price of a compaction, and the gain is at
 * least the policy's minimum. With a cold cache, re-reading what would go counts as paid, because the next call writes
 * it to the cache again.
 */
function isCacheReadCostDue({ state, limits, policy }: PlanInput, { sizes, priced, warm }: Proposal): boolean {
  const { rent_factor, min_gain_ratio } = policy.trigger;
  if (rent_factor === null) return false;
  const gain = computeGain(sizes);
  if (gain < min_gain_ratio * tokensNow(sizes)) return false;
  const prices = limits.prices ?? UNKNOWN_PRICES;
  const credit = warm ? 0 : prices.cache_write * gain;
  return state.compaction.rent + credit >= rent_factor * priced.price;
}

interface Decided {
  readonly proposal: Proposal;
  readonly next: Measure;
  readonly trigger: CompactionTrigger;
  readonly over: boolean;
}

function toPlan(input: PlanInput, { proposal, next, trigger, over }: Decided): Plan {
  const { state, policy } = input;
  const sizing = toSizing(input);
  const breaker_open = isBreakerOpen(state.compaction);
  const judged = sizing.planned({ estimator: policy.estimator });
  const climbed = planRungs(input, { proposal, next: judged, planned: toUpperBound(next), trigger });
  const mayDrop = policy.on_failure !== "none" || isForced(trigger);
  const kept = new Set(keptPositions(input, proposal));
  const mayGo = proposal.older.filter((group) => !group.items.some((item) => kept.has(item.position)));
  // A compaction by hand is not urgent, so nothing is dropped if its summary fails.
  const fallback = !mayDrop || trigger === "manual" ? [] : dropRungs(sizing, mayGo, "no summary could be had");
  const summarizes = climbed.rungs.some((rung) => rung.rung === "summarize");
  const barred = breaker_open && summarizes;
  const instead = isForced(trigger) ? fallback : [];
  const asClimbed = climbed.rungs.length > 0 ? climbed.rungs : instead;
  const rungs = barred ? withoutModel(input, { proposal, next: judged, trigger, over }, fallback) : asClimbed;
  if (rungs.length === 0) return { kind: "none", reason: policy.summary.form === "none" ? "not_by_policy" : "nothing_older", next };
  const gain = gainFrom(rungs, sizing);
  // The compaction would make `memory_query` available, whose definition would weigh more than what leaves.
  if (gain < 0) return { kind: "none", reason: "nothing_older", next };
  const economy = buildPlanEconomy(input, { proposal, next, gain, rungs });
  const expected = measureWithout(next, gain);
  return { kind: "compact", trigger, base_epoch: state.view.epoch, next, expected, rungs, fallback, economy, breaker_open };
}

/**
 * The rungs to take while the breaker is open: the gentle ones if they are enough, else drops. Unless the trigger is
 * forced, they are taken only above the bound and only if they gain at least a tenth.
 */
function withoutModel(input: PlanInput, decided: LadderStart & Pick<Decided, "over">, drops: readonly Rung[]): readonly Rung[] {
  const { next, trigger, over } = decided;
  const forced = isForced(trigger);
  if (!forced && (!over || input.policy.on_failure === "none")) return [];
  // The refused request fitted by our own measure, so no measure can say what would be enough.
  const gentle = trigger === "overflow" ? [] : planRungsWithoutModel(input, decided, forced ? null : softLimit(input.limits, input.policy));
  const isWorthIt = (rungs: readonly Rung[]): boolean => forced || gainFrom(rungs, toSizing(input)) >= (1 - PROGRESS_RATIO) * next;
  return [gentle, drops].find((rungs) => rungs.length > 0 && isWorthIt(rungs)) ?? [];
}

/** What this call pays to re-read tokens that a compaction would have removed. It is recorded with the call (docs/policy.md, rule 1). */
export function toCallCacheReadCost(input: Omit<PlanInput, "trigger">): number {
  const { policy } = input;
  if (policy.trigger.rent_factor === null) return 0;
  const limits = assumeWindow(input.limits, policy);
  if (limits.window === null) return 0;
  const planned: PlanInput = { ...input, limits, trigger: "threshold" };
  const proposal = propose(planned, keptTokens(planned));
  return proposal ? toCacheReadCost(proposal.sizes, limits.prices ?? UNKNOWN_PRICES, policy.trigger.rent_free_tokens) : 0;
}
