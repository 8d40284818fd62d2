/** How much of the newest history a request shows word for word. */
import type { SessionState } from "../domain/state";
import type { RecordedItem } from "./session";

/** Tokens of the newest `last` of the history, and how many of those the view shows verbatim: 0 to 1. */
export function verbatimShare(record: readonly RecordedItem[], view: SessionState["view"], last: number): number {
  const shown = new Set(view.items.map((item) => item.position));
  const reduced = new Map(view.reduced.map((entry) => [entry.position, entry]));
  let looked = 0;
  let verbatim = 0;
  for (let index = record.length - 1; index >= 0 && looked < last; index--) {
    const item = record[index];
    if (!item) break;
    const tokens = Math.min(item.tokens, last - looked);
    looked += tokens;
    if (!shown.has(item.meta.position)) continue;
    const less = reduced.get(item.meta.position);
    if (!less) verbatim += tokens;
    else if (less.how === "shortened") verbatim += tokens * Math.min(1, less.chars / Math.max(1, item.text.length));
  }
  return looked === 0 ? 1 : verbatim / looked;
}
