/**
 * The guard: a request that would not fit loses its oldest closed groups, whatever the policy, and no model is asked
 * (docs/design.md §5). The last message of the user and the newest group stay. What is still too large has its longest
 * results shortened in the view. What remains is the floor: if that does not fit, nothing is paid for (docs/field.md, lesson 4).
 * A provider's count makes the guard act, and never refuse: it holds for the view as it stands and not for what would stay of it.
 */
import { isBreakerOpen } from "../domain/breaker";
import type { FitReport } from "../domain/events";
import type { ItemMeta } from "../domain/message";
import { fixedTokens, type SessionState } from "../domain/state";
import {
  assumeWindow,
  contentBytes,
  itemBytes,
  itemTokens,
  limitOf,
  MAX_VIEW_BYTES,
  type Measure,
  measureNext,
  measureWithout,
  mostOf,
  plannedNext,
  ratioOf,
  rawViewTokens,
  recallToCome,
  SHORTENED_CHARS,
  scaleOf,
} from "./budget";
import { viewGroups, weigh } from "./cut";
import { dropRungs } from "./drop";
import type { Group } from "./groups";
import { gainFrom } from "./ladder";
import type { CompactPlan, Plan, PlanInput, Rung } from "./plan";
import type { Policy } from "./policy";
import { longest, reductionGain } from "./reductions";

type GuardInput = Omit<PlanInput, "trigger" | "now" | "options">;

export function planGuard(asked: GuardInput): Plan {
  const { state, policy } = asked;
  const limits = assumeWindow(asked.limits, policy);
  const next = measureNext(state, limits.model);
  const limit = limitOf(limits);
  const bytes = contentBytes(state);
  if (bytes > MAX_VIEW_BYTES) return planBytes({ state, limits, policy }, { next, bytes });
  if (limit === null) return { kind: "none", reason: "unknown_window", next };
  const tokens = mostOf(next);
  if (tokens <= limit) return { kind: "none", reason: "fits", next };
  const worked = workOut({ state, limits, policy }, { limit, tokens });
  if (worked.floor > limit) return { kind: "cannot_fit", fit: worked.report(limit) };
  // Only the last count says that it does not fit, and nothing can go: the provider is asked, who counts again or refuses.
  const rungs = worked.rungs();
  if (rungs.length === 0) return { kind: "none", reason: "nothing_older", next };
  return guardPlan({ state, limits }, { next, rungs });
}

/** A change of the view that takes effect at once and asks no model. */
export function guardPlan(
  { state, limits }: Pick<GuardInput, "state" | "limits">,
  { next, rungs }: { readonly next: Measure; readonly rungs: CompactPlan["rungs"] },
): CompactPlan {
  return {
    kind: "compact",
    trigger: "guard",
    base_epoch: state.view.epoch,
    next,
    expected: measureWithout(next, gainFrom(rungs, { state, limits })),
    rungs,
    fallback: [],
    economy: null,
    breaker_open: isBreakerOpen(state.compaction),
  };
}

/** A window that is unknown, or larger than what is held in memory, is no reason to send without an end: the oldest closed groups go. */
function planBytes({ state, limits, policy }: GuardInput, { next, bytes }: { readonly next: Measure; readonly bytes: number }): Plan {
  const ratio = ratioOf(state, limits.model);
  const going: Group[] = [];
  let left = bytes;
  for (const group of keptLast(mayGo(viewGroups(state)), policy)) {
    if (left <= MAX_VIEW_BYTES * policy.guard_target_ratio) break;
    going.push(group);
    left -= group.items.reduce((sum, item) => sum + itemBytes(state, item), 0);
  }
  if (left > MAX_VIEW_BYTES) {
    // What of it fits, by its own density.
    const floor = mostOf(next);
    const biggest = biggestOf(state, state.view.items, scaleOf(state, limits.model));
    return { kind: "cannot_fit", fit: { floor, limit: Math.floor((floor * MAX_VIEW_BYTES) / bytes), biggest } };
  }
  const rungs = dropRungs(state, going, { ratio, reason: "the next request would be larger than any may be" });
  return guardPlan({ state, limits }, { next, rungs });
}

/** The last message of the user and the newest group stay, and what is still open. */
function mayGo(groups: readonly Group[]): readonly Group[] {
  const lastUser = groups.findLastIndex((group) => group.isUser);
  return groups.filter((group, index) => group.closed && index !== lastUser && index !== groups.length - 1);
}

