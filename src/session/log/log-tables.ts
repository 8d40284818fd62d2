/**
 * The tables that hold what is older than the view. They are written in the transaction of the events, and can be
 * derived from the log again.
 */
import { type CoveredRange, isTrim } from "../../domain/compaction-events";
import type { StoredEvent } from "../../domain/events";
import { redactedItem } from "../../domain/evolve-branch";
import type { ItemMeta } from "../../domain/message";
import type { SessionState } from "../../domain/state";
import { assertNever } from "../../lib/assert-never";
import { branchOff, goOnWith } from "./branch-rows";
import { applyEpoch, draftRow, editRow, failCompaction, noteFirstCall, requestRow, startRow } from "./compaction-rows";
import {
  cancelCalls,
  changeExecution,
  noteWait,
  recordApproval,
  recordAsked,
  recordCall,
  recordImported,
  recordResult,
} from "./execution-rows";
import { purgeContent, purgeResult } from "./purge-content";
import { dropCancelled, dropEarlierChoices, dropEarlierSettings, dropNotes, dropReplaced, dropScheduled } from "./replaced-texts";
import type { Sql } from "./sql";
import { addUsage, changeTurn, noteTrim, queueTurn, startTurn, type TurnRow } from "./turn-rows";
import { keepViewBefore } from "./views-before";

/** Items by position. `from` and `to` are included. */
export function readItems(
  sql: Sql,
  range: { readonly from: number; readonly to: number; readonly limit: number; readonly order: "asc" | "desc" },
): ItemMeta[] {
  const direction = range.order === "asc" ? "ASC" : "DESC";
  const query = `SELECT meta FROM items WHERE position BETWEEN ? AND ? ORDER BY position ${direction} LIMIT ?`;
  return sql.all<{ meta: string }>(query, range.from, range.to, range.limit).map(({ meta }) => parseItem(meta));
}

/** Items at these positions, in order. */
export const readRanges = (sql: Sql, ranges: readonly CoveredRange[]): ItemMeta[] => readRangeRows(sql, ranges).map(parseItem);

/** Items at these positions as the state at `seq` had them. An item that was redacted later is as it was recorded. */
export const readRangesAt = (sql: Sql, ranges: readonly CoveredRange[], seq: number): ItemMeta[] =>
  readRangeRows(sql, ranges).map((meta) => {
    const { recorded, redacted_seq = 0, ...item } = JSON.parse(meta) as ItemRow;
    return recorded && redacted_seq > seq ? recorded : item;
  });

/**
 * One statement, however scattered the ranges are: a policy may keep single messages all along the conversation. CROSS JOIN
 * makes SQLite go range by range, and not through the whole record for each range.
 */
function readRangeRows(sql: Sql, ranges: readonly CoveredRange[]): string[] {
  const query = `SELECT meta FROM json_each(?) AS shown CROSS JOIN items
    ON position BETWEEN json_extract(shown.value, '$.from') AND json_extract(shown.value, '$.to') ORDER BY position`;
  return sql.all<{ meta: string }>(query, JSON.stringify(ranges)).map(({ meta }) => meta);
}

/** The newest items that a turn produced, newest first, and whether there are older ones. A turn's items are contiguous. */
export function readTurnItems(sql: Sql, { id, from }: TurnRow, limit: number): { readonly items: ItemMeta[]; readonly truncated: boolean } {
  if (from === 0) return { items: [], truncated: false };
  const query = "SELECT position FROM items WHERE position >= ? AND json_extract(meta, '$.turn') IS NOT ? ORDER BY position LIMIT 1";
  const [behind] = sql.all<{ position: number }>(query, from, id);
  const to = behind ? behind.position - 1 : ALL_POSITIONS;
  const newest = readItems(sql, { from, to, limit: limit + 1, order: "desc" });
  return { items: newest.slice(0, limit), truncated: newest.length > limit };
}

/** The item with the client's own id. The condition names the index, which has the items that have one. */
export function findByClientId(sql: Sql, clientId: string): ItemMeta | null {
  const column = "json_extract(meta, '$.client_id')";
  const [row] = sql.all<{ meta: string }>(`SELECT meta FROM items WHERE ${column} IS NOT NULL AND ${column} = ?`, clientId);
  return row ? parseItem(row.meta) : null;
}

/** The newest items, newest first. */
export function newestItems(sql: Sql, limit: number): ItemMeta[] {
  return readItems(sql, { from: 1, to: ALL_POSITIONS, limit, order: "desc" });
}

/** An item as it is now. `recorded`: the item before it was redacted, by the event `redacted_seq`. Absent when it was not redacted. */
type ItemRow = ItemMeta & { readonly recorded?: ItemMeta; readonly redacted_seq?: number };

export function parseItem(meta: string): ItemMeta {
  const { recorded: _, redacted_seq: __, ...item } = JSON.parse(meta) as ItemRow;
  return item;
}

