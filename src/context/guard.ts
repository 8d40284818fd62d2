/**
 * The guard: a request that would not fit loses its oldest closed groups, whatever the policy and without a model
 * (docs/context.md). The last user message and the newest group stay. If the rest is still too large, its longest
 * results are shortened in the view. What remains is the floor: if that does not fit, the turn is refused before
 * anything is paid for (docs/field.md, lesson 4). A provider's count can make the guard act but never refuse, because
 * it counts the present view and not what would stay of it.
 */
import type { Reduction } from "../domain/compaction-events";
import type { FitReport } from "../domain/events";
import type { ItemMeta } from "../domain/message";
import { fixedTokens, type SessionState } from "../domain/state";
import {
  assumeWindow,
  countedOff,
  itemTokens,
  type Measure,
  measureNext,
  plannedNext,
  rawViewTokens,
  SHORTENED_CHARS,
  toPaddedRatio,
  toPendingRecallTokens,
  toRequestLimit,
  toSessionRatio,
  toUpperBound,
} from "./budget";
import { viewGroups, weigh } from "./cut";
import { dropRungs } from "./drop";
import type { Group } from "./groups";
import { buildImmediatePlan } from "./ladder";
import type { CompactPlan, Plan, PlanInput, Rung } from "./plan";
import type { Policy } from "./policy";
import { longest, reductionGain } from "./reductions";
import { contentBytes, fixedBytes, itemBytes, reducedBytes, toContentBytes } from "./request-bytes";

type GuardInput = Omit<PlanInput, "trigger" | "now" | "options">;

/**
 * `tight`: what to do before the request is tried nevertheless, where it fits unless the estimate is too low. Absent: it does not even fit
 * then.
 */
type GuardPlan =
  | Exclude<Plan, { kind: "cannot_fit" }>
  | { readonly kind: "cannot_fit"; readonly fit: FitReport; readonly tight?: CompactPlan };

export function planGuard(asked: GuardInput): GuardPlan {
  const { state, policy } = asked;
  const limits = assumeWindow(asked.limits, policy);
  const next = measureNext(state, limits.model);
  const limit = toRequestLimit(limits);
  const bySize = planBytes({ state, limits, policy }, next);
  if (bySize) return bySize;
  if (limit === null) return { kind: "none", reason: "unknown_window", next };
  const tokens = toUpperBound(next);
  if (tokens <= limit) return { kind: "none", reason: "fits", next };
  const worked = workOut({ state, limits, policy }, { limit, tokens });
  if (worked.floor > limit) {
    const tight = worked.likely <= limit ? buildImmediatePlan("guard", { state, limits }, { next, rungs: worked.rungs() }) : null;
    return { kind: "cannot_fit", fit: worked.report(limit), ...(tight && { tight }) };
  }
  // Only the provider's last count says that the request does not fit, and nothing can leave. The request is sent: the provider counts
  // again or refuses.
  const rungs = worked.rungs();
  if (rungs.length === 0) return { kind: "none", reason: "nothing_older", next };
  return buildImmediatePlan("guard", { state, limits }, { next, rungs });
}

/**
 * Keeps the request within the bound in bytes, which holds for every window: drops the oldest closed groups, then
 * shortens the longest results. Null when the request is small enough.
 */
function planBytes({ state, limits, policy }: GuardInput, next: Measure): GuardPlan | null {
  const worked = workOutBytes({ state, limits, policy });
  if (!worked) return null;
  return worked.fit
    ? { kind: "cannot_fit", fit: worked.fit }
    : buildImmediatePlan("guard", { state, limits }, { next, rungs: worked.rungs });
}

const TOO_LARGE = "the next request would be larger than any may be";

interface WorkedOutBytes {
  readonly rungs: readonly Rung[];
  /** The report if what stays is too large even after every rung. Null otherwise. */
  readonly fit: FitReport | null;
}

