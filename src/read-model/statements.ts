/**
 * Turns row operations into SQL. In every statement ?1 is the tenant, ?2 the session and ?3 the seq at which the batch
 * begins. A statement changes something only while the session's row is at exactly that seq and no tombstone refuses
 * it. So the rows always match a prefix of the log, even when a batch comes twice, late or out of order.
 */
import { SUMMARY_JOIN } from "../context/placement";
import { assertNever } from "../lib/assert-never";
import { COUNTED_KINDS } from "./message-row";
import type { EpochRow, MessageRow, OverlayRow, RowOp, SessionChanges } from "./row-ops";
import { toUsageBound } from "./usage-tables";

type Value = string | number | null;
export interface Statement {
  readonly sql: string;
  /** The parameters from ?4 on. */
  readonly params: readonly Value[];
}

export const GUARD = `coalesce((SELECT last_seq FROM sessions WHERE tenant_id = ?1 AND id = ?2), 0) = ?3
  AND NOT EXISTS (SELECT 1 FROM session_tombstones WHERE tenant_id = ?1 AND session_id = ?2)`;

/** The SQL of one operation, in the order in which it must run. `erase_session` has none here: the writer erases by itself. `search-statements` has that of `index_text`. */
export function toStatements(op: Exclude<RowOp, { op: "erase_session" | "index_text" }>): readonly Statement[] {
  switch (op.op) {
    case "open_session":
      return [openSession(op)];
    case "set_metadata":
      return setMetadata(op);
    case "change_session":
      return [changeSession(op.changes)];
    case "insert_message":
      return [insertMessage(op.row, op.seq)];
    case "insert_execution":
      return [insert("executions", { ...op.row, last_seq: op.seq })];
    case "change_execution":
      return [changeExecution(op.id, { ...op.changes, last_seq: op.seq })];
    case "cancel_executions": {
      const set = "status = 'cancelled', finished_at = ?5, last_seq = ?6";
      const open = update("executions", set, "turn_id = ?4 AND finished_at IS NULL", [op.turn, op.at, op.seq]);
      // Without the hint SQLite uses the primary key, and reads all calls of the session.
      return [{ ...open, sql: open.sql.replace("UPDATE executions", "UPDATE executions INDEXED BY executions_open") }];
    }
    case "insert_artifact":
      return [insert("execution_artifacts", { ...op.row, last_seq: op.seq })];
    case "redact_message":
      return redactMessage(op);
    case "choose_branch":
      return [chooseBranch(op.elsewhere, op.seq)];
    case "insert_overlay":
      return [showOverlays(op.replaces, { active: 0, seq: op.seq }), insertOverlay(op.row, op.seq)];
    case "hide_overlays":
      return [
        op.ids ? showOverlays(op.ids, { active: 0, seq: op.seq }) : update("overlays", "active = 0, last_seq = ?4", "active = 1", [op.seq]),
      ];
    case "show_overlays":
      return [showOverlays(op.ids, { active: 1, seq: op.seq })];
    case "request_compaction":
    case "start_compaction":
    case "fail_compaction":
    case "draft_compaction":
    case "revert_compaction":
    case "change_epoch":
      return changeCompaction(op);
    case "insert_usage":
      return [insertUsage(op)];
    default:
      return assertNever(op);
  }
}

/** REPLACE, because leftovers of rows that were damaged by hand must not stop a projection. */
function insert(table: string, columns: Readonly<Record<string, Value>>): Statement {
  const names = Object.keys(columns);
  const key = table === "sessions" ? "id" : "session_id";
  const values = names.map((_, index) => `?${index + 4}`);
  const sql = `INSERT OR REPLACE INTO ${table} (tenant_id, ${key}, ${names.join(", ")}) SELECT ?1, ?2, ${values.join(", ")} WHERE ${GUARD}`;
  return { sql, params: Object.values(columns) };
}

function update(table: string, set: string, where: string, params: readonly Value[]): Statement {
  return { sql: `UPDATE ${table} SET ${set} WHERE tenant_id = ?1 AND session_id = ?2 AND ${where} AND ${GUARD}`, params };
}

/** `last_seq` starts at 0, where the batch begins, so that the batch's later statements pass the guard. */
function openSession(op: Extract<RowOp, { op: "open_session" }>): Statement {
  const { row, at } = op;
  return insert("sessions", { ...row, message_count: 0, overlay_count: 0, created_at: at, updated_at: at, last_seq: 0 });
}

/** One JSON parameter carries all entries. */
function setMetadata({ entries, seq }: Extract<RowOp, { op: "set_metadata" }>): readonly Statement[] {
  const cleared = `DELETE FROM session_metadata WHERE tenant_id = ?1 AND session_id = ?2 AND ${GUARD}`;
  const inserted = `INSERT INTO session_metadata (tenant_id, session_id, number, name, value, last_seq)
    SELECT ?1, ?2, entry.key, json_extract(entry.value, '$[0]'), json_extract(entry.value, '$[1]'), ?5
    FROM json_each(?4) AS entry WHERE ${GUARD}`;
  return [
    { sql: cleared, params: [] },
    { sql: inserted, params: [JSON.stringify(entries), seq] },
  ];
}

