/** Dropping: groups leave the view without a summary. They stay in the record and go into the next summary. */
import type { SessionState } from "../domain/state";
import { weigh } from "./cut";
import type { Group } from "./groups";
import type { Rung } from "./plan";

/** The groups as runs of neighbouring positions, each one drop; trimmed ranges that a run touches become part of it. */
export function dropRungs(state: SessionState, groups: readonly Group[]): Rung[] {
  const runs: Group[][] = [];
  for (const group of groups) {
    const run = runs.at(-1);
    if (run?.at(-1)?.to === group.from - 1) run.push(group);
    else runs.push([group]);
  }
  return runs.flatMap((run): Rung[] => {
    const first = run[0];
    const last = run.at(-1);
    if (!first || !last) return [];
    const touching = state.view.overlays.filter(
      (known) => known.kind === "dropped" && known.to >= first.from - 1 && known.from <= last.to + 1,
    );
    return [
      {
        rung: "drop",
        from: Math.min(first.from, ...touching.map((known) => known.from)),
        to: Math.max(last.to, ...touching.map((known) => known.to)),
        replaces: touching.map((known) => known.id),
        items: run.reduce((sum, group) => sum + group.items.length, 0) + touching.reduce((sum, known) => sum + known.items, 0),
        tokens: run.reduce((sum, group) => sum + weigh(state, group), 0),
      },
    ];
  });
}