/** Why no compaction can help: what must stay is above the limit. Null: something can. */
export function fitReport(asked: GuardInput): FitReport | null {
  const { state, policy } = asked;
  const limits = assumeWindow(asked.limits, policy);
  const limit = limitOf(limits);
  if (limit === null) return null;
  const worked = workOut({ state, limits, policy }, { limit, tokens: plannedNext(state, limits.model) });
  return worked.floor > limit ? worked.report(limit) : null;
}

/** What the next request weighs as it stands, and what weighs most in it; null with an unknown window. */
export function weighRequest(asked: GuardInput): FitReport | null {
  const { state, policy } = asked;
  const limits = assumeWindow(asked.limits, policy);
  const limit = limitOf(limits);
  if (limit === null) return null;
  return { floor: plannedNext(state, limits.model), limit, biggest: biggestOf(state, state.view.items, scaleOf(state, limits.model)) };
}

interface WorkedOut {
  /** Made when they are asked for: whether anything can help is asked more often. */
  readonly rungs: () => readonly Rung[];
  /** Planned tokens that stay when every rung is taken, all of them estimated: no count of the provider's holds for what stays. */
  readonly floor: number;
  readonly report: (limit: number) => FitReport;
}

function workOut({ state, limits, policy }: GuardInput, by: { readonly limit: number; readonly tokens: number }): WorkedOut {
  const [ratio, scale] = [ratioOf(state, limits.model), scaleOf(state, limits.model)];
  const groups = viewGroups(state);
  const raw = rawViewTokens(state);
  // After the change the anchor is void and all is estimated: both measures must come down.
  const offer = recallToCome(state);
  const weight = Math.max(by.tokens / scale, raw) + offer;
  const going = oldest(state, keptLast(mayGo(groups), policy), weight - (by.limit * policy.guard_target_ratio) / scale);
  const left = raw + offer - going.reduce((sum, group) => sum + weigh(state, group), 0);
  const gone = new Set(going);
  const staying = groups.filter((group) => !gone.has(group)).flatMap((group) => group.items);
  const results = staying.filter((item) => item.kind === "tool_result");
  const items = longest(state, results, (going.length > 0 ? left : weight) - by.limit / scale);
  const gain = reductionGain(state, items);
  const reason = "results alone are too large";
  const shorten: Rung = { rung: "shorten", items, chars: SHORTENED_CHARS, gain: Math.floor(gain * ratio), reason };
  const rungs = (): readonly Rung[] => {
    const drops = dropRungs(state, going, { ratio, reason: "the next request would not fit" });
    return items.length > 0 ? [...drops, shorten] : drops;
  };
  // What frees less than the tool that it brings frees nothing.
  const helps = left - gain < raw;
  const floor = Math.ceil(Math.min(raw, left - gain) * scale);
  return {
    rungs: () => (helps ? rungs() : []),
    floor,
    report: (limit) => ({ floor, limit, biggest: biggestOf(state, staying, scale) }),
  };
}

/** What the policy keeps verbatim goes only when nothing else is left to go. */
function keptLast(groups: readonly Group[], { keep }: Policy): readonly Group[] {
  if (!keep.system_messages) return groups;
  const isKept = ({ items }: Group): boolean => items.some((item) => item.kind === "system");
  return [...groups.filter((group) => !isKept(group)), ...groups.filter(isKept)];
}

/** The first of `groups` that together weigh at least `excess` raw tokens; all of them if they do not. */
function oldest(state: SessionState, groups: readonly Group[], excess: number): readonly Group[] {
  let gained = 0;
  const count = groups.findIndex((group) => {
    gained += weigh(state, group);
    return gained >= excess;
  });
  return count < 0 ? groups : groups.slice(0, count + 1);
}

const BIGGEST = 5;

function biggestOf(state: SessionState, items: readonly ItemMeta[], scale: number): FitReport["biggest"] {
  const fixed = { what: "system prompt and tools", tokens: Math.ceil(fixedTokens(state) * scale) };
  const rest = items.map((item) => ({
    what: `${item.kind} at position ${item.position}`,
    tokens: Math.ceil(itemTokens(state, item) * scale),
  }));
  return [fixed, ...rest].sort((a, b) => b.tokens - a.tokens).slice(0, BIGGEST);
}
