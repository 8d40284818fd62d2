/** Takes the results of the client's tools: one transaction, remembered under its idempotency key. */
import type * as api from "../../app/session-api";
import type { Accepted } from "../../contract/item";
import type { NewToolResult } from "../../domain/commands";
import type { CallRef } from "../../domain/open-calls";
import type { ClosedCall } from "../../domain/rejection";
import type { OpenCall, OpenTurn } from "../../domain/state";
import { err, ok } from "../../lib/result";
import type { NewBody } from "../log/bodies";
import { newestItems } from "../log/log-tables";
import type { Session } from "../session";
import { buildClientRun, buildResultItem, findReferencedCalls } from "./build-message";
import { acknowledge, type KeyedCommand } from "./message-calls";

export function submitToolResults(session: Session, input: Parameters<api.SessionApi["toolResults"]>[1]): api.Outcome<Accepted> {
  const { clock, incarnation } = session.deps;
  const { turn } = session.state;
  const at = clock();
  const drafted = draftResults(session, { turn, results: input.results, at });
  if (!drafted.ok) return drafted;
  const { results, bodies } = drafted.value;
  const [first] = results;
  if (!first) return err({ code: "invalid", field: "results", detail: "must not be empty" });
  const command = { type: "RecordToolResults", at, incarnation, results } as const;
  const accept: KeyedCommand["accept"] = (events) => {
    const recorded = events.find((event) => event.type === "ToolResultRecorded");
    return { message_id: first.item.id, turn_id: turn?.id ?? null, position: recorded?.item.position ?? null, queued: false };
  };
  const done = acknowledge(session, { command, bodies, idempotency: input.idempotency, accept });
  return done.ok ? done : err(explainClosedCall(session, session.state.turn, done.error));
}

interface Results {
  /** The turn whose calls are answered. */
  readonly turn: OpenTurn | null;
  readonly results: readonly api.ToolResultInput[];
  readonly at: number;
}

/** Builds the results of a request for their command. */
export function draftResults(
  session: Session,
  { turn, results, at }: Results,
): api.Outcome<{ readonly results: readonly NewToolResult[]; readonly bodies: readonly NewBody[] }> {
  const refs = results.map(({ execution_id, call_id }) => ({ execution: execution_id, call_id }));
  const owed = (turn?.open_calls ?? []).filter((call) => !call.server);
  const contradiction = refuseContradiction(owed, refs);
  if (contradiction) return contradiction;
  const calls = findReferencedCalls(owed, refs);
  const drafted = results.map((given, index) => {
    const { execution_id, call_id, output, is_error } = given;
    const call = calls[index] ?? { call_id: "", name: "" };
    const { draft, body } = buildResultItem(session, { call, output, is_error }, { turn: turn?.id ?? null, at });
    const { ran, bodies } = buildClientRun(session, given);
    const result: NewToolResult = { execution: execution_id, call_id, item: draft, is_error, ...(ran && { ran }) };
    return { result, bodies: [body, ...bodies] };
  });
  return ok({ results: drafted.map(({ result }) => result), bodies: drafted.flatMap(({ bodies }) => bodies) });
}

/** Refuses a result whose two ids name different calls: the intended one cannot be guessed. */
function refuseContradiction(open: readonly OpenCall[], refs: readonly CallRef[]): api.Outcome<never> | null {
  const index = refs.findIndex(({ execution, call_id }) => {
    const call = execution && open.find((each) => each.execution === execution);
    return call && call_id !== null && call.call_id !== call_id;
  });
  return index < 0 ? null : err({ code: "invalid", field: `results.${index}.call_id`, detail: "does not match the execution_id" });
}

/** The number of newest items that are read: a refusal must not cost more than the work that it refuses. */
const LOOKED_AT = 500;

/**
 * Adds to a `call_not_open` refusal what became of the call, as far as the newest items tell. Other refusals stay as they are. `turn`: the
 * turn that was open before the request.
 */
export function explainClosedCall({ deps }: Session, turn: OpenTurn | null, error: api.SessionError): api.SessionError {
  return error.code === "call_not_open" ? { ...error, became: readClosedCall({ deps, turn }, error.call) } : error;
}

function readClosedCall({ deps, turn }: Pick<Session, "deps"> & { readonly turn: OpenTurn | null }, id: string): ClosedCall {
  const open = (turn?.open_calls ?? []).filter(({ execution, call_id }) => execution === id || call_id === id);
  // The call was open before the request, so an earlier result of the same request answered it.
  if (open.some(({ server }) => !server)) return "answered_here";
  if (open.length > 0) return "runs_here";
  const tools = newestItems(deps.sql, LOOKED_AT).flatMap(({ kind, tool }) => (tool ? [{ ...tool, kind }] : []));
  const call = tools.find(({ kind, execution, call_id }) => kind === "tool_call" && (execution === id || call_id === id));
  if (!call) return "unknown";
  return tools.some(({ kind, execution }) => kind === "tool_result" && execution === call.execution) ? "answered" : "cancelled";
}
