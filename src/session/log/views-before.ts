/**
 * The view as each compaction found it, so that it can be taken back exactly. Small: positions as ranges, not items. As many
 * are kept as can be reverted.
 */
import type { CoveredRange, Overlay, Reduced } from "../../domain/compaction-events";
import type { StoredEvent } from "../../domain/events";
import type { CompactionId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { REVERTIBLE, type SessionState } from "../../domain/state";
import type { Sql } from "./sql";

export interface ViewBefore {
  readonly overlays: readonly Overlay[];
  /** Positions of the items that it showed. */
  readonly shown: readonly CoveredRange[];
  readonly reduced: readonly Reduced[];
  /** Its last position: what is newer came later. */
  readonly to: number;
}

export function keepViewBefore(
  sql: Sql,
  event: Extract<StoredEvent, { type: "EpochChanged" }>,
  { view, next_position }: SessionState,
): void {
  const takesBack = event.ops.some((op) => op.op === "revert" || op.op === "reset");
  if (!event.compaction || takesBack) return;
  const kept: ViewBefore = { overlays: view.overlays, shown: rangesOf(view.items), reduced: view.reduced, to: next_position - 1 };
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

export function readViewBefore(sql: Sql, compaction: CompactionId): ViewBefore | null {
  const row = sql.all<{ data: string }>("SELECT data FROM views_before WHERE compaction = ?", compaction)[0];
  return row ? (JSON.parse(row.data) as ViewBefore) : null;
}

function rangesOf(items: readonly ItemMeta[]): CoveredRange[] {
  const ranges: { from: number; to: number }[] = [];
  for (const { position } of items) {
    const last = ranges.at(-1);
    if (last && last.to === position - 1) last.to = position;
    else ranges.push({ from: position, to: position });
  }
  return ranges;
}
