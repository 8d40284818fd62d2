/**
 * The outcome of each call, by the call's position: what its items do not say. Written in the transaction of the
 * events, and derivable from them.
 */
import { type ExecutionStatus, type RunsAt, statusOfCall, statusOfResult } from "../../domain/execution";
import type { ExecutionId, TurnId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import type { OpenCall, SessionState } from "../../domain/state";
import type { ToolRun } from "../../domain/tool-run";
import type { Sql } from "./sql";

export interface ExecutionRow {
  readonly id: ExecutionId;
  readonly position: number;
  readonly turn: TurnId | null;
  readonly runs: RunsAt;
  readonly status: ExecutionStatus;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly result_position: number | null;
  /** How the call ran. Null when there is no result, or nothing more is known. */
  readonly ran: ToolRun | null;
  /** A person was asked to approve the call. Absent: no one was. */
  readonly approval?: Approval;
}

interface Approval {
  readonly answer: "approved" | "denied" | null;
  /** The turn has waited for the answer. */
  readonly waited: boolean;
}

export const EXECUTION_TABLES = "CREATE TABLE executions (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, data TEXT NOT NULL);";

export function readExecutions(
  sql: Sql,
  range: { readonly from: number; readonly to: number; readonly limit: number; readonly order: "asc" | "desc" },
): ExecutionRow[] {
  const direction = range.order === "asc" ? "ASC" : "DESC";
  const query = `SELECT data FROM executions WHERE position BETWEEN ? AND ? ORDER BY position ${direction} LIMIT ?`;
  return sql.all<{ data: string }>(query, range.from, range.to, range.limit).map(({ data }) => JSON.parse(data) as ExecutionRow);
}

export function findExecutionRow(sql: Sql, id: ExecutionId): ExecutionRow | null {
  const found = sql.all<{ data: string }>("SELECT data FROM executions WHERE id = ?", id)[0];
  return found ? (JSON.parse(found.data) as ExecutionRow) : null;
}

function writeExecution(sql: Sql, row: ExecutionRow): void {
  sql.all("INSERT OR REPLACE INTO executions (position, id, data) VALUES (?, ?, ?)", row.position, row.id, JSON.stringify(row));
}

export function changeExecution(sql: Sql, id: ExecutionId, change: Partial<ExecutionRow>): void {
  const found = findExecutionRow(sql, id);
  if (found) writeExecution(sql, { ...found, ...change });
}

export function recordCall(sql: Sql, { position, turn, tool }: ItemMeta, runs: RunsAt): void {
  if (!tool) return;
  const unended = { started_at: null, finished_at: null, result_position: null, ran: null };
  writeExecution(sql, { id: tool.execution, position, turn, runs, status: statusOfCall(turn), ...unended });
}

export function recordResult(sql: Sql, { position, tool }: ItemMeta, end: { readonly at: number; readonly ran: ToolRun | null }): void {
  if (!tool) return;
  const status = statusOfResult(tool.is_error === true, end.ran?.failure ?? null);
  changeExecution(sql, tool.execution, { status, finished_at: end.at, result_position: position, ran: end.ran });
}

/** Records imported calls and results. */
export function recordImported(sql: Sql, items: readonly ItemMeta[], at: number): void {
  for (const item of items) {
    if (item.kind === "tool_call") recordCall(sql, item, "client");
    if (item.kind === "tool_result") recordResult(sql, item, { at, ran: null });
  }
}

const NOT_WAITED: Approval = { answer: null, waited: false };

export function recordAsked(sql: Sql, id: ExecutionId): void {
  changeExecution(sql, id, { status: "awaiting_approval", approval: NOT_WAITED });
}

/** `before`: the state in which the answer came. */
export function recordApproval(
  sql: Sql,
  { execution, approved }: { readonly execution: ExecutionId; readonly approved: boolean },
  before: SessionState,
): void {
  noteWait(sql, before);
  const { approval = NOT_WAITED } = findExecutionRow(sql, execution) ?? {};
  changeExecution(sql, execution, { status: "open", approval: { ...approval, answer: approved ? "approved" : "denied" } });
}

/** The turn has waited for a person until now. Called with the state before any event that may end the wait. */
export function noteWait(sql: Sql, { turn }: SessionState): void {
  if (turn?.phase !== "awaiting_tools") return;
  for (const { execution, approval } of turn.open_calls)
    if (approval === "pending") changeExecution(sql, execution, { approval: { answer: null, waited: true } });
}

/** Whether the turn has waited for a person's answer to the call. While it waits, that is in the state alone. */
export function hasWaited({ id, approval }: ExecutionRow, { turn }: SessionState): boolean {
  const isPending = (call: OpenCall): boolean => call.execution === id && call.approval === "pending";
  return approval?.waited === true || (turn?.phase === "awaiting_tools" && turn.open_calls.some(isPending));
}

/** A turn's open calls end with it. Calls that had started have got their results before. */
export function cancelCalls(sql: Sql, before: SessionState, at: number): void {
  const { turn } = before;
  noteWait(sql, before);
  for (const { execution } of turn?.open_calls ?? []) changeExecution(sql, execution, { status: "cancelled", finished_at: at });
}
