/** Explains why a client's tool result was refused: the call was closed before it, or never existed. */
import type * as api from "../../app/session-api";
import type { ClosedCall } from "../../domain/rejection";
import { newestItems } from "../log/log-tables";
import type { Session } from "../session";

/** The number of newest items that are read: a refusal must not cost more than the work that it refuses. */
const LOOKED_AT = 500;

/** Adds to a `call_not_open` refusal what became of the call, as far as the newest items tell. Other refusals stay as they are. */
export function explainClosedCall(session: Session, error: api.SessionError): api.SessionError {
  return error.code === "call_not_open" ? { ...error, became: readClosedCall(session, error.call) } : error;
}

function readClosedCall({ state, deps }: Session, id: string): ClosedCall {
  const open = (state.turn?.open_calls ?? []).filter(({ execution, call_id }) => execution === id || call_id === id);
  // The call was open before the request, so an earlier result of the same request answered it.
  if (open.some(({ server }) => !server)) return "answered_here";
  if (open.length > 0) return "runs_here";
  const tools = newestItems(deps.sql, LOOKED_AT).flatMap(({ kind, tool }) => (tool ? [{ ...tool, kind }] : []));
  const call = tools.find(({ kind, execution, call_id }) => kind === "tool_call" && (execution === id || call_id === id));
  if (!call) return "unknown";
  return tools.some(({ kind, execution }) => kind === "tool_result" && execution === call.execution) ? "answered" : "cancelled";
}
