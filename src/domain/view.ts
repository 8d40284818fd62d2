/** The view as a value: every change of what it shows keeps the running sum of its weight. */
import type { Overlay, Reduced } from "./compaction-events";
import type { ItemMeta } from "./message";
import type { View } from "./state";

/** Raw weight of the items that are shown as less than they are, by position. */
export function reducedWeights(reduced: readonly Reduced[]): ReadonlyMap<number, number> {
  return new Map(reduced.map(({ position, tokens }) => [position, tokens]));
}

/** A view of exactly this, weighed anew: for an epoch change, which touches all of it anyway. */
export function viewOf(parts: Omit<View, "tokens">): View {
  const weights = reducedWeights(parts.reduced);
  const items = parts.items.reduce((sum, item) => sum + (weights.get(item.position) ?? item.tokens), 0);
  return { ...parts, tokens: items + overlayTokens(parts.overlays) };
}

export const overlayTokens = (overlays: readonly Overlay[]): number => overlays.reduce((sum, overlay) => sum + overlay.tokens, 0);

/** The view with `items` at its end. */
export function appendToView(view: View, items: readonly ItemMeta[]): View {
  return { ...view, items: [...view.items, ...items], tokens: view.tokens + items.reduce((sum, item) => sum + item.tokens, 0) };
}
