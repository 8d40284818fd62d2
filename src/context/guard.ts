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
import { fixedTokens, weighFixed } from "../domain/state";
import { assumeWindow, SHORTENED_CHARS, toRequestLimit, toSizing } from "./budget";
import { viewGroups } from "./cut";
import { dropRungs } from "./drop";
import type { Group } from "./groups";
import { buildImmediatePlan } from "./ladder";
import type { CompactPlan, Plan, PlanInput, Rung } from "./plan";
import type { Policy } from "./policy";
import { longest } from "./reductions";
import { toContentBytes } from "./request-bytes";
import { type Measure, type Sizing, toUpperBound } from "./sizing";

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
  const sizing = toSizing({ state, limits });
  const next = sizing.next();
  const limit = toRequestLimit(limits);
  const bySize = planBytes({ state, limits, policy }, next);
  if (bySize) return bySize;
  if (limit === null) return { kind: "none", reason: "unknown_window", next };
  const tokens = toUpperBound(next);
  if (tokens <= limit) return { kind: "none", reason: "fits", next };
  const worked = workOut({ state, limits, policy }, { limit, tokens });
  if (worked.floor > limit) {
    const tight = worked.likely <= limit ? buildImmediatePlan("guard", sizing, { next, rungs: worked.rungs() }) : null;
    return { kind: "cannot_fit", fit: worked.report(limit), ...(tight && { tight }) };
  }
  // Only the provider's last count says that the request does not fit, and nothing can leave. The request is sent: the provider counts
  // again or refuses.
  const rungs = worked.rungs();
  if (rungs.length === 0) return { kind: "none", reason: "nothing_older", next };
  return buildImmediatePlan("guard", sizing, { next, rungs });
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
    : buildImmediatePlan("guard", toSizing({ state, limits }), { next, rungs: worked.rungs });
}

const TOO_LARGE = "the next request would be larger than any may be";

interface WorkedOutBytes {
  readonly rungs: readonly Rung[];
  /** The report if what stays is too large even after every rung. Null otherwise. */
  readonly fit: FitReport | null;
}

/** Null when the request is within the bound in bytes as it is. */
function workOutBytes({ state, limits, policy }: GuardInput): WorkedOutBytes | null {
  const sizing = toSizing({ state, limits });
  const most = toContentBytes(limits);
  let left = sizing.bytes();
  if (left <= most) return null;
  const groups = viewGroups(state);
  const going = new Set<Group>();
  for (const group of keptLast(mayGo(groups), policy)) {
    if (left <= most * policy.guard_target_ratio) break;
    going.add(group);
    left -= group.items.reduce((sum, item) => sum + sizing.itemBytes(item), 0);
  }
  const staying = groups.filter((group) => !going.has(group)).flatMap((group) => group.items);
  const shortened: Reduction[] = [];
  for (const each of longestResults(sizing, staying)) {
    if (left <= most) break;
    shortened.push(each.reduction);
    left -= sizing.freedBytes(each.item, each.reduction);
  }
  const drops = dropRungs(sizing, [...going], TOO_LARGE);
  const freed = sizing.freed(shortened);
  const shorten: Rung = {
    rung: "shorten",
    items: shortened,
    chars: SHORTENED_CHARS,
    gain: sizing.gain(freed),
    reason: TOO_LARGE,
  };
  const rungs = shortened.length > 0 ? [...drops, shorten] : drops;
  if (left <= most) return { rungs, fit: null };
  const raw = fixedTokens(state) + staying.reduce((sum, item) => sum + sizing.item(item), 0) - freed;
  const floor = Math.ceil(raw * sizing.padded);
  // The limit in tokens, converted from bytes by the ratio of this content.
  const limit = Math.floor((floor * most) / left);
  return { rungs, fit: { floor, limit, biggest: findLargest(sizing, staying), bytes: { floor: left, limit: most } } };
}

interface ShortenedResult {
  readonly item: ItemMeta;
  readonly reduction: Reduction;
}

