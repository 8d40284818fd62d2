/** The view as an immutable value. Every change of the view keeps its running sums up to date. */
import type { Overlay, Reduction } from "./compaction-events";
import type { ItemMeta } from "./message";
import type { View } from "./state";

/** Raw weight of the placeholder for the result of a call that was never answered (`context/view`, NO_RESULT), with its frame. */
export const NO_RESULT_TOKENS = 24;

/** Raw weight, by position, of the items that the view shows shortened or replaced. */
export function reducedWeights(reduced: readonly Reduction[]): ReadonlyMap<number, number> {
  return new Map(reduced.map(({ position, tokens }) => [position, tokens]));
}

/** Number of calls without a result. The difference is exact, because every result in the view has its call there too. */
export const missingResults = (items: readonly ItemMeta[]): number =>
  items.reduce((missing, { kind }) => missing + (kind === "tool_call" ? 1 : kind === "tool_result" ? -1 : 0), 0);

/** A run of positions, both ends included. */
export interface Run {
  readonly from: number;
  readonly to: number;
}

/**
 * The positions of `range` that no committed summary has read: items that are shown, and items that were trimmed. The
 * runs are in order; adjacent ones are merged.
 */
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

/**
 * Builds a view, with its overlays in order and its sums computed anew. Costs the whole view, so it is for epoch
 * changes, which touch all of it anyway.
 */
export function toWeighedView(parts: Omit<View, Sums>): View {
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

/** Orders overlays by where they end; a nested overlay comes before the one around it. */
const compareOverlays = (one: Run, other: Run): number => one.to - other.to || other.from - one.from;

/**
 * A summary's range may begin before the end of an earlier one that left a message in the view, or include a range that
 * was trimmed since. The ends of summaries only grow, so the last in this order is the newest.
 */
const inOrder = (overlays: readonly Overlay[]): readonly Overlay[] => [...overlays].sort(compareOverlays);

/**
 * The innermost overlay that covers `position`, because a summary has not read what was trimmed inside its range. Null
 * when the position is not covered.
 */
export const overlayAt = ({ overlays }: Pick<View, "overlays">, position: number): Overlay | null =>
  overlays.find(({ from, to }) => from <= position && position <= to) ?? null;

/** The overlay with its summary removed: nothing stands for what it covers. */
export const toDropped = ({ id, from, to, items }: Overlay): Overlay => ({ id, kind: "dropped", from, to, items, tokens: 0 });

export const overlayTokens = (overlays: readonly Overlay[]): number => overlays.reduce((sum, overlay) => sum + overlay.tokens, 0);

/** Raw tokens that the view sends of an item beside its content: reasoning that its provider signed. */
export const signedTokens = (
  { signed_from }: Pick<View, "signed_from">,
  { position, signed }: Pick<ItemMeta, "position" | "signed">,
): number => (signed && position >= signed_from ? signed.tokens : 0);

/**
 * The view with `items` at its end. The cost depends on `items` alone, not on the length of the view, because the
 * import of a long record appends once for each message.
 */
export function appendToView(view: View, items: readonly ItemMeta[]): View {
  const sums = plusItems(view, items, () => null);
  const known = grown.get(view);
  // If another view was already appended to this one, that view owns the space after it in the shared array.
  const isNewest = known !== undefined && known.length === known.all.length;
  const all = isNewest ? known.all : [...view.items];
  for (const item of items) all.push(item);
  return growingView({ ...sums, epoch: view.epoch, overlays: view.overlays, reduced: view.reduced, signed_from: view.signed_from }, all);
}

/** Items shared by views that were made by appending. Each view shows the first `length` of them; only the newest may add to the array. */
interface Grown {
  readonly all: ItemMeta[];
  readonly length: number;
}

const grown = new WeakMap<View, Grown>();

/** A view that copies its items out of the shared array once, when they are first read. */
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

/** The running sums that a view keeps of its items. */
type Sums = "tokens" | "rough" | "media" | "system";

/** `reduced`: an item's weight if the view shows it shortened or replaced. Null: the view shows it whole. */
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
