/**
 * The view as each compaction found it, so that it can be taken back exactly. Small: positions as ranges, not items. As many
 * are kept as can be reverted.
 */
import type { ViewBefore } from "../../context/take-back";
import type { CoveredRange } from "../../domain/compaction-events";
import type { StoredEvent } from "../../domain/events";
import { fold } from "../../domain/evolve";
import type { CompactionId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { REVERTIBLE, type SessionState } from "../../domain/state";
import { readEvents } from "./event-log";
import type { Sql } from "./sql";

export function keepViewBefore(sql: Sql, event: Extract<StoredEvent, { type: "EpochChanged" }>, before: SessionState): void {
  const takesBack = event.ops.some((op) => op.op === "revert" || op.op === "reset");
  if (!event.compaction || takesBack) return;
  const kept = viewBeforeOf(before);
  sql.all(
    "INSERT OR REPLACE INTO views_before (compaction, seq, data) VALUES (?, ?, ?)",
    event.compaction,
    event.seq,
    JSON.stringify(kept),
  );
  sql.all(
    "DELETE FROM views_before WHERE seq < (SELECT min(seq) FROM (SELECT seq FROM views_before ORDER BY seq DESC LIMIT ?))",
    REVERTIBLE,
  );
}

const viewBeforeOf = ({ view, next_position }: SessionState): ViewBefore => ({
  overlays: view.overlays,
  shown: rangesOf(view.items),
  reduced: view.reduced,
  to: next_position - 1,
});

/** As it was kept, or, from before this table was, as the log tells it. Null: that compaction never took effect. */
export function readViewBefore(sql: Sql, compaction: CompactionId): ViewBefore | null {
  const row = sql.all<{ data: string }>("SELECT data FROM views_before WHERE compaction = ?", compaction)[0];
  if (row) return JSON.parse(row.data) as ViewBefore;
  const query = "SELECT seq FROM events WHERE type = 'EpochChanged' AND json_extract(data, '$.compaction') = ?";
  const changed = sql.all<{ seq: number }>(query, compaction)[0];
  return changed ? viewBeforeOf(fold(readEvents(sql, 0, changed.seq - 1))) : null;
}

export function rangesOf(items: readonly ItemMeta[]): CoveredRange[] {
  const ranges: { from: number; to: number }[] = [];
  for (const { position } of items) {
    const last = ranges.at(-1);
    if (last && last.to === position - 1) last.to = position;
    else ranges.push({ from: position, to: position });
  }
  return ranges;
}
