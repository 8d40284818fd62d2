/**
 * The ladder of an epoch change: the gentlest rung first, each only if it gains enough (docs/summaries.md). Clearing
 * old results needs no model call; a summary is requested when that is not enough. Everything else that must be
 * rewritten is done in the same change, because the provider's cache of what follows is lost anyway.
 */
import { isBreakerOpen } from "../domain/breaker";
import type { CompactionTrigger } from "../domain/compaction-events";
import type { ItemMeta } from "../domain/message";
import { SHORTENED_CHARS, toRequestLimit, toSizing } from "./budget";
import { isForced, keptTokens } from "./cut";
import { tokensNow } from "./economy";
import type { CompactPlan, PlanInput, Rung } from "./plan";
import type { Policy } from "./policy";
import { type Proposal, propose, summarizeRung } from "./proposal";
import { clearable, evictable, longest, previewable } from "./reductions";
import { measureWithout, type Sizing } from "./sizing";

interface Ladder {
  readonly rungs: readonly Rung[];
}

export interface LadderStart {
  readonly proposal: Proposal;
  /** Upper bound of the next request's tokens, by the policy's estimator. */
  readonly next: number;
  readonly trigger: CompactionTrigger;
}

/** A request that would still fill more than this share of the limit needs the next rung. */
const ROOMY_RATIO = 0.8;

/** Builds the rungs. `planned`: upper bound of the next request by our own measure, which decides whether a forced change fits. */
export function planRungs(input: PlanInput, foot: LadderStart & { readonly planned: number }): Ladder {
  const { policy } = input;
  const gentle = clearRungs(input, foot.proposal);
  const enough = gentle.length > 0 && gainFrom(gentle, toSizing(input)) >= policy.results.clear_gain_ratio * tokensNow(foot.proposal.sizes);
  // After a provider's refusal no measure can say what would be enough, because the request fitted by ours. A request by hand asks for a
  // summary.
  const isMeasured = foot.trigger !== "overflow" && foot.trigger !== "manual";
  const mayClear = policy.results.clear === "at_epoch" && enough && isMeasured;
  const judged = isForced(foot.trigger) ? { ...foot, next: foot.planned } : foot;
  if (mayClear && fits(input, judged, gentle)) return { rungs: [...gentle, ...previewRungs(input, foot.proposal)] };
  if (policy.summary.form === "none") return { rungs: policy.results.clear === "never" ? [] : gentle };
  const first = withSummary(input, foot, foot.proposal);
  if (fits(input, foot, first)) return { rungs: first };
  const halved = propose({ ...input, trigger: foot.trigger }, Math.floor(keptTokens({ ...input, trigger: foot.trigger }) / 2));
  const second = halved ? withSummary(input, foot, halved) : first;
  if (fits(input, foot, second)) return { rungs: second };
  return { rungs: [...second, ...shortenRungs(input, foot, { rungs: second, tail: halved ?? foot.proposal })] };
}

/** The rungs that need no model, if they leave room in the request and keep it within `bound`. Empty otherwise. */
export function planRungsWithoutModel(input: PlanInput, foot: LadderStart, bound: number | null): readonly Rung[] {
  const rungs = [...clearRungs(input, foot.proposal), ...previewRungs(input, foot.proposal)];
  const left = foot.next - gainFrom(rungs, toSizing(input));
  return fits(input, foot, rungs) && left <= (bound ?? left) ? rungs : [];
}

/**
 * Whether a turn that needs room takes the plan as it is, without asking a model. Drops are left to the guard, which
 * drops no more than it must. With a forced trigger, so are messages shown by their ends, which a summary might have
 * made unnecessary.
 */
export function mayApplyWithoutModel({ rungs, trigger, breaker_open }: Pick<CompactPlan, "rungs" | "trigger" | "breaker_open">): boolean {
  if (rungs.some(({ rung }) => rung === "summarize" || rung === "drop")) return false;
  return breaker_open || !isForced(trigger) || rungs.some(({ rung }) => rung === "clear_results" || rung === "evict_media");
}

/** Whether the policy allows a turn that does not fit to make room: by a summary or, without summaries, by clearing old results. */
export const mayMakeRoom = ({ summary, results }: Policy, trigger: CompactionTrigger): boolean =>
  summary.form !== "none" || (results.clear === "at_epoch" && isForced(trigger));

/** Tokens that the rungs free together, less the definition of `memory_query` if this change is the first to offer it. */
export function gainFrom(rungs: readonly Rung[], { offer, ratio }: Sizing): number {
  if (rungs.length === 0) return 0;
  return rungs.reduce((sum, rung) => sum + rung.gain, 0) - Math.ceil(offer * ratio);
}

