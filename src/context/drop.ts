/** Drops: groups leave the view without a summary. They stay in the record and go into the next summary. */
import type { OverlayId } from "../domain/ids";
import type { Group } from "./groups";
import type { DropRung } from "./plan";
import type { Sizing } from "./sizing";

/**
 * A run of positions that leave the view or have left it. Mutable while it is built, because a long view has a group
 * for every two messages.
 */
interface Stretch {
  readonly from: number;
  to: number;
  readonly replaces: OverlayId[];
  items: number;
  tokens: number;
  /** At least one of its items is still in the view. */
  leaves: boolean;
}

/** One drop for each run of neighbouring positions. Ranges that were trimmed before, next to or between the groups, become part of it. */
export function dropRungs(sizing: Sizing, groups: readonly Group[], reason: string): DropRung[] {
  const going = groups.map((group): Stretch => {
    const { from, to, items } = group;
    return { from, to, replaces: [], items: items.length, tokens: sizing.group(group), leaves: true };
  });
  const gone = sizing.state.view.overlays
    .filter((known) => known.kind === "dropped")
    .map(({ id, from, to, items }): Stretch => ({ from, to, replaces: [id], items, tokens: 0, leaves: false }));
  const stretches: Stretch[] = [];
  for (const next of [...going, ...gone].sort((a, b) => a.from - b.from)) {
    const last = stretches.at(-1);
    if (last && last.to >= next.from - 1) extend(last, next);
    else stretches.push(next);
  }
  return stretches
    .filter((stretch) => stretch.leaves)
    .map(({ leaves: _, tokens, ...stretch }) => ({ rung: "drop", ...stretch, gain: sizing.gain(tokens), reason }));
}

function extend(stretch: Stretch, next: Stretch): void {
  stretch.to = Math.max(stretch.to, next.to);
  stretch.replaces.push(...next.replaces);
  stretch.items += next.items;
  stretch.tokens += next.tokens;
  stretch.leaves ||= next.leaves;
}
