/**
 * The view before each compaction, so that a revert restores it exactly. It is small: positions are ranges, not items.
 * As many are kept as can be reverted.
 */
import type { ViewBefore } from "../../context/revert-reset";
import { toRanges } from "../../domain/branch";
import type { CoveredRange } from "../../domain/compaction-events";
import type { StoredEvent } from "../../domain/events";
import type { CompactionId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { MAX_REVERTS, type SessionState } from "../../domain/state";
import type { Sql } from "./sql";

/** `branch` is the branch of the view. */
type KeptView = ViewBefore & { readonly branch: number };

/** The kept views, newest first. */
export function* earlierViews(sql: Sql): Generator<KeptView> {
  for (const { seq } of sql.all<{ seq: number }>("SELECT seq FROM views_before ORDER BY seq DESC")) {
    const row = sql.all<{ data: string }>("SELECT data FROM views_before WHERE seq = ?", seq)[0];
    if (row) yield JSON.parse(row.data) as KeptView;
  }
}

export function keepViewBefore(sql: Sql, event: Extract<StoredEvent, { type: "EpochChanged" }>, before: SessionState): void {
  const takesBack = event.ops.some((op) => op.op === "revert" || op.op === "reset");
  if (!event.compaction || takesBack) return;
  const kept: KeptView = { ...toViewBefore(before), branch: before.branch.number };
  sql.all(
    "INSERT OR REPLACE INTO views_before (compaction, seq, data) VALUES (?, ?, ?)",
    event.compaction,
    event.seq,
    JSON.stringify(kept),
  );
  sql.all(
    "DELETE FROM views_before WHERE seq < (SELECT min(seq) FROM (SELECT seq FROM views_before ORDER BY seq DESC LIMIT ?))",
    MAX_REVERTS,
  );
}

export const toViewBefore = ({ view, next_position }: SessionState): ViewBefore => ({
  overlays: view.overlays,
  shown: toItemRanges(view.items),
  reduced: view.reduced,
  to: next_position - 1,
});

/** The view before a compaction, as it was kept. Null: it was not kept. */
export function findKeptView(sql: Sql, compaction: CompactionId): ViewBefore | null {
  const row = sql.all<{ data: string }>("SELECT data FROM views_before WHERE compaction = ?", compaction)[0];
  return row ? (JSON.parse(row.data) as KeptView) : null;
}

export const toItemRanges = (items: readonly ItemMeta[]): readonly CoveredRange[] => toRanges(items.map(({ position }) => position));
