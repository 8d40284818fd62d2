/** Where the view may be cut: at closed groups, so that what is newest stays verbatim. */
import type { CompactionTrigger } from "../domain/compaction-events";
import type { SessionState } from "../domain/state";
import { itemTokens, limitOf, scaleOf } from "./budget";
import { type Group, groupItems } from "./groups";
import type { PlanInput } from "./plan";

export function viewGroups(state: SessionState): Group[] {
  return groupItems(state.view.items, new Set((state.turn?.open_calls ?? []).map((call) => call.execution)));
}

/** Raw estimate of a group as the view shows it. */
export const weigh = (state: SessionState, group: Group): number => group.items.reduce((sum, item) => sum + itemTokens(state, item), 0);

/** What is done because it must be, whatever it saves. */
export const isForced = (trigger: CompactionTrigger): boolean =>
  trigger === "overflow" || trigger === "inline" || trigger === "model_switch";

/** Planned tokens that stay verbatim. */
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

/** How many of the oldest groups go; 0: none can. Never past a call whose result is still owed. */
export function cutIndex(input: PlanInput, groups: readonly Group[], budget: number): number {
  const open = groups.findIndex((group) => !group.closed);
  const most = open < 0 ? Math.max(0, groups.length - 1) : open;
  const asked = chosenCut(input, groups, budget);
  const forced = asked === 0 && isForced(input.trigger) ? indexOfNewest(groups, 2) : asked;
  return Math.min(forced, most, cutBefore(groups, input.options?.up_to ?? null));
}

function chosenCut(input: PlanInput, groups: readonly Group[], budget: number): number {
  const { keep } = input.policy;
  const byShare = input.options?.keep_recent != null || input.trigger === "overflow";
  if (keep.messages !== null && !byShare) return indexOfNewest(groups, keep.messages);
  const walked = walkBack(input, groups, budget);
  switch (keep.cut) {
    case "fits":
      return backToUser(input, groups, { cut: walked.fits, budget });
    case "fills":
      return backToUser(input, groups, { cut: walked.fills, budget });
    case "next_user": {
      if (walked.exceeded === null) return 0;
      const user = groups.findIndex((group, index) => index >= (walked.exceeded ?? 0) && group.isUser);
      return user < 0 ? walked.exceeded : user;
    }
  }
}

/** Longest tail within the budget, shortest that reaches it, and the group at which it is exceeded. The newest always stays. */
function walkBack(input: PlanInput, groups: readonly Group[], budget: number): { fits: number; fills: number; exceeded: number | null } {
  const scale = scaleOf(input.state, input.limits.model);
  let kept = 0;
  let fits = Math.max(0, groups.length - 1);
  for (let index = groups.length - 1; index >= 0; index--) {
    const group = groups[index];
    if (!group) break;
    kept += weigh(input.state, group) * scale;
    if (kept > budget) return { fits, fills: index, exceeded: index };
    fits = index;
    if (kept === budget) return { fits, fills: index, exceeded: index > 0 ? index - 1 : null };
  }
  return { fits: 0, fills: 0, exceeded: null };
}

/** The index of the group that holds the nth newest message; whole groups, so that a call keeps its results. */
function indexOfNewest(groups: readonly Group[], messages: number): number {
  let seen = 0;
  for (let index = groups.length - 1; index >= 0; index--) {
    seen += 1; // a group is one message, with its calls and their results
    if (seen >= messages) return index;
  }
  return 0;
}

/** Back to a message of the user if one lies within a quarter of the budget, so that the tail starts well. */
function backToUser(input: PlanInput, groups: readonly Group[], by: { readonly cut: number; readonly budget: number }): number {
  const { cut, budget } = by;
  if (cut === 0 || groups[cut]?.isUser) return cut;
  const scale = scaleOf(input.state, input.limits.model);
  let extra = 0;
  for (let index = cut - 1; index >= 0; index--) {
    const group = groups[index];
    if (!group) break;
    extra += weigh(input.state, group) * scale;
    if (extra > budget / 4) return cut;
    if (group.isUser) return index;
  }
  return cut;
}

function cutBefore(groups: readonly Group[], upTo: number | null): number {
  if (upTo === null) return groups.length;
  const after = groups.findIndex((group) => group.to > upTo);
  return after < 0 ? groups.length : after;
}
