/**
 * A state as text. The view's items are stored as ranges of positions and read back from `items`, so the text has the
 * size of what no table holds.
 */
import type { CoveredRange } from "../../domain/compaction-events";
import type { SessionState } from "../../domain/state";
import { readRangesAt } from "./log-tables";
import type { Sql } from "./sql";
import { toItemRanges } from "./views-before";

interface PackedState {
  /** The state without the view's items. */
  readonly state: SessionState;
  readonly shown: readonly CoveredRange[];
}

export function packState(state: SessionState): string {
  const { view } = state;
  return JSON.stringify({ state: { ...state, view: { ...view, items: [] } }, shown: toItemRanges(view.items) } satisfies PackedState);
}

export function unpackState(sql: Sql, text: string): SessionState {
  const { state, shown } = JSON.parse(text) as PackedState;
  return { ...state, view: { ...state.view, items: readRangesAt(sql, shown, state.seq) } };
}
