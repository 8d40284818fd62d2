/**
 * The tables that hold what is older than the view. They are written in the transaction of the events, and can be
 * derived from the log again.
 */
import { roundCost } from "../../domain/call-totals";
import { type CoveredRange, isTrim } from "../../domain/compaction-events";
import type { StopReason, StoredEvent, TurnFailure, TurnStatus } from "../../domain/events";
import { redactedItem } from "../../domain/evolve-branch";
import type { ItemId, TurnId } from "../../domain/ids";
import type { ItemMeta, TextRef } from "../../domain/message";
import { type CallUsage, type FinishReason, plusUsage } from "../../domain/model-call";
import type { SessionState } from "../../domain/state";
import { assertNever } from "../../lib/assert-never";
import { branchOff, goOnWith } from "./branch-rows";
import { applyEpoch, draftRow, editRow, failCompaction, noteFirstCall, requestRow, startRow } from "./compaction-rows";
import { cancelCalls, changeExecution, recordCall, recordImported, recordResult } from "./execution-rows";
import { purgeContent } from "./purge-content";
import { dropCancelled, dropEarlierSettings, dropReplaced } from "./replaced-texts";
import type { Sql } from "./sql";
import { keepViewBefore } from "./views-before";

export interface TurnRow {
  readonly id: TurnId;
  readonly status: TurnStatus | "queued" | "open";
  readonly attempt: number;
  readonly message_id: ItemId | null;
  /** The first position that the turn produced. */
  readonly from: number;
  readonly finish: FinishReason | null;
  readonly failure: TurnFailure | null;
  readonly usage: CallUsage | null;
  /** The cost of the turn's calls in US dollars. Null when the cost of a call is unknown. Absent in rows of older builds. */
  readonly cost?: number | null;
  /** The model that was asked last. Absent before the first call, and in rows of older builds. */
  readonly model?: string;
  /** The tools that the turn was offered in place of the session's. Absent when there were none, and in rows of older builds. */
  readonly tools?: TextRef;
  /** The turn's own generation settings. Absent when it had none, and in rows of older builds. */
  readonly generation?: TextRef;
  /** The model that the turn asked for in place of the session's. Absent when it asked for none, and in rows of older builds. */
  readonly own_model?: string;
  /** Why the turn was stopped. Absent when it was not, and in rows of older builds. */
  readonly stop_reason?: StopReason;
  /** Set when the oldest groups left the view without a summary, in this turn or since the previous one. */
  readonly trimmed?: true;
  /** Set when that happened after this turn had ended. The next turn reports it. */
  readonly trimmed_after?: true;
}

export function readTurn(sql: Sql, id: TurnId): TurnRow | null {
  const row = sql.all<{ data: string }>("SELECT data FROM turns WHERE id = ?", id)[0];
  return row ? (JSON.parse(row.data) as TurnRow) : null;
}

/** A string that sorts after every id. */
const AFTER_EVERY_ID = "~";

/** Turns in order of their ids, which is the order in which they were asked for. `after`: the last one of the page before. */
export function readTurns(
  sql: Sql,
  { after, limit, order }: { readonly after: TurnId | null; readonly limit: number; readonly order: "asc" | "desc" },
): TurnRow[] {
  // A condition on the id alone, also for the first page: with an OR, SQLite goes through all turns before it.
  const [from, direction, edge] = order === "asc" ? ([">", "ASC", ""] as const) : (["<", "DESC", AFTER_EVERY_ID] as const);
  const query = `SELECT data FROM turns WHERE id ${from} ?1 ORDER BY id ${direction} LIMIT ?2`;
  return sql.all<{ data: string }>(query, after ?? edge, limit).map(({ data }) => JSON.parse(data) as TurnRow);
}

function writeTurn(sql: Sql, row: TurnRow): void {
  sql.all("INSERT INTO turns (id, data) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data", row.id, JSON.stringify(row));
}

const changeTurn = (sql: Sql, id: TurnId, change: Partial<TurnRow>): void => {
  const row = readTurn(sql, id);
  if (row) writeTurn(sql, { ...row, ...change });
};

const emptyTurn = { attempt: 0, message_id: null, from: 0, finish: null, failure: null, usage: null, cost: 0 } as const;

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

/** Items at these positions as an earlier state had them. An item that is not among `redacted` has the weight that it was recorded with. */
export const readCurrentRanges = (sql: Sql, ranges: readonly CoveredRange[], redacted: readonly ItemId[]): ItemMeta[] => {
  const gone = new Set(redacted);
  return readRangeRows(sql, ranges).map((meta) => {
    const { recorded, ...item } = JSON.parse(meta) as ItemRow;
    return recorded && !gone.has(item.id) ? recorded : item;
  });
};

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

/** An item as it is now. `recorded`: the item before it was redacted. Absent when it was not redacted, or by an older build. */
type ItemRow = ItemMeta & { readonly recorded?: ItemMeta };

export function parseItem(meta: string): ItemMeta {
  const { recorded: _, ...item } = JSON.parse(meta) as ItemRow;
  return item;
}

export const ALL_POSITIONS = Number.MAX_SAFE_INTEGER;

function writeItem(sql: Sql, item: ItemMeta): void {
  sql.all("INSERT INTO items (position, meta) VALUES (?, ?)", item.position, JSON.stringify(item));
}