function changeSession(changes: SessionChanges): Statement {
  const names = Object.keys(changes);
  const set = names.map((name, index) => `${name} = ?${index + 4}`).join(", ");
  return { sql: `UPDATE sessions SET ${set} WHERE tenant_id = ?1 AND id = ?2 AND ${GUARD}`, params: Object.values(changes) };
}

const insertMessage = (row: MessageRow, seq: number): Statement => insert("messages", { ...row, superseded: 0, last_seq: seq });

const insertOverlay = (row: OverlayRow, seq: number): Statement => insert("overlays", { ...row, active: 1, last_seq: seq });

/** One JSON parameter carries all ids, so D1's limit of 100 parameters does not bound their number. */
function showOverlays(ids: readonly string[], to: { readonly active: 0 | 1; readonly seq: number }): Statement {
  const where = "id IN (SELECT value FROM json_each(?4))";
  return update("overlays", "active = ?5, last_seq = ?6", where, [JSON.stringify(ids), to.active, to.seq]);
}

function insertUsage({ call, endUser: end_user, seq, at }: Extract<RowOp, { op: "insert_usage" }>): Statement {
  const { turn, purpose, model, estimate, outcome, ms, usage, cost = null, key: key_id = null } = call;
  const { input = null, output = null, cached = null, reasoning = null, cache_write = null } = usage ?? {};
  const counts = { input, output, cached, reasoning, cache_write };
  const { sql, params } = insert("usage", {
    seq,
    turn_id: turn,
    purpose,
    model,
    ...counts,
    estimate,
    outcome,
    ms,
    at,
    cost,
    key_id,
    end_user,
  });
  return { sql: `${sql} AND ?${params.length + 4} >= ${toUsageBound("?1")}`, params: [...params, at] };
}

function changeExecution(id: string, changes: Readonly<Record<string, Value>>): Statement {
  const set = Object.keys(changes).map((name, index) => `${name} = ?${index + 5}`);
  return update("executions", set.join(", "), "id = ?4", [id, ...Object.values(changes)]);
}

/** Removes the message's content, a call's arguments, and of a result also the error message and the artifacts. */
function redactMessage({ position, seq, texts }: Extract<RowOp, { op: "redact_message" }>): readonly Statement[] {
  const params = [position, seq];
  const made = [...params, JSON.stringify(texts)];
  const answered = "SELECT id FROM executions WHERE tenant_id = ?1 AND session_id = ?2 AND result_position = ?4";
  return [
    update("messages", "content = '[]', content_state = 'redacted', preview = NULL, last_seq = ?5", "position = ?4", params),
    update("executions", "arguments_json = '', arguments_state = 'redacted', last_seq = ?5", "position = ?4", params),
    update("executions", "error_message = NULL, last_seq = ?5", "result_position = ?4", params),
    update(
      "execution_artifacts",
      "content_json = 'null', content_state = 'redacted', last_seq = ?5",
      `execution_id IN (${answered})`,
      params,
    ),
    // Summaries that were made from the message are removed with it.
    update(
      "overlays",
      "kind = 'dropped', content = NULL, boundary_timestamp = NULL, last_seq = ?5",
      "kind = 'summary' AND id IN (SELECT value FROM json_each(?6))",
      made,
    ),
    update("compactions", "summary = NULL, last_seq = ?5", `summary IS NOT NULL AND ${MADE_ONE}`, made),
  ];
}

/** The compaction made one of the summaries. */
const MADE_ONE = `EXISTS (SELECT 1 FROM json_each(compactions.ops) AS op WHERE json_extract(op.value, '$.op') = 'summarize'
  AND json_extract(op.value, '$.overlay') IN (SELECT value FROM json_each(?6)))`;

/** Marks each message by whether it belongs to the current branch. */
function chooseBranch(elsewhere: readonly { readonly from: number; readonly to: number }[], seq: number): Statement {
  const gone = `EXISTS (SELECT 1 FROM json_each(?4) WHERE messages.position BETWEEN json_extract(value, '$.from') AND json_extract(value, '$.to'))`;
  return update("messages", `superseded = ${gone}, last_seq = ?5`, `superseded <> ${gone}`, [JSON.stringify(elsewhere), seq]);
}

type CompactionOp = Extract<
  RowOp,
  { op: "request_compaction" | "start_compaction" | "fail_compaction" | "draft_compaction" | "revert_compaction" | "change_epoch" }
>;

