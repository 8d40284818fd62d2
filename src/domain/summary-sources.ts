/**
 * What a text was made from, directly or through texts in between: a summary of a summary contains content of both, and
 * a look-up's answer contains what it quotes. Redaction follows these sources. They differ from the range that a
 * summary covers.
 */
import { isAmong, listUnread, rangesWithin, toRanges, withRange } from "./branch";
import type { CoveredRange, SummaryPlan, SummarySources } from "./compaction-events";
import type { OverlayId } from "./ids";
import type { PinRef } from "./message";
import type { SummaryMode } from "./receipt";
import type { SessionState, View } from "./state";

/** A summary that was once committed, or that a fork started with. */
export interface CommittedSummary {
  readonly id: OverlayId;
  /** The end of what it covers. */
  readonly to: number;
  readonly read: SummarySources;
}

/** The answer of a look-up. */
export interface Quotation {
  readonly position: number;
  /** Absent: the answer was imported, and may quote anything before it. */
  readonly read?: readonly CoveredRange[];
}

type Leased = Pick<SessionState, "branch"> & { readonly view: Pick<View, "items" | "overlays">; readonly pins: readonly PinRef[] };

type Reading = Pick<SummaryPlan, "range" | "source" | "replaces" | "merge"> & { readonly mode: SummaryMode | null };

/**
 * The sources of a summary at its commit, in the view that it was leased on. In `same_prefix` mode the model read the
 * whole request up to the cut, and with it the pins; of these, only copies of messages count. What lies in the range and is of another
 * branch, or was taken back by a retry, was not read. The end of the range counts: a retry may have taken it back after the model read it.
 */
export function toSummarySources(plan: Reading, { view: { items, overlays }, pins, branch }: Leased): SummarySources {
  const { range, source, replaces, merge, mode } = plan;
  const summaries = overlays.flatMap(({ id, kind }) => (kind === "summary" ? [id] : []));
  const shown = mode === "same_prefix" ? toRanges(items.flatMap(({ position }) => (position <= range.to ? [position] : []))) : [];
  const pinned = mode === "same_prefix" ? pins.flatMap(({ from = [] }) => from.map((position) => ({ from: position, to: position }))) : [];
  const readsAll = mode === "same_prefix" || merge;
  const unread = listUnread(branch).filter(({ to }) => to < range.to);
  return {
    ranges: [...rangesWithin(unread, range), ...rangesWithin(unread, source), ...shown, ...pinned].reduce(withRange, NOTHING),
    // A new summary continues the file lists of those that it replaces, even when it is made anew from the record.
    overlays: summaries.filter((id) => readsAll || replaces.includes(id)),
  };
}

const NOTHING: readonly CoveredRange[] = [];

/** The positions that each summary was made from. `made`: in order of commit. A summary that is not among them may have read anything. */
export function toReadRanges(made: readonly CommittedSummary[]): ReadonlyMap<OverlayId, readonly CoveredRange[]> {
  const readings = new Map<OverlayId, readonly CoveredRange[]>();
  for (const { id, to, read } of made) {
    const earlier = read.overlays.flatMap((overlay) => readings.get(overlay) ?? [{ from: 1, to }]);
    readings.set(id, [...read.ranges, ...earlier].reduce(withRange, readings.get(id) ?? NOTHING));
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