export const ALL_POSITIONS = Number.MAX_SAFE_INTEGER;

const findLast = (sql: Sql): number => sql.all<{ last: number | null }>("SELECT max(position) AS last FROM items")[0]?.last ?? 0;

function writeItem(sql: Sql, item: ItemMeta): void {
  sql.all("INSERT INTO items (position, meta) VALUES (?, ?)", item.position, JSON.stringify(item));
}

/** Gives a redacted item the weight of its placeholder, wherever it is read back. Keeps the recorded item for past states. */
function weighRedacted(sql: Sql, { position, tokens, cause, seq }: Extract<StoredEvent, { type: "MessageRedacted" }>): void {
  const row = sql.all<{ meta: string }>("SELECT meta FROM items WHERE position = ?", position)[0];
  if (!row) return;
  const { recorded, redacted_seq = seq, ...item } = JSON.parse(row.meta) as ItemRow;
  const redacted = { ...redactedItem(item, { tokens, ...(cause && { cause }) }), recorded: recorded ?? item, redacted_seq };
  sql.all("UPDATE items SET meta = ? WHERE position = ?", JSON.stringify(redacted satisfies ItemRow), position);
}

/** Writes one event's effects to the tables. `before` is the state before the event. */
export function applyToTables(sql: Sql, event: StoredEvent, before: SessionState): void {
  switch (event.type) {
    case "MessagesAppended":
      for (const item of event.items) writeItem(sql, item);
      return recordImported(sql, event.items, event.at);
    case "MessageQueued":
      return queueTurn(sql, event);
    case "QueuedMessageCancelled":
      if (event.turn) changeTurn(sql, event.turn, { status: "stopped", ended_at: event.at });
      return dropCancelled(sql, event.message, before);
    case "TurnStarted":
      if (event.item) writeItem(sql, event.item);
      return startTurn(sql, event, before, findLast(sql));
    case "AssistantReplied":
      return writeItem(sql, event.item);
    case "ToolCalled":
      writeItem(sql, event.item);
      return recordCall(sql, event.item, event.server ? "server" : "client");
    case "ToolResultRecorded":
      noteWait(sql, before);
      writeItem(sql, event.item);
      return recordResult(sql, event.item, { at: event.at, ran: event.ran ?? null });
    case "ToolStarted":
      return changeExecution(sql, event.execution, { status: "running", started_at: event.at });
    case "ApprovalRequested":
      return recordAsked(sql, event.execution);
    case "ApprovalResolved":
      return recordApproval(sql, event, before);
    case "ModelCallFinished":
      addUsage(sql, event);
      return noteFirstCall(sql, event, before);
    case "TurnCompleted":
      changeTurn(sql, event.turn, { status: "completed", finish: event.finish, ended_at: event.at });
      return cancelCalls(sql, before, event.at);
    case "TurnFailed":
      changeTurn(sql, event.turn, { status: "failed", failure: event.failure, ended_at: event.at });
      return cancelCalls(sql, before, event.at);
    case "TurnStopped":
      changeTurn(sql, event.turn, { status: "stopped", stop_reason: event.reason, ended_at: event.at });
      return cancelCalls(sql, before, event.at);
    case "TurnInterrupted":
      changeTurn(sql, event.turn, { status: "interrupted", ended_at: event.at });
      return cancelCalls(sql, before, event.at);
    case "CompactionRequested":
      return requestRow(sql, event);
    case "CompactionProgressed":
      return;
    case "CompactionStarted":
      return startRow(sql, event);
    case "CompactionFailed":
      return failCompaction(sql, event);
    case "CompactionDrafted":
      return draftRow(sql, event);
    case "DraftEdited":
      return editRow(sql, event);
    case "EpochChanged":
      applyEpoch(sql, event);
      if (isTrim(event)) noteTrim(sql, before);
      return keepViewBefore(sql, event, before);
    case "ScheduleSet":
    case "ScheduleRemoved":
      return dropScheduled(sql, event.name, before);
    case "SettingsChanged":
      return dropReplaced(sql, event, before);
    case "SessionOpened":
    case "PinsSet":
    case "SessionForked":
    case "ForkCompleted":
    case "ScheduleRan":
    case "SessionArchived":
    case "SessionUnarchived":
    case "SessionErased":
      return;
    case "MessageRedacted":
      if (event.cause === "retention") {
        purgeResult(sql, event);
        return weighRedacted(sql, event);
      }
      purgeContent(sql, event);
      weighRedacted(sql, event);
      dropNotes(sql, event);
      dropEarlierChoices(sql, before);
      return dropEarlierSettings(sql, event, before);
    case "HistoryRewound":
      return branchOff(sql, event, before);
    case "BranchSwitched":
      return goOnWith(sql, event, before);
    default:
      assertNever(event);
  }
}
