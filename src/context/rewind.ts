/**
 * What the model reads after the conversation goes back to a position: the newest view of the present or the past whose
 * overlays cover nothing after that position. Pure: the caller passes the earlier views.
 */
import { isAmong, rangesWithin, toRanges } from "../domain/branch";
import type { CoveredRange, Overlay, Reduced } from "../domain/compaction-events";
import type { SessionState } from "../domain/state";
import type { ViewBefore } from "./revert-reset";

/** An earlier view, and the last position of it that the current branch shares. */
export interface ViewThen extends ViewBefore {
  readonly sharedTo: number;
}

interface RewoundView {
  readonly overlays: readonly Overlay[];
  readonly reduced: readonly Reduced[];
  /** Positions that are shown, in order. */
  readonly shown: readonly CoveredRange[];
  /** The rewound view is a prefix of the present one. */
  readonly continues: boolean;
}

export interface GoingBack {
  readonly state: Pick<SessionState, "view">;
  /** The last position that stays. */
  readonly to: number;
  /** Positions of other branches, including those that are left now. */
  readonly elsewhere: readonly CoveredRange[];
  /** Earlier views, newest first. Read only as far as needed. The last one always fits, because `to` was its newest position. */
  readonly earlier: Iterable<ViewThen>;
  /** A position that the view must show whole, because it is answered next. Null when there is none. */
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

/** The present view up to `to`. Null when an overlay covers something that is left. */
function cutPresent({ overlays, items, reduced }: SessionState["view"], to: number): RewoundView | null {
  if (!endsBy(overlays, to)) return null;
  const shown = toRanges(items.flatMap(({ position }) => (position <= to ? [position] : [])));
  return { overlays, reduced: upTo(reduced, to), shown, continues: true };
}

/** The earlier view up to `to`, followed by the items that came after it. Null when an overlay covers something that is left. */
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