function changeCompaction(op: CompactionOp): readonly Statement[] {
  switch (op.op) {
    case "request_compaction": {
      const row = { id: op.id, trigger: op.trigger, status: "requested", requested_at: op.at, last_seq: op.seq };
      return [insert("compactions", row)];
    }
    case "start_compaction":
      return [update("compactions", "status = 'running', attempts = ?5, last_seq = ?6", "id = ?4", [op.id, op.attempt, op.seq])];
    case "fail_compaction": {
      const set = "status = ?5, failure = ?6, attempts = ?7, finished_at = ?8, last_seq = ?9";
      const status = op.final ? "failed" : "requested";
      return [update("compactions", set, "id = ?4", [op.id, status, op.failure, op.attempt, op.final ? op.at : null, op.seq])];
    }
    case "draft_compaction":
      return [update("compactions", "status = 'drafted', failure = NULL, last_seq = ?5", "id = ?4", [op.id, op.seq])];
    case "revert_compaction":
      return [update("compactions", "status = 'reverted', last_seq = ?5", "id = ?4", [op.id, op.seq])];
    case "change_epoch":
      return changeEpoch(op.row, op);
    default:
      return assertNever(op);
  }
}

/** Every other compaction under way was planned on the old epoch, and is void. */
function changeEpoch(row: EpochRow, { seq, at }: { readonly seq: number; readonly at: number }): readonly Statement[] {
  const others = "id <> ?4 AND status IN ('requested', 'running')";
  const set = "status = 'failed', failure = 'nothing_to_do', finished_at = ?5, last_seq = ?6";
  // A failed compaction keeps the cause of its failure. One that a second attempt completed has none.
  const failure = row.status === "completed" ? { failure: null } : {};
  const values = { ...row, ...failure, requested_at: at, finished_at: at, last_seq: seq };
  const names = Object.keys(values);
  // A completed row takes the trigger of the epoch change: a turn that took the compaction over completed it for its
  // own reason. A failed row keeps the trigger of its request.
  const kept = row.status === "completed" ? ["id", "requested_at"] : ["id", "trigger", "requested_at"];
  const changes = names.filter((name) => !kept.includes(name)).map((name) => `${name} = excluded.${name}`);
  const upsert = insert("compactions", values);
  const sql = `${upsert.sql.replace("INSERT OR REPLACE", "INSERT")} ON CONFLICT DO UPDATE SET ${changes.join(", ")}`;
  return [update("compactions", set, others, [row.id, at, seq]), { sql, params: upsert.params }];
}

/** The longest compacted summary of a row, in characters of up to four bytes each. A row holds 2,000,000 bytes. */
const MAX_SUMMARY_CHARS = 400_000;

const PREVIEW = `last_message_preview = (SELECT preview FROM messages WHERE tenant_id = ?1 AND session_id = ?2
  AND preview IS NOT NULL AND superseded = 0 ORDER BY position DESC LIMIT 1)`;

const ACTIVE = "FROM overlays WHERE tenant_id = ?1 AND session_id = ?2 AND active = 1";
const SUMMARY_FIELDS = `overlay_count = (SELECT count(*) ${ACTIVE}),
  compact_boundary_timestamp = (SELECT boundary_timestamp ${ACTIVE} AND kind = 'summary' ORDER BY position_to DESC LIMIT 1),
  compacted_summary = (SELECT substr(group_concat(content, ?6 ORDER BY position_from), 1, ${MAX_SUMMARY_CHARS}) ${ACTIVE} AND kind = 'summary')`;

const COUNTED = COUNTED_KINDS.map((kind) => `'${kind}'`).join(", ");
const RECOUNT = `message_count = (SELECT count(*) FROM messages WHERE tenant_id = ?1 AND session_id = ?2
  AND superseded = 0 AND kind IN (${COUNTED}))`;

/**
 * The batch's last statement: the session's counts, preview and summary, taken from the rows before it, and the seq
 * that it has reached. `at`: of the newest event that is a use of the session. Null: the batch has none.
 */
export function finishSession(ops: readonly RowOp[], end: { readonly seq: number; readonly at: number | null }): Statement {
  const has = (...kinds: readonly RowOp["op"][]): boolean => ops.some((op) => kinds.includes(op.op));
  const counted = ops.filter((op) => op.op === "insert_message" && COUNTED_KINDS.some((kind) => kind === op.row.kind)).length;
  const changesHistory = has("redact_message", "choose_branch");
  const changesOverlays = has("insert_overlay", "hide_overlays", "show_overlays", "redact_message");
  const set = ["updated_at = coalesce(?4, updated_at)", "last_seq = ?5"];
  // The count is incremented, not recomputed: the cost of a turn must not grow with the history.
  if (changesHistory) set.push(RECOUNT);
  else if (counted > 0) set.push(`message_count = message_count + ${counted}`);
  if (changesHistory || counted > 0) set.push(PREVIEW);
  if (changesOverlays) set.push(SUMMARY_FIELDS);
  const params = [end.at, end.seq, ...(changesOverlays ? [SUMMARY_JOIN] : [])];
  return { sql: `UPDATE sessions SET ${set.join(", ")} WHERE tenant_id = ?1 AND id = ?2 AND ${GUARD}`, params };
}