/** Gives a redacted item the weight of its placeholder, wherever it is read back. Keeps the recorded item for past states. */
function weighRedacted(sql: Sql, { position, tokens }: Extract<StoredEvent, { type: "MessageRedacted" }>): void {
  const row = sql.all<{ meta: string }>("SELECT meta FROM items WHERE position = ?", position)[0];
  if (!row || tokens === undefined) return;
  const { recorded: before, ...item } = JSON.parse(row.meta) as ItemRow;
  const recorded = before ?? item;
  sql.all(
    "UPDATE items SET meta = ? WHERE position = ?",
    JSON.stringify({ ...redactedItem(recorded, tokens), recorded } satisfies ItemRow),
    position,
  );
}

/** Writes one event's effects to the tables. `before` is the state before the event. */
export function applyToTables(sql: Sql, event: StoredEvent, before: SessionState): void {
  switch (event.type) {
    case "MessagesAppended":
      for (const item of event.items) writeItem(sql, item);
      return recordImported(sql, event.items, event.at);
    case "MessageQueued":
      if (event.message.turn) writeTurn(sql, { ...emptyTurn, id: event.message.turn, status: "queued", message_id: event.message.item.id });
      return;
    case "QueuedMessageCancelled":
      if (event.turn) changeTurn(sql, event.turn, { status: "stopped" });
      return dropCancelled(sql, event.message, before);
    case "TurnStarted":
      startTurn(sql, event, before);
      return;
    case "AssistantReplied":
      return writeItem(sql, event.item);
    case "ToolCalled":
      writeItem(sql, event.item);
      return recordCall(sql, event.item, event.server ? "server" : "client");
    case "ToolResultRecorded":
      writeItem(sql, event.item);
      return recordResult(sql, event.item, { at: event.at, ran: event.ran ?? null });
    case "ToolStarted":
      return changeExecution(sql, event.execution, { status: "running", started_at: event.at });
    case "ApprovalRequested":
      return changeExecution(sql, event.execution, { status: "awaiting_approval" });
    case "ApprovalResolved":
      return changeExecution(sql, event.execution, { status: "open" });
    case "ModelCallFinished":
      addUsage(sql, event);
      return noteFirstCall(sql, event, before);
    case "TurnCompleted":
      changeTurn(sql, event.turn, { status: "completed", finish: event.finish });
      return cancelCalls(sql, before, event.at);
    case "TurnFailed":
      changeTurn(sql, event.turn, { status: "failed", failure: event.failure });
      return cancelCalls(sql, before, event.at);
    case "TurnStopped":
      changeTurn(sql, event.turn, { status: "stopped", stop_reason: event.reason });
      return cancelCalls(sql, before, event.at);
    case "TurnInterrupted":
      changeTurn(sql, event.turn, { status: "interrupted" });
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
    case "SettingsChanged":
      return dropReplaced(sql, event, before);
    case "SessionOpened":
    case "PinsSet":
    case "SessionForked":
    case "ForkCompleted":
    case "SessionErased":
      return;
    case "MessageRedacted":
      purgeContent(sql, event);
      weighRedacted(sql, event);
      return dropEarlierSettings(sql, before);
    case "HistoryRewound":
      return branchOff(sql, event, before);
    case "BranchSwitched":
      return goOnWith(sql, event, before);
    default:
      assertNever(event);
  }
}

/** Notes the trim on the turn, so that a client that does not read the stream sees it in the turn's report. */
function noteTrim(sql: Sql, { turn, last_turn }: SessionState): void {
  if (turn) changeTurn(sql, turn.id, { trimmed: true });
  else if (last_turn) changeTurn(sql, last_turn.id, { trimmed_after: true });
}

function startTurn(sql: Sql, event: Extract<StoredEvent, { type: "TurnStarted" }>, { last_turn }: SessionState): void {
  if (event.item) writeItem(sql, event.item);
  const known = readTurn(sql, event.turn);
  const retried = event.retry_of ? readTurn(sql, event.retry_of) : null;
  const trimmed = last_turn && readTurn(sql, last_turn.id)?.trimmed_after;
  const last = sql.all<{ last: number | null }>("SELECT max(position) AS last FROM items")[0]?.last ?? 0;
  writeTurn(sql, {
    ...emptyTurn,
    ...known,
    id: event.turn,
    status: "open",
    attempt: event.attempt,
    message_id: event.item?.id ?? known?.message_id ?? retried?.message_id ?? null,
    from: event.attempt > 1 && known ? known.from : last + 1,
    ...(trimmed && { trimmed }),
    ...(event.tools && { tools: event.tools }),
    ...(event.generation && { generation: event.generation }),
    ...(event.model !== undefined && { own_model: event.model }),
  });
}

function addUsage(sql: Sql, event: Extract<StoredEvent, { type: "ModelCallFinished" }>): void {
  const { turn, usage } = event;
  const row = turn ? readTurn(sql, turn) : null;
  if (!row) return;
  const { cost = null } = row;
  const sum = cost === null || event.cost === undefined ? null : roundCost(cost + event.cost);
  writeTurn(sql, { ...row, usage: plusUsage(row.usage, usage), cost: sum, model: event.model });
}

/** The usage and cost of a turn's model calls together. */
export const toSpent = (row: TurnRow | null): { readonly usage: CallUsage | null; readonly cost: number | null } => ({
  usage: row?.usage ?? null,
  cost: row?.cost ?? null,
});
