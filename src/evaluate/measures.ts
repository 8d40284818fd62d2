/** How much of the newest history a request shows word for word. */
import type { ItemMeta } from "../domain/message";
import type { SessionState } from "../domain/state";

/** An item of the record, and what it weighs there. */
export interface Weighed {
  readonly meta: Pick<ItemMeta, "position">;
  readonly tokens: number;
  readonly chars: number;
}

/** Tokens of the newest `last` of the history, and how many of those the view shows verbatim: 0 to 1. */
export function verbatimShare(record: readonly Weighed[], view: SessionState["view"], last: number): number {
  const reduced = new Map(view.reduced.map((entry) => [entry.position, entry]));
  let looked = 0;
  let verbatim = 0;
  let shown = view.items.length - 1;
  for (let index = record.length - 1; index >= 0 && looked < last; index--) {
    const item = record[index];
    if (!item) break;
    const { position } = item.meta;
    const tokens = Math.min(item.tokens, last - looked);
    looked += tokens;
    while ((view.items[shown]?.position ?? 0) > position) shown--;
    if (view.items[shown]?.position !== position) continue;
    const less = reduced.get(position);
    if (!less) verbatim += tokens;
    else if (less.how === "shortened") verbatim += tokens * Math.min(1, less.chars / Math.max(1, item.chars));
  }
  return looked === 0 ? 1 : verbatim / looked;
}
