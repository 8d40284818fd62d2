/** A state as text of the size of what is not in a table: the view's items are ranges of positions, read back from `items`. */
import type { CoveredRange } from "../../domain/compaction-events";
import type { SessionState } from "../../domain/state";
import { readRangesAsOf } from "./log-tables";
import type { Sql } from "./sql";
import { rangesOf } from "./views-before";

interface PackedState {
  /** Without the view's items. */
  readonly state: SessionState;
  readonly shown: readonly CoveredRange[];
}

export function packState(state: SessionState): string {
  const { view } = state;
  return JSON.stringify({ state: { ...state, view: { ...view, items: [] } }, shown: rangesOf(view.items) } satisfies PackedState);
}

export function unpackState(sql: Sql, text: string): SessionState {
  const { state, shown } = JSON.parse(text) as PackedState;
  return { ...state, view: { ...state.view, items: readRangesAsOf(sql, shown, state.redacted) } };
}
