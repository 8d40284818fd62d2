/**
 * The guard: a request that would not fit loses its oldest closed groups, whatever the policy, and no model is asked
 * (docs/design.md §5). The last message of the user and the newest group stay. What is still too large has its longest
 * results shortened in the view. What remains is the floor: if that does not fit, nothing is paid for (docs/field.md, lesson 4).
 */
import type { FitReport } from "../domain/events";
import type { ItemMeta } from "../domain/message";
import type { SessionState } from "../domain/state";
import { fixedTokens, itemTokens, limitOf, measureNext, rawViewTokens, SHORTENED_CHARS, scaleOf } from "./budget";
import { viewGroups, weigh } from "./cut";
import { dropRungs } from "./drop";
import type { Group } from "./groups";
import type { Plan, PlanInput, Rung } from "./plan";

export function planGuard(input: Omit<PlanInput, "trigger">): Plan {
  const { state, limits, policy } = input;
  const next = measureNext(state, limits.model);
  const limit = limitOf(limits);
  if (limit === null) return { kind: "none", reason: "unknown_window", next };
  if (next.tokens <= limit) return { kind: "none", reason: "fits", next };
  const scale = scaleOf(state, limits.model);
  const groups = viewGroups(state);
  const lastUser = groups.findLastIndex((group) => group.isUser);
  const mayGo = groups.filter((group, index) => group.closed && index !== lastUser && index !== groups.length - 1);
  // After the change the anchor is void and all is estimated: both measures must come down.
  const weight = Math.max(next.tokens, rawViewTokens(state) * scale) / scale;
  const going = oldest(state, mayGo, weight - (limit * policy.guard_target_ratio) / scale);
  const left = weight - going.reduce((sum, group) => sum + weigh(state, group), 0);
  const rungs = dropRungs(state, going);
  const staying = groups.filter((group) => !going.includes(group)).flatMap((group) => group.items);
  const shortened = shortenLongest(state, staying, left - limit / scale);
  const floor = Math.ceil((left - shortened.gain) * scale);
  if (floor > limit) return { kind: "cannot_fit", fit: { floor, limit, biggest: biggestOf(state, staying, scale) } };
  const all: Rung[] = shortened.positions.length > 0 ? [...rungs, { rung: "shorten_results", positions: shortened.positions }] : rungs;
  return { kind: "compact", trigger: "guard", base_epoch: state.view.epoch, next, rungs: all, fallback: [] };
}

/** The oldest of `groups` that together weigh at least `excess` raw tokens; all of them if they do not. */
function oldest(state: SessionState, groups: readonly Group[], excess: number): readonly Group[] {
  let gained = 0;
  const count = groups.findIndex((group) => {
    gained += weigh(state, group);
    return gained >= excess;
  });
  return count < 0 ? groups : groups.slice(0, count + 1);
}

/** The longest results among `items`, as many as it takes to gain `excess` raw tokens. */
function shortenLongest(state: SessionState, items: readonly ItemMeta[], excess: number): { positions: number[]; gain: number } {
  const positions: number[] = [];
  let gain = 0;
  const results = items.filter((item) => item.kind === "tool_result" && itemTokens(state, item) > SHORTENED_CHARS);
  for (const item of results.sort((a, b) => b.tokens - a.tokens)) {
    if (gain >= excess) break;
    positions.push(item.position);
    gain += item.tokens - SHORTENED_CHARS;
  }
  return { positions, gain };
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
