/** Decides on tool calls: clients' results, calls that the server runs, and calls that a person must approve first. */
import { err, ok } from "../lib/result";
import type { CommandOf, TurnRun } from "./commands";
import type { Decision } from "./decision";
import type { Event } from "./events";
import { findOpenCall } from "./open-calls";
import type { Rejection } from "./rejection";
import { type OpenCall, type OpenTurn, runsHere, type SessionState } from "./state";
import { resultItem, toolRan } from "./tool-result";

export const toolDeciders = {
  RecordToolResults: decideToolResults,
  StartTool: decideStart,
  RequestApproval: decideRequest,
  RecordToolRun: decideToolRun,
  ResolveApprovals: decideApprovals,
};

/** A request's results are accepted together or not at all. One result that answers no open call of the client rejects the request. */
function decideToolResults(command: CommandOf<"RecordToolResults">, state: SessionState): Decision {
  const { turn } = state;
  const { incarnation } = command;
  let open = (turn?.open_calls ?? []).filter((call) => !call.server);
  const events: Event[] = [];
  for (const [index, { item: draft, is_error, ran, ...ref }] of command.results.entries()) {
    const call = findOpenCall(open, ref);
    if (!turn || !call) return err({ code: "call_not_open", index, call: ref.execution ?? ref.call_id ?? "" });
    open = open.filter((other) => other !== call);
    const item = resultItem(draft, { turn, call, is_error, position: state.next_position + index });
    events.push({ type: "ToolResultRecorded", turn: turn.id, item, incarnation, ...(ran && { ran }) });
  }
  return ok(events);
}

type Found = { readonly ok: true; readonly turn: OpenTurn; readonly call: OpenCall } | { readonly ok: false; readonly error: Rejection };

/** Finds the open call that this run of the turn may run on the server. */
function findOwnCall(run: TurnRun, execution: string, { turn }: SessionState): Found {
  if (turn?.id !== run.turn || turn.phase !== "running_tools") return { ok: false, error: { code: "stale", reason: "turn_over" } };
  if (turn.incarnation !== run.incarnation) return { ok: false, error: { code: "stale", reason: "other_incarnation" } };
  const call = turn.open_calls.find((each) => each.execution === execution && runsHere(each));
  return call ? { ok: true, turn, call } : { ok: false, error: { code: "stale", reason: "call_over" } };
}

/** Starts an execution at most once. A call that was started is not started again, whatever its outcome. */
function decideStart(command: CommandOf<"StartTool">, state: SessionState): Decision {
  const found = findOwnCall(command, command.execution, state);
  if (!found.ok) return err(found.error);
  if (found.call.started) return err({ code: "stale", reason: "call_over" });
  const { execution, turn, incarnation } = command;
  return ok([{ type: "ToolStarted", turn, execution, incarnation }]);
}

/** Rejected for a call that was started or approved. */
function decideRequest(command: CommandOf<"RequestApproval">, state: SessionState): Decision {
  const found = findOwnCall(command, command.execution, state);
  if (!found.ok) return err(found.error);
  if (found.call.started || found.call.allowed) return err({ code: "stale", reason: "call_over" });
  return ok([{ type: "ApprovalRequested", turn: command.turn, execution: command.execution }]);
}

function decideToolRun(command: CommandOf<"RecordToolRun">, state: SessionState): Decision {
  const { result, incarnation } = command;
  const found = findOwnCall(command, result.execution, state);
  return found.ok ? ok([toolRan(result, { ...found, incarnation, position: state.next_position })]) : err(found.error);
}

const DENIED = { ms: null, exit_code: null, failure: "denied", artifacts: [] } as const;

/** A request's answers are accepted together or not at all. A denied call gets its result at once. */
function decideApprovals(command: CommandOf<"ResolveApprovals">, state: SessionState): Decision {
  const { turn } = state;
  const { incarnation } = command;
  const events: Event[] = [];
  const answered = new Set<string>();
  let position = state.next_position;
  for (const [index, { execution, denied }] of command.approvals.entries()) {
    const call = turn?.open_calls.find((each) => each.execution === execution && each.approval === "pending");
    if (!turn || !call || answered.has(execution)) return err({ code: "approval_not_open", index, execution });
    answered.add(execution);
    events.push({ type: "ApprovalResolved", turn: turn.id, execution, approved: denied === null, incarnation });
    if (denied) events.push(toolRan({ item: denied, is_error: true, ran: DENIED }, { turn, call, incarnation, position: position++ }));
  }
  return ok(events);
}
