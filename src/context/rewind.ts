/**
 * What the model reads where a conversation goes back to a position: the newest overlay that fits applies, which is one that stands for
 * nothing behind it. Pure; what the view was at which time is handed in.
 */
import { rangesWithin, toRanges } from "../domain/branch";
import type { CoveredRange, Overlay, Reduced } from "../domain/compaction-events";
import type { SessionState } from "../domain/state";
import type { ViewBefore } from "./take-back";

/** A view of the past, and how far what it showed is part of the present line. */
export interface ViewThen extends ViewBefore {
  readonly sharedTo: number;
}

export interface RewoundView {
  readonly overlays: readonly Overlay[];
  readonly reduced: readonly Reduced[];
  /** Positions that are shown, in order. */
  readonly shown: readonly CoveredRange[];
  /** It is the beginning of the present view. */
  readonly continues: boolean;
}

export interface GoingBack {
  readonly state: Pick<SessionState, "view">;
  /** The last position that stays. */
  readonly to: number;
  /** The last position that an overlay may stand for: a question at `to` is shown, whoever answers it. */
  readonly covered: number;
  /** Positions of other lines, those that are left now included. */
  readonly elsewhere: readonly CoveredRange[];
  /** Views of the past, the newest first; read only as far as it is needed. The last one fits: it is of when `to` was the newest. */
  readonly earlier: Iterable<ViewThen>;
}

export function viewAt({ state: { view }, to, covered, elsewhere, earlier }: GoingBack): RewoundView {
  if (endsBy(view.overlays, covered)) {
    const shown = toRanges(view.items.flatMap(({ position }) => (position <= to ? [position] : [])));
    return { overlays: view.overlays, reduced: upTo(view.reduced, to), shown, continues: true };
  }
  for (const then of earlier) {
    const end = Math.min(to, then.sharedTo);
    if (!endsBy(then.overlays, Math.min(covered, end))) continue;
    const known = Math.min(end, then.to);
    const shown = then.shown.flatMap((range) => (range.from <= known ? [{ from: range.from, to: Math.min(range.to, known) }] : []));
    const since = rangesWithin(elsewhere, { from: known + 1, to });
    return { overlays: then.overlays, reduced: upTo(then.reduced, known), shown: [...shown, ...since], continues: false };
  }
  return { overlays: [], reduced: [], shown: rangesWithin(elsewhere, { from: 1, to }), continues: false };
}

const endsBy = (overlays: readonly Overlay[], to: number): boolean => overlays.every((overlay) => overlay.to <= to);

const upTo = (reduced: readonly Reduced[], to: number): readonly Reduced[] => reduced.filter(({ position }) => position <= to);
