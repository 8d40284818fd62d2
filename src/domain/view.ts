/** The view as a value: every change of what it shows keeps the running sums of its weight. */
import type { Overlay, Reduced } from "./compaction-events";
import type { ItemMeta } from "./message";
import type { View } from "./state";

/** What stands in the view for the result of a call that was never answered (`view`, NO_RESULT), with its frame. */
export const NO_RESULT_TOKENS = 24;

/** Raw weight of the items that are shown as less than they are, by position. */
export function reducedWeights(reduced: readonly Reduced[]): ReadonlyMap<number, number> {
  return new Map(reduced.map(({ position, tokens }) => [position, tokens]));
}

/** Calls less results: a result's call is in the view wherever the result is. */
export const missingResults = (items: readonly ItemMeta[]): number =>
  items.reduce((missing, { kind }) => missing + (kind === "tool_call" ? 1 : kind === "tool_result" ? -1 : 0), 0);

/** A run of positions, both ends included. */
export interface Run {
  readonly from: number;
  readonly to: number;
}

/** Which positions of `range` no standing summary has read: what is shown still, and what was only trimmed. In order; what lies between is not looked at. */
export function unreadRuns({ items, overlays }: Pick<View, "items" | "overlays">, range: Run): readonly Run[] {
  const trimmed = overlays.flatMap((overlay): Run[] => (overlay.kind === "dropped" ? [overlay] : []));
  const pieces = [...items.map(({ position }): Run => ({ from: position, to: position })), ...trimmed]
    .map(({ from, to }): Run => ({ from: Math.max(from, range.from), to: Math.min(to, range.to) }))
    .filter(({ from, to }) => from <= to)
    .sort((one, other) => one.from - other.from);
  const runs: Run[] = [];
  for (const { from, to } of pieces) {
    const last = runs.at(-1);
    if (last && from <= last.to + 1) runs[runs.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else runs.push({ from, to });
  }
  return runs;
}

/** A view of exactly this, weighed anew and its overlays in order: for an epoch change, which touches all of it anyway. */
export function viewOf(parts: Omit<View, Sums>): View {
  const weights = reducedWeights(parts.reduced);
  const overlays = inOrder(parts.overlays);
  const weight = overlayTokens(overlays);
  const sums = plusItems(
    { ...parts, tokens: weight, rough: weight, media: 0, system: 0 },
    parts.items,
    (item) => weights.get(item.position) ?? null,
  );
  return { ...parts, overlays, ...sums };
}

/** How overlays are ordered: by where they end, and what lies within another first. */
const compareOverlays = (one: Run, other: Run): number => one.to - other.to || other.from - one.from;

/**
 * A summary's range may begin before the end of an earlier one, which left a message standing there, or around a message that was
 * trimmed since. The ends of summaries only grow: the last in this order is the newest.
 */
const inOrder = (overlays: readonly Overlay[]): readonly Overlay[] => [...overlays].sort(compareOverlays);

/** The overlay by which `position` has left the view: the innermost, as what is trimmed inside a summary's range was not read by it. */
export const overlayAt = ({ overlays }: Pick<View, "overlays">, position: number): Overlay | null =>
  overlays.find(({ from, to }) => from <= position && position <= to) ?? null;

/** Nothing stands for what it covers any more. */
export const toDropped = ({ id, from, to, items }: Overlay): Overlay => ({ id, kind: "dropped", from, to, items, tokens: 0 });

export const overlayTokens = (overlays: readonly Overlay[]): number => overlays.reduce((sum, overlay) => sum + overlay.tokens, 0);

/** What the view sends of an item beside its own content: thinking that its provider signed. */
export const signedTokens = (
  { signed_from }: Pick<View, "signed_from">,
  { position, signed }: Pick<ItemMeta, "position" | "signed">,
): number => (signed && position >= signed_from ? signed.tokens : 0);

/** The view with `items` at its end. It costs what they cost, however long the view is: an import of a long record appends as often as it has messages. */
export function appendToView(view: View, items: readonly ItemMeta[]): View {
  const sums = plusItems(view, items, () => null);
  const known = grown.get(view);
  // Whoever appended to this view before has taken the place behind it.
  const isNewest = known !== undefined && known.length === known.all.length;
  const all = isNewest ? known.all : [...view.items];
  for (const item of items) all.push(item);
  return growingView({ ...sums, epoch: view.epoch, overlays: view.overlays, reduced: view.reduced, signed_from: view.signed_from }, all);
}

/** Items that views have in common which came about by appending: each shows the first `length` of them, and only the newest adds to them. */
interface Grown {
  readonly all: ItemMeta[];
  readonly length: number;
}

const grown = new WeakMap<View, Grown>();

/** A view whose items are copied out when they are read, once. */
function growingView({ epoch, overlays, reduced, signed_from, ...sums }: Omit<View, "items">, all: ItemMeta[]): View {
  const { length } = all;
  let items: readonly ItemMeta[] | null = null;
  const view: View = {
    epoch,
    overlays,
    get items() {
      items ??= all.slice(0, length);
      return items;
    },
    reduced,
    signed_from,
    ...sums,
  };
  grown.set(view, { all, length });
  return view;
}

/** What a view knows of its items without looking at them again. */
type Sums = "tokens" | "rough" | "media" | "system";

/** `reduced`: what an item weighs that is shown as less than it is; null: it is shown as it is. */
function plusItems(
  view: Pick<View, Sums | "signed_from">,
  items: readonly ItemMeta[],
  reduced: (item: ItemMeta) => number | null,
): Pick<View, Sums> {
  let { tokens, rough, media, system } = view;
  for (const item of items) {
    if (item.kind === "system") system += reduced(item) ?? item.tokens;
    tokens += (reduced(item) ?? item.tokens) + signedTokens(view, item);
    rough += reduced(item) ?? item.rough ?? item.tokens;
    media += item.attached ? 1 : 0;
  }
  const missing = missingResults(items) * NO_RESULT_TOKENS;
  return { tokens: tokens + missing, rough: rough + missing, media, system };
}
