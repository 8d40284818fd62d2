/** Where the view may be cut: between closed groups, so that the newest messages stay verbatim. */
import type { CompactionTrigger, Overlay } from "../domain/compaction-events";
import type { SessionState } from "../domain/state";
import { toRequestLimit, toSizing } from "./budget";
import { type Group, groupItems, NewestGroups } from "./groups";
import type { PlanInput } from "./plan";
import type { Policy } from "./policy";

const openCalls = ({ turn, imported_calls }: SessionState): ReadonlySet<string> =>
  new Set([...(turn?.open_calls ?? []), ...imported_calls].map((call) => call.execution));

export const viewGroups = (state: SessionState): Group[] => groupItems(state.view.items, openCalls(state));

/** Whether the change must be made, whatever it saves. */
export const isForced = (trigger: CompactionTrigger): boolean =>
  trigger === "overflow" || trigger === "inline" || trigger === "model_switch";

/**
 * Tokens to keep verbatim. They are not padded, because the provider has counted most of the tail, and a share must be
 * exactly the share that the policy states.
 */
export function keptTokens({ limits, policy, trigger, options }: PlanInput): number {
  const { keep } = policy;
  const window = limits.window ?? 0;
  const usable = toRequestLimit(limits) ?? 0;
  if (options?.keep_recent) return options.keep_recent;
  if (trigger === "overflow") return Math.floor(window * keep.emergency_ratio);
  if (trigger === "manual" && keep.manual_tokens !== null) return keep.manual_tokens;
  const share = Math.floor((keep.of === "window" ? window : usable) * keep.ratio);
  const least = Math.min(keep.min_tokens, Math.floor(usable / 2));
  return Math.max(least, Math.min(share, keep.max_tokens ?? share));
}

/**
 * The groups that stay, oldest first; all of them when nothing can leave. `budget`: tokens to keep. The cut never
 * passes a call whose result is still missing. Reads only as much of the view as stays.
 */
export function findTail(input: PlanInput, budget: number): readonly Group[] {
  const open = openCalls(input.state);
  const groups = new NewestGroups(input.state.view.items, open);
  const asked = chosenTail(input, groups, budget);
  const forced = isForced(input.trigger) && !groups.at(asked) ? countMessages(groups, FORCED_MESSAGES, input.policy.keep) : asked;
  return groups.take(Math.max(1, forced, countOpen(groups, open), countAfter(groups, input.options?.up_to ?? null)));
}

/** Messages to keep when a compaction is forced and no cut was found. */
const FORCED_MESSAGES = 2;

/** Number of newest groups that stay. */
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

/**
 * The smallest number of newest groups that hold `messages` messages, rounded outward to whole groups. System messages
 * that stay anyway do not count.
 */
function countMessages(groups: NewestGroups, messages: number, { system_messages }: Pick<Policy["keep"], "system_messages">): number {
  let kept = 0;
  for (let seen = 0; seen < messages; kept++) {
    const group = groups.at(kept);
    if (!group) return kept;
    if (!system_messages || group.items[0]?.kind !== "system") seen += countRequestMessages(group);
  }
  return kept;
}

/** Number of messages of a group as a request has them: a response with all its calls is one, and each result is one. */
export function countRequestMessages({ items }: Group): number {
  const results = items.filter((item) => item.kind === "tool_result").length;
  return results + (results < items.length ? 1 : 0);
}

/** Number of messages of the view as a request has them. All summaries together count as one. */
export const messagesIn = ({ view }: SessionState): number =>
  groupItems(view.items, NO_OPEN_CALLS).reduce((sum, group) => sum + countRequestMessages(group), view.overlays.some(isSummary) ? 1 : 0);

const NO_OPEN_CALLS: ReadonlySet<string> = new Set();
const isSummary = ({ kind }: Overlay): boolean => kind === "summary";

interface Walked {
  /** Number of groups of the longest tail within the budget. The newest group always stays. */
  readonly fits: number;
  /** Number of groups of the shortest tail that reaches the budget. */
  readonly fills: number;
  /** Number of groups of the shortest tail that exceeds the budget. Null when the whole view does not. */
  readonly exceeds: number | null;
}

function walkBack(input: PlanInput, groups: NewestGroups, budget: number): Walked {
  const sizing = toSizing(input);
  let tokens = 0;
  let fills: number | null = null;
  for (let kept = 1; ; kept++) {
    const group = groups.at(kept - 1);
    if (!group) return { fits: kept - 1, fills: fills ?? kept - 1, exceeds: null };
    tokens += sizing.group(group) * sizing.ratio;
    if (tokens >= budget) fills ??= kept;
    if (tokens > budget) return { fits: Math.max(1, kept - 1), fills: fills ?? kept, exceeds: kept };
  }
}

/**
 * The tail that starts at the oldest user message among the newest `most` groups. All `most` groups stay when there is
 * none, and everything stays when `most` is null.
 */
function onToUser(groups: NewestGroups, most: number | null): number {
  if (most === null) return Number.POSITIVE_INFINITY;
  for (let kept = most; kept > 0; kept--) if (groups.at(kept - 1)?.isUser) return kept;
  return most;
}

/** Extends the tail back to a user message if one lies within a quarter of the budget, so that the tail starts with a question. */
function backToUser(input: PlanInput, groups: NewestGroups, by: { readonly kept: number; readonly budget: number }): number {
  const { kept, budget } = by;
  if (groups.at(kept - 1)?.isUser) return kept;
  const sizing = toSizing(input);
  let extra = 0;
  for (let more = kept + 1; ; more++) {
    const group = groups.at(more - 1);
    if (!group) return kept;
    extra += sizing.group(group) * sizing.ratio;
    if (extra > budget / 4) return kept;
    if (group.isUser) return more;
  }
}

/** The smallest number of newest groups that hold every open call. */
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

/** Number of newest groups that end after position `upTo`. */
function countAfter(groups: NewestGroups, upTo: number | null): number {
  let count = 0;
  for (let group = groups.at(0); upTo !== null && group && group.to > upTo; group = groups.at(count)) count++;
  return count;
}
