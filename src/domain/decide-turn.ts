/** A turn's life: started, answered, waiting for tools, ended in one of four ways. */
import { assertNever } from "../lib/assert-never";
import { err, ok } from "../lib/result";
import type { Command, TurnCommand, TurnRun } from "./commands";
import { type Decision, endCutShort, enterConversation, place, spentCall } from "./decision";
import type { Event } from "./events";
import type { ItemMeta } from "./message";
import { findOpenCall, itemsOfMessage } from "./open-calls";
import type { Rejection } from "./rejection";
import type { OpenTurn, SessionState } from "./state";

type Of<T extends TurnCommand["type"]> = Command & Extract<TurnCommand, { type: T }>;

export function decideTurn(command: Command & TurnCommand, state: SessionState): Decision {
  switch (command.type) {
    case "StartTurn":
      return ok(startNext(command, state));
    case "RecordAssistant":
      return decideAssistant(command, state);
    case "RecordCall": {
      const stale = staleRun(command, state.turn);
      return stale ? err(stale) : ok([{ type: "ModelCallFinished", ...command.call }]);
    }
    case "RecordToolResults":
      return decideToolResults(command, state);
    case "FailTurn":
      return decideFail(command, state);
    case "StopTurn":
      return decideStop(command, state);
    case "RetryTurn":
      return decideRetry(command, state);
    case "RecoverTurn":
      return ok(recover(command, state));
    default:
      return assertNever(command);
  }
}

function startNext(command: Of<"StartTurn">, state: SessionState): Event[] {
  const events: Event[] = [];
  if (state.turn) return events;
  let position = state.next_position;
  for (const waiting of state.queue) {
    events.push(...enterConversation(waiting, { position, incarnation: command.incarnation }));
    if (waiting.turn !== null) break;
    position += itemsOfMessage(waiting).length;
  }
  return events;
}

function staleRun(run: TurnRun, turn: OpenTurn | null): Rejection | null {
  if (turn?.id !== run.turn || turn.phase !== "generating") return { code: "stale", reason: "turn_over" };
  return turn.incarnation === run.incarnation ? null : { code: "stale", reason: "other_incarnation" };
}

function decideAssistant(command: Of<"RecordAssistant">, state: SessionState): Decision {
  const stale = staleRun(command, state.turn);
  if (stale) return err(stale);
  const { turn, reply, calls, finish } = command;
  const events: Event[] = [{ type: "ModelCallFinished", ...command.call }];
  let position = state.next_position;
  if (reply) events.push({ type: "AssistantReplied", turn, item: place(reply, position++) });
  for (const call of calls) events.push({ type: "ToolCalled", turn, item: place(call, position++) });
  if (calls.length === 0) events.push({ type: "TurnCompleted", turn, finish });
  return ok(events);
}

/** All results of a request are taken or none: one that answers no open call refuses the request. */
function decideToolResults(command: Of<"RecordToolResults">, state: SessionState): Decision {
  const { turn } = state;
  let open = turn?.phase === "awaiting_tools" ? turn.open_calls : [];
  const events: Event[] = [];
  for (const [index, result] of command.results.entries()) {
    const call = findOpenCall(open, result);
    if (!turn || !call) return err({ code: "call_not_open", index, call: result.execution ?? result.call_id ?? "" });
    open = open.filter((other) => other !== call);
    const tool = { ...call, is_error: result.is_error };
    const item: ItemMeta = { ...result.item, kind: "tool_result", turn: turn.id, tool, position: state.next_position + index };
    events.push({ type: "ToolResultRecorded", turn: turn.id, item, incarnation: command.incarnation });
  }
  return ok(events);
}

function decideFail(command: Of<"FailTurn">, state: SessionState): Decision {
  const stale = staleRun(command, state.turn);
  if (stale) return err(stale);
  return ok(endCutShort(state, command, { type: "TurnFailed", turn: command.turn, failure: command.failure }));
}

function decideStop(command: Of<"StopTurn">, state: SessionState): Decision {
  const { turn } = state;
  if (!turn || (command.turn !== null && command.turn !== turn.id)) return err({ code: "no_turn" });
  if (command.reason === "tools_expired" && turn.phase !== "awaiting_tools") return err({ code: "stale", reason: "turn_over" });
  return ok(endCutShort(state, command, { type: "TurnStopped", turn: turn.id, reason: command.reason }));
}

function decideRetry(command: Of<"RetryTurn">, state: SessionState): Decision {
  if (state.turn) return err({ code: "turn_running", turn: state.turn.id });
  const last = state.last_turn;
  if (!last) return err({ code: "not_retryable", status: null });
  if (last.status === "completed") return err({ code: "not_retryable", status: last.status });
  const { turn, incarnation } = command;
  return ok([{ type: "TurnStarted", turn, incarnation, attempt: 1, item: null, tools: last.tools, retry_of: last.id }]);
}

/** Nothing said yet: run again, so many times. Something said: keep it, marked, and let a person decide. */
function recover(command: Of<"RecoverTurn">, state: SessionState): Event[] {
  const { turn } = state;
  if (turn?.phase !== "generating" || turn.incarnation === command.incarnation) return [];
  if (command.partial) return endCutShort(state, command, { type: "TurnInterrupted", turn: turn.id });
  const crashed: Event = { type: "TurnFailed", turn: turn.id, failure: { kind: "crashed", status: null } };
  if (turn.attempt >= command.attemptLimit) return endCutShort(state, command, crashed);
  const { incarnation } = command;
  return [
    ...spentCall(state, command.call),
    { type: "TurnStarted", turn: turn.id, incarnation, attempt: turn.attempt + 1, item: null, tools: turn.tools, retry_of: null },
  ];
}
