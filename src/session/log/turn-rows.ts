/** The rows of turns: how each ended, what it was asked with, and what it cost. Written in the transaction of the events. */
import { roundCost } from "../../domain/call-totals";
import type { SessionSettings, StopReason, StoredEvent, TurnChoices, TurnFailure, TurnStatus } from "../../domain/events";
import type { ItemId, TurnId } from "../../domain/ids";
import type { TextRef } from "../../domain/message";
import { type CallUsage, type FinishReason, plusUsage } from "../../domain/model-call";
import type { SessionState } from "../../domain/state";
import { toTurnChoices } from "../../domain/turn-choices";
import type { Sql } from "./sql";

export interface TurnRow {
  readonly id: TurnId;
  readonly status: TurnStatus | "queued" | "open";
  readonly attempt: number;
  readonly message_id: ItemId | null;
  /** The first position that the turn produced. */
  readonly from: number;
  readonly finish: FinishReason | null;
  readonly failure: TurnFailure | null;
  /** An excerpt of the provider's message about the failure. No export, fork or read model has it. */
  readonly excerpt?: string;
  readonly usage: CallUsage | null;
  /** The cost of the turn's calls in US dollars. Null when the cost of a call is unknown. */
  readonly cost: number | null;
  /** The model that was asked last. Absent before the first call. */
  readonly model?: string;
  /** The tools that the turn was offered in place of the session's. Absent when there were none. */
  readonly tools?: TextRef;
  /** The turn's own generation settings. Absent when it had none. */
  readonly generation?: TextRef;
  /** The model that the turn asked for in place of the session's. Absent when it asked for none. */
  readonly own_model?: string;
  /** The turn's own system prompt. Absent when it had none. */
  readonly system?: TextRef;
  /** The client's note about the turn. Absent when there is none. */
  readonly note?: TextRef;
  /** The session's own settings when the turn last started. Absent until it starts. */
  readonly settings?: AskedSettings;
  /** When the turn was asked for, in epoch milliseconds. */
  readonly created_at: number;
  /** When the turn ended, in epoch milliseconds. Absent while it is open. */
  readonly ended_at?: number;
  /** Why the turn was stopped. Absent when it was not. */
  readonly stop_reason?: StopReason;
  /** Set when the oldest groups left the view without a summary, in this turn or since the previous one. */
  readonly trimmed?: true;
  /** Set when that happened after this turn had ended. The next turn reports it. */
  readonly trimmed_after?: true;
}

/** The settings of a session that decide what a turn is asked with. */
type AskedSettings = Pick<SessionSettings, "model" | "system" | "tools" | "generation">;

/** What a turn is asked with in place of the session's settings. `tools` null: the session's. */
export interface OwnChoices extends TurnChoices {
  readonly tools: TextRef | null;
}

export function toOwnChoices({ tools, generation, own_model, system, note }: TurnRow): OwnChoices {
  const model = own_model !== undefined && { model: own_model };
  return {
    tools: tools ?? null,
    ...toTurnChoices({ ...model, ...(generation && { generation }), ...(system && { system }), ...(note && { note }) }),
  };
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

export const changeTurn = (sql: Sql, id: TurnId, change: Partial<TurnRow>): void => {
  const row = readTurn(sql, id);
  if (row) writeTurn(sql, { ...row, ...change });
};

const emptyTurn = { attempt: 0, message_id: null, from: 0, finish: null, failure: null, usage: null, cost: 0 } as const;

export function queueTurn(sql: Sql, { message: { turn, item }, at }: Extract<StoredEvent, { type: "MessageQueued" }>): void {
  if (turn) writeTurn(sql, { ...emptyTurn, id: turn, status: "queued", message_id: item.id, created_at: at });
}

/** `last`: the newest position before the turn, its question included. */
export function startTurn(
  sql: Sql,
  event: Extract<StoredEvent, { type: "TurnStarted" }>,
  { last_turn, settings }: SessionState,
  last: number,
): void {
  const known = readTurn(sql, event.turn);
  const retried = event.retry_of ? readTurn(sql, event.retry_of) : null;
  const trimmed = last_turn && readTurn(sql, last_turn.id)?.trimmed_after;
  const { model, system, tools, generation } = settings;
  writeTurn(sql, {
    ...emptyTurn,
    created_at: event.at,
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
    ...(event.system && { system: event.system }),
    ...(event.note && { note: event.note }),
    settings: { model, system, tools, ...(generation && { generation }) },
  });
}

export function addUsage(sql: Sql, event: Extract<StoredEvent, { type: "ModelCallFinished" }>): void {
  const { turn, usage } = event;
  const row = turn ? readTurn(sql, turn) : null;
  if (!row) return;
  const { cost } = row;
  const sum = cost === null || event.cost === undefined ? null : roundCost(cost + event.cost);
  writeTurn(sql, { ...row, usage: plusUsage(row.usage, usage), cost: sum, model: event.model });
}

/** Deletes the excerpts of providers' messages, which may repeat any content of the session. */
export function dropExcerpts(sql: Sql): void {
  sql.all("UPDATE turns SET data = json_remove(data, '$.excerpt') WHERE json_extract(data, '$.excerpt') IS NOT NULL");
}

/** Notes the trim on the turn, so that a client that does not read the stream sees it in the turn's report. */
export function noteTrim(sql: Sql, { turn, last_turn }: SessionState): void {
  if (turn) changeTurn(sql, turn.id, { trimmed: true });
  else if (last_turn) changeTurn(sql, last_turn.id, { trimmed_after: true });
}

/** The usage and cost of a turn's model calls together. */
export const toSpent = (row: TurnRow | null): { readonly usage: CallUsage | null; readonly cost: number | null } => ({
  usage: row?.usage ?? null,
  cost: row?.cost ?? null,
});