/** Null when the request is within the bound in bytes as it is. */
function workOutBytes({ state, limits, policy }: GuardInput): WorkedOutBytes | null {
  const most = toContentBytes(limits);
  let left = contentBytes(state);
  if (left <= most) return null;
  const ratio = toSessionRatio(state, limits.model);
  const groups = viewGroups(state);
  const going = new Set<Group>();
  for (const group of keptLast(mayGo(groups), policy)) {
    if (left <= most * policy.guard_target_ratio) break;
    going.add(group);
    left -= group.items.reduce((sum, item) => sum + itemBytes(state, item), 0);
  }
  const staying = groups.filter((group) => !going.has(group)).flatMap((group) => group.items);
  const shortened: Reduction[] = [];
  for (const each of longestResults(state, staying)) {
    if (left <= most) break;
    shortened.push(each.reduction);
    left -= itemBytes(state, each.item) - reducedBytes(each.item, each.reduction.tokens);
  }
  const drops = dropRungs(state, [...going], { ratio, reason: TOO_LARGE });
  const gain = reductionGain(state, shortened);
  const shorten: Rung = {
    rung: "shorten",
    items: shortened,
    chars: SHORTENED_CHARS,
    gain: Math.floor(gain * ratio),
    reason: TOO_LARGE,
  };
  const rungs = shortened.length > 0 ? [...drops, shorten] : drops;
  if (left <= most) return { rungs, fit: null };
  const scale = toPaddedRatio(state, limits.model);
  const floor = Math.ceil((fixedTokens(state) + staying.reduce((sum, item) => sum + itemTokens(state, item), 0) - gain) * scale);
  // The limit in tokens, converted from bytes by the ratio of this content.
  const limit = Math.floor((floor * most) / left);
  return { rungs, fit: { floor, limit, biggest: findLargest(state, staying, scale), bytes: { floor: left, limit: most } } };
}

interface ShortenedResult {
  readonly item: ItemMeta;
  readonly reduction: Reduction;
}

function longestResults(state: SessionState, items: readonly ItemMeta[]): readonly ShortenedResult[] {
  const results = new Map(items.filter(({ kind }) => kind === "tool_result").map((item) => [item.position, item]));
  return longest(state, [...results.values()], Number.POSITIVE_INFINITY).flatMap((reduction) => {
    const item = results.get(reduction.position);
    return item ? [{ item, reduction }] : [];
  });
}

/** The groups that may leave: closed ones, except the last user message and the newest group. */
function mayGo(groups: readonly Group[]): readonly Group[] {
  const lastUser = groups.findLastIndex((group) => group.isUser);
  return groups.filter((group, index) => group.closed && index !== lastUser && index !== groups.length - 1);
}

/** Why no compaction can help: what must stay exceeds the limit. Null when a compaction can help. */
export function fitReport(asked: GuardInput): FitReport | null {
  const { state, policy } = asked;
  const limits = assumeWindow(asked.limits, policy);
  const fit = workOutBytes({ state, limits, policy })?.fit;
  if (fit) return fit;
  const limit = toRequestLimit(limits);
  if (limit === null) return null;
  const worked = workOut({ state, limits, policy }, { limit, tokens: plannedNext(state, limits.model) });
  return worked.floor > limit ? worked.report(limit) : null;
}

/** The weight of the next request as it is, and its largest items. Null with an unknown window. */
export function weighRequest(asked: GuardInput): FitReport | null {
  const { state, policy } = asked;
  const limits = assumeWindow(asked.limits, policy);
  const limit = toRequestLimit(limits);
  if (limit === null) return null;
  return {
    floor: plannedNext(state, limits.model),
    limit,
    biggest: findBiggest(state, state.view.items, toPaddedRatio(state, limits.model)),
  };
}

interface WorkedOut {
  /** Computed on demand, because `floor` is read more often. */
  readonly rungs: () => readonly Rung[];
  /** Upper bound of the tokens that stay after every rung. Only the fixed part of them may have been counted. */
  readonly floor: number;
  /** Likely tokens that stay after every rung: the floor without padding. */
  readonly likely: number;
  readonly report: (limit: number) => FitReport;
}

