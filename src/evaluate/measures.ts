/** Measures how much of the newest history a request shows word for word. */
import { isAmong } from "../domain/branch";
import type { Reduced } from "../domain/compaction-events";
import type { ItemMeta } from "../domain/message";
import type { SessionState } from "../domain/state";

/** An item of the record, with its weight. */
export interface Weighed {
  readonly meta: Pick<ItemMeta, "position">;
  readonly tokens: number;
  readonly chars: number;
}

export interface Shown extends Pick<SessionState, "branch"> {
  readonly view: Pick<SessionState["view"], "items" | "reduced">;
}

/** The share of the newest `last` tokens of the history that the view shows verbatim, from 0 to 1. */
export function verbatimShare(record: readonly Weighed[], { view, branch }: Shown, last: number): number {
  const reduced = new Map(view.reduced.map((entry) => [entry.position, entry]));
  let looked = 0;
  let verbatim = 0;
  let shown = view.items.length - 1;
  for (let index = record.length - 1; index >= 0 && looked < last; index--) {
    const item = record[index];
    if (!item) break;
    const { position } = item.meta;
    if (isAmong(branch.elsewhere, position)) continue;
    const tokens = Math.min(item.tokens, last - looked);
    looked += tokens;
    while ((view.items[shown]?.position ?? 0) > position) shown--;
    if (view.items[shown]?.position !== position) continue;
    verbatim += tokens * shownShare(reduced.get(position), item.chars);
  }
  return looked === 0 ? 1 : verbatim / looked;
}

/** The share of an item that the view shows: less than 1 if it is shortened, 0 if it is cleared. */
function shownShare(less: Reduced | undefined, chars: number): number {
  if (!less) return 1;
  return less.how === "shortened" ? Math.min(1, less.chars / Math.max(1, chars)) : 0;
}
