/**
 * What a text was made from, directly or through texts in between: a summary of a summary contains content of both, and
 * a look-up's answer contains what it quotes. Redaction follows these sources. They differ from the range that a
 * summary covers.
 */
import { isAmong, toRanges, withRange } from "./branch";
import type { CoveredRange, SummaryPlan, SummarySources } from "./compaction-events";
import type { OverlayId } from "./ids";
import type { PinRef } from "./message";
import type { SummaryMode } from "./receipt";
import type { View } from "./state";

/** A summary that was once committed, or that a fork started with. */
export interface CommittedSummary extends CoveredRange {
  readonly id: OverlayId;
  readonly read: SummarySources;
}

/** The answer of a look-up. */
export interface Quotation {
  readonly position: number;
  /** Absent: the answer was imported, and may quote anything before it. */
  readonly read?: readonly CoveredRange[];
}

type Reading = Pick<SummaryPlan, "range" | "source" | "replaces" | "merge"> & { readonly mode: SummaryMode | null };

/**
 * The sources of a summary at its commit, in the view that it was leased on. In `same_prefix` mode the model read the
 * whole request up to the cut, and with it the pins; of these, only copies of messages count.
 */
export function toSummarySources(
  plan: Reading,
  { view: { items, overlays }, pins }: { readonly view: Pick<View, "items" | "overlays">; readonly pins: readonly PinRef[] },
): SummarySources {
  const { range, source, replaces, merge, mode } = plan;
  const summaries = overlays.flatMap(({ id, kind }) => (kind === "summary" ? [id] : []));
  const shown = mode === "same_prefix" ? toRanges(items.flatMap(({ position }) => (position <= range.to ? [position] : []))) : [];
  const pinned = mode === "same_prefix" ? pins.flatMap(({ from = [] }) => from.map((position) => ({ from: position, to: position }))) : [];
  const readsAll = mode === "same_prefix" || merge;
  return {
    ranges: [source, ...shown, ...pinned].reduce(withRange, [range]),
    // A new summary continues the file lists of those that it replaces, even when it is made anew from the record.
    overlays: summaries.filter((id) => readsAll || replaces.includes(id)),
  };
}

/** The positions that each summary was made from. `made`: in order of commit. A summary that is not among them may have read anything. */
export function toReadRanges(made: readonly CommittedSummary[]): ReadonlyMap<OverlayId, readonly CoveredRange[]> {
  const readings = new Map<OverlayId, readonly CoveredRange[]>();
  for (const { id, from, to, read } of made) {
    const earlier = read.overlays.flatMap((overlay) => readings.get(overlay) ?? [{ from: 1, to }]);
    readings.set(id, [...read.ranges, { from, to }, ...earlier].reduce(withRange, readings.get(id) ?? []));
  }
  return readings;
}

/** The positions of look-ups that quote one of `positions`, directly or through another look-up. `quotations`: in order of position. */
export function findQuotations(positions: readonly number[], quotations: readonly Quotation[]): readonly number[] {
  const purged = new Set(positions);
  const found: number[] = [];
  for (const { position, read = [{ from: 1, to: position - 1 }] } of quotations) {
    if (![...purged].some((each) => isAmong(read, each))) continue;
    purged.add(position);
    found.push(position);
  }
  return found;
}