function workOut({ state, limits, policy }: GuardInput, by: { readonly limit: number; readonly tokens: number }): WorkedOut {
  const [ratio, scale] = [toSessionRatio(state, limits.model), toPaddedRatio(state, limits.model)];
  const groups = viewGroups(state);
  const raw = rawViewTokens(state);
  const off = countedOff(state, limits.model);
  // After the change the anchor is void, and everything but a counted fixed part is estimated, so both measures must come down.
  const offer = toPendingRecallTokens(state);
  const weight = Math.max((by.tokens + off.padded) / scale, raw) + offer;
  const going = oldest(state, keptLast(mayGo(groups), policy), weight - (by.limit * policy.guard_target_ratio + off.padded) / scale);
  const left = raw + offer - going.reduce((sum, group) => sum + weigh(state, group), 0);
  const gone = new Set(going);
  const staying = groups.filter((group) => !gone.has(group)).flatMap((group) => group.items);
  const results = staying.filter((item) => item.kind === "tool_result");
  const items = longest(state, results, (going.length > 0 ? left : weight) - (by.limit + off.padded) / scale);
  const gain = reductionGain(state, items);
  const reason = "results alone are too large";
  const shorten: Rung = { rung: "shorten", items, chars: SHORTENED_CHARS, gain: Math.floor(gain * ratio), reason };
  const rungs = (): readonly Rung[] => {
    const drops = dropRungs(state, going, { ratio, reason: "the next request would not fit" });
    return items.length > 0 ? [...drops, shorten] : drops;
  };
  // A change that frees less than the definition of `memory_query` weighs is useless.
  const helps = left - gain < raw;
  const least = Math.min(raw, left - gain);
  const floor = Math.ceil(least * scale - off.padded);
  return {
    rungs: () => (helps ? rungs() : []),
    floor,
    likely: Math.ceil(least * ratio - off.tokens),
    report: (limit) => ({ floor, limit, biggest: findBiggest(state, staying, scale) }),
  };
}

/** Orders groups so that those that the policy keeps verbatim leave last. */
function keptLast(groups: readonly Group[], { keep }: Policy): readonly Group[] {
  if (!keep.system_messages) return groups;
  const isKept = ({ items }: Group): boolean => items.some((item) => item.kind === "system");
  return [...groups.filter((group) => !isKept(group)), ...groups.filter(isKept)];
}

/** The first of `groups` that together weigh at least `excess` raw tokens. All of them if they weigh less. */
function oldest(state: SessionState, groups: readonly Group[], excess: number): readonly Group[] {
  let gained = 0;
  const count = groups.findIndex((group) => {
    gained += weigh(state, group);
    return gained >= excess;
  });
  return count < 0 ? groups : groups.slice(0, count + 1);
}

const BIGGEST = 5;

type Biggest = FitReport["biggest"];

function findBiggest(state: SessionState, items: readonly ItemMeta[], scale: number): Biggest {
  return weighed(state, items, scale)
    .sort((a, b) => b.tokens - a.tokens)
    .map(({ what, tokens }) => ({ what, tokens }))
    .slice(0, BIGGEST);
}

/** The largest items by bytes. */
const findLargest = (state: SessionState, items: readonly ItemMeta[], scale: number): Biggest =>
  weighed(state, items, scale)
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, BIGGEST);

interface Weighed {
  readonly what: string;
  readonly tokens: number;
  readonly bytes: number;
}

function weighed(state: SessionState, items: readonly ItemMeta[], scale: number): Weighed[] {
  const fixed = { what: "system prompt and tools", tokens: Math.ceil(fixedTokens(state) * scale), bytes: fixedBytes(state) };
  const rest = items.map((item) => ({
    what: `${item.kind} at position ${item.position}`,
    tokens: Math.ceil(itemTokens(state, item) * scale),
    bytes: itemBytes(state, item),
  }));
  return [fixed, ...rest];
}