/** A plan that takes effect at once and needs no model. */
export const buildImmediatePlan = (
  trigger: CompactionTrigger,
  sizing: Sizing,
  { next, rungs }: Pick<CompactPlan, "next" | "rungs">,
): CompactPlan => ({
  kind: "compact",
  trigger,
  base_epoch: sizing.state.view.epoch,
  next,
  expected: measureWithout(next, gainFrom(rungs, sizing)),
  rungs,
  fallback: [],
  economy: null,
  breaker_open: isBreakerOpen(sizing.state.compaction),
});

function fits(input: PlanInput, { next }: LadderStart, rungs: readonly Rung[]): boolean {
  const limit = toRequestLimit(input.limits) ?? Number.POSITIVE_INFINITY;
  return next - gainFrom(rungs, toSizing(input)) <= limit * ROOMY_RATIO;
}

const reasons: Readonly<Record<CompactionTrigger, string>> = {
  threshold: "the next request would pass the policy's bound",
  rent: "re-reading what goes has cost more than a summary of it",
  inline: "the next request would not fit",
  guard: "the next request would not fit",
  overflow: "the provider refused the request as too long",
  model_switch: "the conversation does not fit the new model",
  manual: "asked for by hand",
  fallback: "no summary could be had",
  results: "old tool results are cleared before each call",
};

function withSummary(input: PlanInput, { trigger }: LadderStart, proposal: Proposal): Rung[] {
  const summarize = summarizeRung({ ...input, trigger }, proposal, reasons[trigger]);
  return summarize ? [summarize, ...previewRungs(input, proposal)] : [];
}

/** Rungs 1 and 3: tool results and media outside the tail. */
function clearRungs(input: PlanInput, proposal: Proposal): Rung[] {
  const { policy } = input;
  const sizing = toSizing(input);
  const { olderItems } = proposal;
  const results = policy.results.clear === "never" ? [] : clearable(sizing, olderItems, policy.results);
  const media = policy.results.clear === "at_epoch" ? evictable(sizing, olderItems) : [];
  const scaleGain = (items: Parameters<Sizing["freed"]>[0]): number => sizing.gain(sizing.freed(items));
  const rungs: Rung[] = [];
  if (results.length > 0)
    rungs.push({ rung: "clear_results", items: results, gain: scaleGain(results), reason: "old tool results alone free enough" });
  if (media.length > 0) rungs.push({ rung: "evict_media", items: media, gain: scaleGain(media), reason: "old media is named, not shown" });
  return rungs;
}

/** Rung 2: tool results inside the tail, shortened while the prefix is rewritten anyway. */
export function previewRungs(input: Pick<PlanInput, "state" | "policy" | "limits">, proposal: Pick<Proposal, "tail">): Rung[] {
  const { policy } = input;
  const sizing = toSizing(input);
  const { preview_chars } = policy.results;
  const items = previewable(
    sizing,
    proposal.tail.flatMap((group) => group.items),
    policy.results,
  );
  if (items.length === 0) return [];
  const gain = sizing.gain(sizing.freed(items));
  return [{ rung: "shorten", items, chars: 2 * preview_chars, gain, reason: "older results of the kept messages show both ends" }];
}

/**
 * The tail alone is too large, so its longest results and replies are shown by their ends. Users' messages and excluded
 * tools stay. Results that the model has not read yet are shortened only as far as the request must shrink, because the
 * model has just requested them.
 */
function shortenRungs(input: PlanInput, foot: LadderStart, by: { readonly rungs: readonly Rung[]; readonly tail: Proposal }): Rung[] {
  const { limits, policy } = input;
  const sizing = toSizing(input);
  const excluded = new Set(policy.results.exclude_tools);
  const isExcluded = ({ kind, tool }: ItemMeta): boolean => kind === "tool_result" && excluded.has(tool?.name ?? "");
  const limit = toRequestLimit(limits) ?? 0;
  const left = foot.next - gainFrom(by.rungs, sizing);
  const already = new Set(by.rungs.flatMap((rung) => (rung.rung === "shorten" ? rung.items.map((item) => item.position) : [])));
  const candidates = by.tail.tail
    .flatMap((group) => group.items)
    .filter((item) => item.kind !== "user" && !isExcluded(item) && !already.has(item.position) && sizing.item(item) > 0);
  const unread = unreadResults(by.tail);
  const known = candidates.filter((item) => !unread.includes(item));
  const first = longest(sizing, known, (left - limit * ROOMY_RATIO) / sizing.padded);
  const news = candidates.filter((item) => unread.includes(item));
  const items = [...first, ...longest(sizing, news, (left - limit) / sizing.padded - sizing.freed(first))];
  if (items.length === 0) return [];
  const gain = sizing.gain(sizing.freed(items));
  return [{ rung: "shorten", items, chars: SHORTENED_CHARS, gain, reason: "the kept messages alone are too large" }];
}

/** The results of the newest group, if the model has not replied to them yet. */
function unreadResults({ tail }: Proposal): readonly ItemMeta[] {
  const newest = tail.at(-1)?.items ?? [];
  return newest.at(-1)?.kind === "tool_result" ? newest.filter(({ kind }) => kind === "tool_result") : [];
}
