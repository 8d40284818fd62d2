/** The session's calls with their outcomes, strongly consistent, whether or not the model's view shows them. */

import type * as api from "../../app/session-api";
import { takeHead } from "../../context/tool-results";
import type { ExecutionView } from "../../contract/execution";
import type { Page } from "../../contract/page";
import { ERROR_MESSAGE_CHARS, hasErrorMessage, toSuccess } from "../../domain/execution";
import type { SessionId } from "../../domain/ids";
import type { ItemMeta, Part } from "../../domain/message";
import type { SessionState } from "../../domain/state";
import { type ExecutionRow, hasWaited, readExecutions } from "../log/execution-rows";
import { ALL_POSITIONS, readItems } from "../log/log-tables";
import type { Session } from "../session";
import { MAX_ANSWER_BYTES, takeWithin } from "./answer-size";

interface Found {
  readonly row: ExecutionRow;
  readonly call: ItemMeta;
}

/** Reads one row more than the limit, which tells whether there is more. The page is bounded by the size of the calls' arguments. */
export function listExecutions(session: Session, { after, limit, order }: api.PageInput): Page<ExecutionView> {
  const id = session.state.session;
  const range = order === "asc" ? { from: (after ?? 0) + 1, to: ALL_POSITIONS } : { from: 1, to: (after ?? ALL_POSITIONS) - 1 };
  const rows = readExecutions(session.deps.sql, { ...range, limit: limit + 1, order });
  const found = rows.flatMap((row): Found[] => {
    const call = itemAt(session, row.position);
    return call ? [{ row, call }] : [];
  });
  const fitting = takeWithin(found.slice(0, limit), { weigh: ({ call }) => call.bytes, limit: MAX_ANSWER_BYTES });
  return { data: id ? fitting.map((each) => toView(session, id, each)) : [], has_more: found.length > fitting.length };
}

const itemAt = ({ deps }: Session, position: number): ItemMeta | undefined =>
  readItems(deps.sql, { from: position, to: position, limit: 1, order: "asc" })[0];

/** Undefined when the item has no such part. A redacted item shows its placeholder. */
function readPart<T extends Part["type"]>(session: Session, item: ItemMeta, type: T): Extract<Part, { type: T }> | undefined {
  return session.content.readShown([item])[0]?.parts.find((part): part is Extract<Part, { type: T }> => part.type === type);
}

function toView(session: Session, session_id: SessionId, { row, call }: Found): ExecutionView {
  const { id, position, turn, runs, status, started_at, finished_at, result_position, ran } = row;
  return {
    id,
    item_id: call.id,
    approval: toApproval(row, session.state),
    session_id,
    turn_id: turn,
    position,
    result_position,
    tool_name: call.tool?.name ?? "",
    call_id: call.tool?.call_id ?? "",
    runs,
    status,
    success: toSuccess(status),
    exit_code: ran?.exit_code ?? null,
    duration_ms: ran?.ms ?? null,
    failure: ran?.failure ?? null,
    error_message: hasErrorMessage(status) ? errorMessage(session, result_position) : null,
    arguments: readPart(session, call, "tool_call")?.arguments ?? "",
    created_at: call.at,
    started_at,
    finished_at,
    artifacts: (ran?.artifacts ?? []).map(({ type, bytes }, number) => ({ number, type, bytes })),
  };
}

const toApproval = (row: ExecutionRow, state: SessionState): ExecutionView["approval"] =>
  row.approval ? { answer: row.approval.answer, turn_waited: hasWaited(row, state) } : null;

function errorMessage(session: Session, position: number | null): string | null {
  const result = position === null ? undefined : itemAt(session, position);
  const part = result && readPart(session, result, "tool_result");
  return part ? takeHead(part.output, ERROR_MESSAGE_CHARS) : null;
}
