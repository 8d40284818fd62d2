/**
 * What the model reads where a conversation goes back to a position: the newest overlay that fits applies, which is one that stands for
 * nothing behind it. Pure; what the view was at which time is handed in.
 */
import { isAmong, rangesWithin, toRanges } from "../domain/branch";
import type { CoveredRange, Overlay, Reduced } from "../domain/compaction-events";
import type { SessionState } from "../domain/state";
import type { ViewBefore } from "./take-back";

/** A view of the past, and how far what it showed is part of the present line. */
export interface ViewThen extends ViewBefore {
  readonly sharedTo: number;
}

interface RewoundView {
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
  /** Positions of other lines, those that are left now included. */
  readonly elsewhere: readonly CoveredRange[];
  /** Views of the past, the newest first; read only as far as it is needed. The last one fits: it is of when `to` was the newest. */
  readonly earlier: Iterable<ViewThen>;
  /** A position that the view must show as it is: what is answered next. Null: none. */
  readonly mustShow: number | null;
}

export function viewAt(going: GoingBack): RewoundView {
  const { state, to, elsewhere, earlier, mustShow } = going;
  const present = cutPresent(state.view, to);
  if (present && shows(present, mustShow)) return present;
  for (const then of earlier) {
    const rewound = cutEarlier(then, { to, elsewhere });
    if (rewound && shows(rewound, mustShow)) return rewound;
  }
  return { overlays: [], reduced: [], shown: rangesWithin(elsewhere, { from: 1, to }), continues: false };
}

/** Null: something stands in it for what is left. */
function cutPresent({ overlays, items, reduced }: SessionState["view"], to: number): RewoundView | null {
  if (!endsBy(overlays, to)) return null;
  const shown = toRanges(items.flatMap(({ position }) => (position <= to ? [position] : [])));
  return { overlays, reduced: upTo(reduced, to), shown, continues: true };
}

/** What came since is shown, too. */
function cutEarlier(then: ViewThen, { to, elsewhere }: Pick<GoingBack, "to" | "elsewhere">): RewoundView | null {
  const end = Math.min(to, then.sharedTo);
  if (!endsBy(then.overlays, end)) return null;
  const known = Math.min(end, then.to);
  const shown = then.shown.flatMap((range) => (range.from <= known ? [{ from: range.from, to: Math.min(range.to, known) }] : []));
  const since = rangesWithin(elsewhere, { from: known + 1, to });
  return { overlays: then.overlays, reduced: upTo(then.reduced, known), shown: [...shown, ...since], continues: false };
}

const shows = ({ shown, reduced }: RewoundView, position: number | null): boolean =>
  position === null || (isAmong(shown, position) && reduced.every((entry) => entry.position !== position));

const endsBy = (overlays: readonly Overlay[], to: number): boolean => overlays.every((overlay) => overlay.to <= to);

const upTo = (reduced: readonly Reduced[], to: number): readonly Reduced[] => reduced.filter(({ position }) => position <= to);
