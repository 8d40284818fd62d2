/** Reads the session's past from the object's tables. */
import type { SessionPast } from "../../app/session-past";
import type { ViewBefore } from "../../context/revert-reset";
import type { ViewThen } from "../../context/rewind";
import { isAmong } from "../../domain/branch";
import type { CoveredRange } from "../../domain/compaction-events";
import type { LastTurn } from "../../domain/events";
import type { CompactionId, ItemId, OverlayId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import type { OpenTurn, SessionState } from "../../domain/state";
import { toTurnChoices } from "../../domain/turn-choices";
import { readBodies } from "./bodies";
import { backwards, findNewest, readBranchItems } from "./branch-items";
import { readBranch, readLineage } from "./branch-rows";
import { stateAt, viewWhenNewest } from "./checkpoints";
import { ALL_POSITIONS, parseItem, readRanges } from "./log-tables";
import type { Sql } from "./sql";
import { readTurn, type TurnRow, toOwnChoices } from "./turn-rows";
import { earlierViews, findKeptView, toViewBefore } from "./views-before";

export function createSessionPast(sql: Sql, { branch, turn }: Pick<SessionState, "branch" | "turn">): SessionPast {
  const { elsewhere, number, taken_back } = branch;
  const one = (range: { readonly from: number; readonly to: number; readonly order: "asc" | "desc" }): ItemMeta | null =>
    readBranchItems(sql, elsewhere, { ...range, limit: 1 })[0] ?? null;
  return {
    itemsAt: (ranges) => itemsAt(sql, ranges, taken_back),
    everyItemAt: (ranges) => readRanges(sql, ranges),
    newestUpTo: (position) => one({ from: 1, to: position, order: "desc" }),
    newestQuestionUpTo: (position) => findNewest({ sql, elsewhere, from: position }, ({ kind }) => kind === "user"),
    nextAfter: (position) => one({ from: position + 1, to: ALL_POSITIONS, order: "asc" }),
    *earlierViews(to) {
      const lineage = readLineage(sql, number);
      for (const view of earlierViews(sql)) {
        const sharedTo = lineage.get(view.branch);
        if (sharedTo !== undefined) yield { ...view, sharedTo } satisfies ViewThen;
      }
      if (to > 0) yield { ...viewWhenNewest(sql, to), sharedTo: ALL_POSITIONS };
    },
    countMessages: (ranges) => ranges.reduce((sum, range) => sum + countMessages(sql, range), 0),
    turn: (id) => {
      if (id === turn?.id) return toSuperseded(turn);
      const row = readTurn(sql, id);
      return row && toEnded(row);
    },
    leftBranch: (branchNumber) => readBranch(sql, branchNumber)?.left ?? null,
    viewBefore: (compaction) => readViewBefore(sql, compaction),
    *history() {
      for (const item of backwards(sql, elsewhere)) if (!isAmong(taken_back, item.position)) yield item;
    },
    isPurged: (overlay) => !readBodies(sql, [overlay as OverlayId]).has(overlay as OverlayId),
  };
}

/**
 * The view before a compaction: as it was kept, or folded from the log where newer changes of the view took its place.
 * Null when that compaction never took effect.
 */
function readViewBefore(sql: Sql, compaction: CompactionId): ViewBefore | null {
  const kept = findKeptView(sql, compaction);
  if (kept) return kept;
  const query = "SELECT seq FROM events WHERE type = 'EpochChanged' AND json_extract(data, '$.compaction') = ?";
  const [changed] = sql.all<{ seq: number }>(query, compaction);
  return changed ? toViewBefore(stateAt(sql, changed.seq - 1)) : null;
}

/** Items at these positions, in order, without those that are `takenBack`. */
export const itemsAt = (sql: Sql, ranges: readonly CoveredRange[], takenBack: readonly CoveredRange[]): ItemMeta[] =>
  readRanges(sql, ranges).filter(({ position }) => !isAmong(takenBack, position));

/** `elsewhere` holds the positions to skip. */
export const findItem = (sql: Sql, id: ItemId, elsewhere: readonly CoveredRange[]): ItemMeta | null =>
  findNewest({ sql, elsewhere }, (item) => item.id === id);

/** Finds an item on any branch. SQLite looks for it, because it may be far back in a long record. */
export function findItemAnywhere(sql: Sql, id: ItemId): ItemMeta | null {
  const [row] = sql.all<{ meta: string }>("SELECT meta FROM items WHERE json_extract(meta, '$.id') = ? ORDER BY position DESC LIMIT 1", id);
  return row ? parseItem(row.meta) : null;
}

/** One statement, however many ids there are, in order of position. */
export function findItemsAnywhere(sql: Sql, ids: readonly ItemId[]): ItemMeta[] {
  const query = "SELECT meta FROM items WHERE json_extract(meta, '$.id') IN (SELECT value FROM json_each(?)) ORDER BY position";
  return sql.all<{ meta: string }>(query, JSON.stringify(ids)).map(({ meta }) => parseItem(meta));
}

function countMessages(sql: Sql, { from, to }: CoveredRange): number {
  const query = `SELECT count(*) AS found FROM items
    WHERE position BETWEEN ? AND ? AND json_extract(meta, '$.kind') NOT IN ('tool_call', 'tool_result')`;
  return sql.all<{ found: number }>(query, from, to)[0]?.found ?? 0;
}

/** A turn that waits for tools is stopped when the conversation goes to another branch. */
const toSuperseded = (turn: OpenTurn): LastTurn => {
  const { id, tools } = turn;
  return { id, status: "stopped", failure: null, stop_reason: "superseded", tools, ...toTurnChoices(turn) };
};

function toEnded(row: TurnRow): LastTurn | null {
  const { id, status, failure, stop_reason = null } = row;
  if (status === "queued" || status === "open") return null;
  return { id, status, failure, stop_reason, ...toOwnChoices(row) };
}