function longestResults(sizing: Sizing, items: readonly ItemMeta[]): readonly ShortenedResult[] {
  const results = new Map(items.filter(({ kind }) => kind === "tool_result").map((item) => [item.position, item]));
  return longest(sizing, [...results.values()], Number.POSITIVE_INFINITY).flatMap((reduction) => {
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
  const worked = workOut({ state, limits, policy }, { limit, tokens: toSizing({ state, limits }).planned() });
  return worked.floor > limit ? worked.report(limit) : null;
}

/** The weight of the next request as it is, and its largest items. Null with an unknown window. */
export function weighRequest(asked: GuardInput): FitReport | null {
  const { state, policy } = asked;
  const limits = assumeWindow(asked.limits, policy);
  const limit = toRequestLimit(limits);
  if (limit === null) return null;
  const sizing = toSizing({ state, limits });
  return { floor: sizing.planned(), limit, biggest: findBiggest(sizing, state.view.items) };
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
  const sizing = toSizing({ state, limits });
  const { ratio, padded: scale, raw, offer, counted: off } = sizing;
  const groups = viewGroups(state);
  // After the change the anchor is void, and everything but a counted fixed part is estimated, so both measures must come down.
  const weight = Math.max((by.tokens + off.padded) / scale, raw) + offer;
  const going = oldest(sizing, keptLast(mayGo(groups), policy), weight - (by.limit * policy.guard_target_ratio + off.padded) / scale);
  const left = raw + offer - going.reduce((sum, group) => sum + sizing.group(group), 0);
  const gone = new Set(going);
  const staying = groups.filter((group) => !gone.has(group)).flatMap((group) => group.items);
  const results = staying.filter((item) => item.kind === "tool_result");
  const items = longest(sizing, results, (going.length > 0 ? left : weight) - (by.limit + off.padded) / scale);
  const freed = sizing.freed(items);
  const reason = "results alone are too large";
  const shorten: Rung = { rung: "shorten", items, chars: SHORTENED_CHARS, gain: sizing.gain(freed), reason };
  const rungs = (): readonly Rung[] => {
    const drops = dropRungs(sizing, going, "the next request would not fit");
    return items.length > 0 ? [...drops, shorten] : drops;
  };
  // A change that frees less than the definition of `memory_query` weighs is useless.
  const helps = left - freed < raw;
  const least = Math.min(raw, left - freed);
  const floor = Math.ceil(least * scale - off.padded);
  return {
    rungs: () => (helps ? rungs() : []),
    floor,
    likely: Math.ceil(least * ratio - off.tokens),
    report: (limit) => ({ floor, limit, biggest: findBiggest(sizing, staying) }),
  };
}

/** Orders groups so that those that the policy keeps verbatim leave last. */
function keptLast(groups: readonly Group[], { keep }: Policy): readonly Group[] {
  if (!keep.system_messages) return groups;
  const isKept = ({ items }: Group): boolean => items.some((item) => item.kind === "system");
  return [...groups.filter((group) => !isKept(group)), ...groups.filter(isKept)];
}

/** The first of `groups` that together weigh at least `excess` raw tokens. All of them if they weigh less. */
function oldest(sizing: Sizing, groups: readonly Group[], excess: number): readonly Group[] {
  let gained = 0;
  const count = groups.findIndex((group) => {
    gained += sizing.group(group);
    return gained >= excess;
  });
  return count < 0 ? groups : groups.slice(0, count + 1);
}

const BIGGEST = 5;

type Biggest = FitReport["biggest"];

function findBiggest(sizing: Sizing, items: readonly ItemMeta[]): Biggest {
  return weighed(sizing, items)
    .sort((a, b) => b.tokens - a.tokens)
    .map(({ what, tokens }) => ({ what, tokens }))
    .slice(0, BIGGEST);
}

/** The largest items by bytes. */
const findLargest = (sizing: Sizing, items: readonly ItemMeta[]): Biggest =>
  weighed(sizing, items)
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, BIGGEST);

interface Weighed {
  readonly what: string;
  readonly tokens: number;
  readonly bytes: number;
}

function weighed(sizing: Sizing, items: readonly ItemMeta[]): Weighed[] {
  const { state, padded } = sizing;
  const fixed = { what: "system prompt and tools", tokens: Math.ceil(fixedTokens(state) * padded), bytes: weighFixed(state).bytes };
  const rest = items.map((item) => ({
    what: `${item.kind} at position ${item.position}`,
    tokens: Math.ceil(sizing.item(item) * padded),
    bytes: sizing.itemBytes(item),
  }));
  return [fixed, ...rest];
}
