/** Where the view may be cut: at closed groups, so that what is newest stays verbatim. */
import type { CompactionTrigger, Overlay } from "../domain/compaction-events";
import type { SessionState } from "../domain/state";
import { missingResults, NO_RESULT_TOKENS } from "../domain/view";
import { itemTokens, limitOf, ratioOf } from "./budget";
import { type Group, groupItems, NewestGroups } from "./groups";
import type { PlanInput } from "./plan";
import type { Policy } from "./policy";

const openCalls = ({ turn, imported_calls }: SessionState): ReadonlySet<string> =>
  new Set([...(turn?.open_calls ?? []), ...imported_calls].map((call) => call.execution));

export const viewGroups = (state: SessionState): Group[] => groupItems(state.view.items, openCalls(state));

/** Raw estimate of a group as the view shows it, with what stands for the results that it lacks. */
export const weigh = (state: SessionState, { items }: Group): number =>
  items.reduce((sum, item) => sum + itemTokens(state, item), Math.max(0, missingResults(items)) * NO_RESULT_TOKENS);

/** What is done because it must be, whatever it saves. */
export const isForced = (trigger: CompactionTrigger): boolean =>
  trigger === "overflow" || trigger === "inline" || trigger === "model_switch";

/** Tokens that stay verbatim: not padded, for most of the tail has been counted, and a share is to be the share that it says. */
export function keptTokens({ limits, policy, trigger, options }: PlanInput): number {
  const { keep } = policy;
  const window = limits.window ?? 0;
  const usable = limitOf(limits) ?? 0;
  if (options?.keep_recent) return options.keep_recent;
  if (trigger === "overflow") return Math.floor(window * keep.emergency_ratio);
  if (trigger === "manual" && keep.manual_tokens !== null) return keep.manual_tokens;
  const share = Math.floor((keep.of === "window" ? window : usable) * keep.ratio);
  const least = Math.min(keep.min_tokens, Math.floor(usable / 2));
  return Math.max(least, Math.min(share, keep.max_tokens ?? share));
}

/**
 * The groups that stay, oldest first; all of them when nothing can go. `budget`: tokens that stay. Never past a call whose
 * result is still owed. It reads as much of the view as stays, and no more.
 */
export function findTail(input: PlanInput, budget: number): readonly Group[] {
  const open = openCalls(input.state);
  const groups = new NewestGroups(input.state.view.items, open);
  const asked = chosenTail(input, groups, budget);
  const forced = isForced(input.trigger) && !groups.at(asked) ? countMessages(groups, FORCED_MESSAGES, input.policy.keep) : asked;
  return groups.take(Math.max(1, forced, countOpen(groups, open), countAfter(groups, input.options?.up_to ?? null)));
}

/** What stays when a compaction must be and no cut was found (Opal compaction). */
const FORCED_MESSAGES = 2;

/** How many of the newest groups stay. */
function chosenTail(input: PlanInput, groups: NewestGroups, budget: number): number {
  const { keep } = input.policy;
  const byShare = input.options?.keep_recent != null || input.trigger === "overflow";
  if (keep.messages !== null && !byShare) return countMessages(groups, keep.messages, keep);
  const walked = walkBack(input, groups, budget);
  switch (keep.cut) {
    case "fits":
      return backToUser(input, groups, { kept: walked.fits, budget });
    case "fills":
      return backToUser(input, groups, { kept: walked.fills, budget });
    case "next_user":
      return onToUser(groups, walked.exceeds);
  }
}

/** As few of the newest groups as hold `messages`: rounded outward. What stays anyway is none of them. */
function countMessages(groups: NewestGroups, messages: number, { system_messages }: Pick<Policy["keep"], "system_messages">): number {
  let kept = 0;
  for (let seen = 0; seen < messages; kept++) {
    const group = groups.at(kept);
    if (!group) return kept;
    if (!system_messages || group.items[0]?.kind !== "system") seen += messagesOf(group);
  }
  return kept;
}

/** As a request has them: a response with all its calls is one, and each result is one. */
export function messagesOf({ items }: Group): number {
  const results = items.filter((item) => item.kind === "tool_result").length;
  return results + (results < items.length ? 1 : 0);
}

/** Messages of the view as a request has them: the summary is one. */
export const messagesIn = ({ view }: SessionState): number =>
  groupItems(view.items, NO_OPEN_CALLS).reduce((sum, group) => sum + messagesOf(group), view.overlays.some(isSummary) ? 1 : 0);

const NO_OPEN_CALLS: ReadonlySet<string> = new Set();
const isSummary = ({ kind }: Overlay): boolean => kind === "summary";

interface Walked {
  /** Groups of the longest tail within the budget; the newest always stays. */
  readonly fits: number;
  /** Groups of the shortest tail that reaches it. */
  readonly fills: number;
  /** Groups of the shortest tail that is over it; null: all of them are not. */
  readonly exceeds: number | null;
}

function walkBack({ state, limits }: PlanInput, groups: NewestGroups, budget: number): Walked {
  const ratio = ratioOf(state, limits.model);
  let tokens = 0;
  let fills: number | null = null;
  for (let kept = 1; ; kept++) {
    const group = groups.at(kept - 1);
    if (!group) return { fits: kept - 1, fills: fills ?? kept - 1, exceeds: null };
    tokens += weigh(state, group) * ratio;
    if (tokens >= budget) fills ??= kept;
    if (tokens > budget) return { fits: Math.max(1, kept - 1), fills: fills ?? kept, exceeds: kept };
  }
}

/** The oldest message of the user among the newest `most` groups; all of these stay when there is none, and everything when `most` is null. */
function onToUser(groups: NewestGroups, most: number | null): number {
  if (most === null) return Number.POSITIVE_INFINITY;
  for (let kept = most; kept > 0; kept--) if (groups.at(kept - 1)?.isUser) return kept;
  return most;
}

/** Back to a message of the user if one lies within a quarter of the budget, so that the tail starts well. */
function backToUser({ state, limits }: PlanInput, groups: NewestGroups, by: { readonly kept: number; readonly budget: number }): number {
  const { kept, budget } = by;
  if (groups.at(kept - 1)?.isUser) return kept;
  const ratio = ratioOf(state, limits.model);
  let extra = 0;
  for (let more = kept + 1; ; more++) {
    const group = groups.at(more - 1);
    if (!group) return kept;
    extra += weigh(state, group) * ratio;
    if (extra > budget / 4) return kept;
    if (group.isUser) return more;
  }
}

/** As many of the newest groups as hold every open call. */
function countOpen(groups: NewestGroups, open: ReadonlySet<string>): number {
  let left = open.size;
  let count = 0;
  for (let index = 0; left > 0; index++) {
    const group = groups.at(index);
    if (!group) return count;
    if (group.closed) continue;
    count = index + 1;
    left -= group.items.filter((item) => item.kind === "tool_call" && item.tool && open.has(item.tool.execution)).length;
  }
  return count;
}

/** How many of the newest groups end after position `upTo`. */
function countAfter(groups: NewestGroups, upTo: number | null): number {
  let count = 0;
  for (let group = groups.at(0); upTo !== null && group && group.to > upTo; group = groups.at(count)) count++;
  return count;
}
