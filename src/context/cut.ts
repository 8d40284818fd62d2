/** Where the view may be cut, and what its groups weigh. */
import type { SessionState } from "../domain/state";
import { itemTokens } from "./budget";
import { type Group, groupItems } from "./groups";

export function viewGroups(state: SessionState): Group[] {
  const open = [...(state.turn?.open_calls ?? []), ...state.imported_calls];
  return groupItems(state.view.items, new Set(open.map((call) => call.execution)));
}

/** Raw estimate of a group as the view shows it. */
export const weigh = (state: SessionState, group: Group): number => group.items.reduce((sum, item) => sum + itemTokens(state, item), 0);

/**
 * How many of the oldest groups go. Walks back from the newest while the kept budget holds; the newest group always
 * stays. Moves back to a message of the user if one lies within a quarter of the budget, so that the tail starts well.
 */
export function cutIndex(state: SessionState, groups: readonly Group[], by: { keep: number; scale: number }): number {
  const fill = (start: number, budget: number, wanted: (group: Group) => boolean): number | null => {
    let kept = 0;
    let found: number | null = null;
    for (let index = start; index >= 0; index--) {
      const group = groups[index];
      if (!group) break;
      kept += weigh(state, group) * by.scale;
      if (kept > budget) break;
      if (wanted(group)) found = index;
    }
    return found;
  };
  const newest = Math.max(0, groups.length - 1);
  const cut = fill(newest, by.keep, () => true) ?? newest;
  if (groups[cut]?.isUser) return cut;
  const before = groups.slice(0, cut).findLastIndex((group) => group.isUser);
  const extra = groups.slice(Math.max(before, 0), cut).reduce((sum, group) => sum + weigh(state, group) * by.scale, 0);
  return before >= 0 && extra <= by.keep / 4 ? before : cut;
}
