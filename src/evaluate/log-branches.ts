/** Events by which a conversation goes back or switches to another branch, changed to what another policy's view then shows. */
import { isAmong, rangesWithin } from "../domain/branch";
import type { CoveredRange } from "../domain/compaction-events";
import type { StoredEvent } from "../domain/events";
import type { SessionState } from "../domain/state";
import type { LogRecord } from "./log-record";

type LineEvent = StoredEvent & { readonly type: "HistoryRewound" | "BranchSwitched" };

/**
 * Keeps the overlays that cover only positions of the resulting branch. Everything else of that branch comes back into the
 * view, and the policy may compact it again.
 */
export function onOwnLine(event: LineEvent, state: SessionState, record: LogRecord): LineEvent {
  const { view } = state;
  const { elsewhere } = event.line;
  const overlays = view.overlays.filter((overlay) => isWhole(rangesWithin(elsewhere, overlay), overlay));
  const covered = overlays.map(({ from, to }) => ({ from, to }));
  const shown = new Set(view.items.map(({ position }) => position));
  const items = record.items.flatMap(({ meta }) => {
    const stays = shown.has(meta.position) || !isAmong(covered, meta.position);
    return stays && !isAmong(elsewhere, meta.position) ? [meta] : [];
  });
  const there = new Set(items.map(({ position }) => position));
  const reduced = view.reduced.filter(({ position }) => there.has(position));
  return { ...event, items, line: { ...event.line, overlays, reduced, keeps: [] } };
}

const isWhole = ([first]: readonly CoveredRange[], { from, to }: CoveredRange): boolean => first?.from === from && first.to === to;
