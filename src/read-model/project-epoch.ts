/** Maps one epoch change to rows: first its overlays in order, then the compaction that it ended. Pure. */
import { SUMMARY_JOIN } from "../context/placement";
import { type EpochOp, isSummarized, type Overlay } from "../domain/compaction-events";
import type { StoredEvent } from "../domain/events";
import type { BodyId } from "../domain/ids";
import { assertNever } from "../lib/assert-never";
import type { OverlayRow, RowOp } from "./row-ops";

type EpochChanged = Extract<StoredEvent, { type: "EpochChanged" }>;

export function projectEpochChange(event: EpochChanged, bodies: ReadonlyMap<BodyId, string>): readonly RowOp[] {
  const stamp = { seq: event.seq, at: event.at };
  const overlays = event.ops.flatMap((op) => toOverlayOps(op, bodies).map((change) => ({ ...stamp, ...change })));
  const summaries = event.ops.flatMap((op) => (op.op === "summarize" ? [bodies.get(op.overlay) ?? ""] : []));
  // After a failed summary the fallback trims the view. The compaction still counts as failed (docs/policy.md, contradictions).
  const failed = event.trigger === "fallback" && event.compaction !== null;
  const reverts = event.ops.flatMap((op) =>
    op.op === "revert" ? [{ ...stamp, op: "revert_compaction" as const, id: op.compaction }] : [],
  );
  return [
    ...overlays,
    ...reverts,
    {
      ...stamp,
      op: "change_epoch",
      row: {
        id: event.compaction ?? `epoch_${event.epoch}`,
        trigger: event.trigger,
        status: failed ? "failed" : "completed",
        did_compact: isSummarized(event) ? 1 : 0,
        epoch: event.epoch,
        ops: JSON.stringify(event.ops.map(withoutItems)),
        receipt: JSON.stringify(event.receipt),
        summary: summaries.length > 0 ? summaries.join(SUMMARY_JOIN) : null,
      },
    },
  ];
}

type OverlayOp = Extract<RowOp, { op: "insert_overlay" | "hide_overlays" | "show_overlays" }>;
/** `Omit` on a union keeps only the properties that all members share. This type applies it to each member. */
type Unstamped<T> = T extends unknown ? Omit<T, "seq" | "at"> : never;

function toOverlayOps(op: EpochOp, bodies: ReadonlyMap<BodyId, string>): readonly Unstamped<OverlayOp>[] {
  switch (op.op) {
    case "summarize":
    case "drop": {
      const summary = op.op === "summarize";
      const row = {
        id: op.overlay,
        kind: summary ? ("summary" as const) : ("dropped" as const),
        position_from: op.from,
        position_to: op.to,
        items: op.items,
        content: summary ? (bodies.get(op.overlay) ?? null) : null,
        boundary_timestamp: summary ? op.boundary_timestamp : null,
      };
      return [{ op: "insert_overlay", row, replaces: op.replaces }];
    }
    case "revert":
      return [
        { op: "hide_overlays", ids: null },
        { op: "show_overlays", ids: op.overlays.map((overlay) => overlay.id) },
      ];
    case "reset":
      return [{ op: "hide_overlays", ids: null }, ...op.overlays.map((overlay) => insertDropped(overlay))];
    case "clear_results":
    case "shorten":
    case "evict_media":
      return [];
    default:
      return assertNever(op);
  }
}

/** A reset replaces what it does not bring back by one dropped overlay. The overlay is new, so its row is inserted. */
const insertDropped = (overlay: Overlay): Unstamped<OverlayOp> => ({
  op: "insert_overlay",
  row: toOverlayRow(overlay, new Map()),
  replaces: [],
});

export function toOverlayRow(overlay: Overlay, bodies: ReadonlyMap<BodyId, string>): OverlayRow {
  const { id, kind, from, to, items } = overlay;
  const read = kind === "summary" ? { content: bodies.get(id) ?? null, boundary_timestamp: overlay.boundary_timestamp } : NOT_READ;
  return { id, kind, position_from: from, position_to: to, items, ...read };
}

const NOT_READ = { content: null, boundary_timestamp: null } as const;

/** Replaces the items that came back by their number: their metadata would make a row as large as the history. */
function withoutItems(op: EpochOp): unknown {
  return op.op === "revert" || op.op === "reset" ? { ...op, items: op.items.length } : op;
}
