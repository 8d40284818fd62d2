/** What became of a call that a client's result came too late for, or that never was. */
import type * as api from "../../app/session-api";
import type { ClosedCall } from "../../domain/rejection";
import { newestItems } from "../log/log-tables";
import type { SessionRuntime } from "../runtime";

/** So many of the newest items are looked at: a refusal must not cost more than what it refuses. */
const LOOKED_AT = 500;

/** The refusal with its reason, as far as the newest items tell; any other refusal as it is. */
export function explainClosedCall(runtime: SessionRuntime, error: api.SessionError): api.SessionError {
  return error.code === "call_not_open" ? { ...error, became: becameOf(runtime, error.call) } : error;
}

function becameOf({ state, deps }: SessionRuntime, id: string): ClosedCall {
  const open = (state.turn?.open_calls ?? []).filter(({ execution, call_id }) => execution === id || call_id === id);
  // Open before the request: then an earlier result of the same request took it.
  if (open.some(({ server }) => !server)) return "answered_here";
  if (open.length > 0) return "runs_here";
  const tools = newestItems(deps.sql, LOOKED_AT).flatMap(({ kind, tool }) => (tool ? [{ ...tool, kind }] : []));
  const call = tools.find(({ kind, execution, call_id }) => kind === "tool_call" && (execution === id || call_id === id));
  if (!call) return "unknown";
  return tools.some(({ kind, execution }) => kind === "tool_result" && execution === call.execution) ? "answered" : "cancelled";
}
