/** Decides on turns: a turn starts, is answered, waits for tools, and ends in one of four ways. */
import { err, ok } from "../lib/result";
import type { CommandOf, TurnCommand, TurnRun } from "./commands";
import { toolDeciders } from "./decide-tools";
import { type Deciders, type Decision, endCutShort, enterConversation, place, spentCall } from "./decision";
import type { Event } from "./events";
import { itemsOfMessage } from "./open-calls";
import type { Rejection } from "./rejection";
import { isRunning, type OpenTurn, type SessionState } from "./state";
import { lostResults } from "./tool-result";
import { toTurnChoices } from "./turn-choices";

export const turnDeciders: Deciders<TurnCommand["type"]> = {
  StartTurn: (command, state) => ok(startNext(command, state)),
  RecordAssistant: decideAssistant,
  RecordCall: decideCall,
  ...toolDeciders,
  FailTurn: decideFail,
  StopTurn: decideStop,
  RetryTurn: decideRetry,
  AnswerResults: decideAnswer,
  RecoverTurn: (command, state) => ok(recover(command, state)),
};

function decideCall({ call, ...run }: CommandOf<"RecordCall">, { turn }: SessionState): Decision {
  const stale = staleRun(run, turn);
  return stale ? err(stale) : ok([{ type: "ModelCallFinished", ...call }]);
}

function startNext(command: CommandOf<"StartTurn">, state: SessionState): Event[] {
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

/** Why the run in which the model was asked is over. Null when it goes on. */
function staleRun(run: TurnRun, turn: OpenTurn | null, phases: readonly OpenTurn["phase"][] = ["generating"]): Rejection | null {
  if (turn?.id !== run.turn || !phases.includes(turn.phase)) return { code: "stale", reason: "turn_over" };
  return turn.incarnation === run.incarnation ? null : { code: "stale", reason: "other_incarnation" };
}

function decideAssistant(command: CommandOf<"RecordAssistant">, state: SessionState): Decision {
  const stale = staleRun(command, state.turn);
  if (stale) return err(stale);
  const { turn, reply, calls, finish } = command;
  const events: Event[] = [{ type: "ModelCallFinished", ...command.call }];
  let position = state.next_position;
  if (reply)
    events.push({ type: "AssistantReplied", turn, item: place(isCutOff(command) ? { ...reply, incomplete: true } : reply, position++) });
  for (const { item, server, cut } of calls)
    events.push({ type: "ToolCalled", turn, item: place(item, position++), ...(server && { server }), ...(cut && { cut }) });
  for (const { item, needs_approval } of calls)
    if (needs_approval && item.tool) events.push({ type: "ApprovalRequested", turn, execution: item.tool.execution });
  if (calls.length === 0) events.push({ type: "TurnCompleted", turn, finish });
  return ok(events);
}

/** The provider ended the reply before the model did. A reply with calls goes on after them. */
const isCutOff = ({ finish, calls }: CommandOf<"RecordAssistant">): boolean =>
  calls.length === 0 && (finish === "length" || finish === "content_filter");

function decideFail(command: CommandOf<"FailTurn">, state: SessionState): Decision {
  const stale = staleRun(command, state.turn, ["generating", "running_tools"]);
  if (stale) return err(stale);
  return ok(endCutShort(state, command, { type: "TurnFailed", turn: command.turn, failure: command.failure }));
}

function decideStop(command: CommandOf<"StopTurn">, state: SessionState): Decision {
  const { turn } = state;
  if (!turn || (command.turn !== null && command.turn !== turn.id)) return err({ code: "no_turn" });
  if (command.reason === "tools_expired" && turn.phase !== "awaiting_tools") return err({ code: "stale", reason: "turn_over" });
  return ok(endCutShort(state, command, { type: "TurnStopped", turn: turn.id, reason: command.reason }));
}

function decideRetry(command: CommandOf<"RetryTurn">, state: SessionState): Decision {
  if (state.turn) return err({ code: "turn_running", turn: state.turn.id });
  const last = state.last_turn;
  if (!last) return err({ code: "not_retryable", status: null });
  if (last.status === "completed") return err({ code: "not_retryable", status: last.status });
  const { turn, incarnation, choices = toTurnChoices(last), tools = last.tools } = command;
  return ok([{ type: "TurnStarted", turn, incarnation, attempt: 1, item: null, tools, retry_of: last.id, ...choices }]);
}

function decideAnswer({ turn, incarnation, choices, tools }: CommandOf<"AnswerResults">, state: SessionState): Decision {
  if (state.turn) return err({ code: "turn_running", turn: state.turn.id });
  return ok([{ type: "TurnStarted", turn, incarnation, attempt: 1, item: null, tools, retry_of: null, ...choices }]);
}

/**
 * Recovers a turn that an earlier incarnation left open. Without a partial reply it runs again, unless
 * `stallLimit` lives in a row made no progress. With one, the reply is kept and marked as incomplete, and a person decides. A tool call that was started has
 * an unknown outcome: the model reads that as its result. Other calls run.
 */
function recover(command: CommandOf<"RecoverTurn">, state: SessionState): Event[] {
  const { turn } = state;
  if (!turn || !isRunning(turn) || turn.incarnation === command.incarnation) return [];
  if (command.partial) return endCutShort(state, command, { type: "TurnInterrupted", turn: turn.id });
  const crashed: Event = { type: "TurnFailed", turn: turn.id, failure: { kind: "crashed", status: null } };
  if (turn.stalled_lives >= command.stallLimit) return endCutShort(state, command, crashed);
  const { incarnation } = command;
  const { id, attempt, tools } = turn;
  return [
    ...spentCall(state, command.call),
    { type: "TurnStarted", turn: id, incarnation, attempt: attempt + 1, item: null, tools, retry_of: null, ...toTurnChoices(turn) },
    ...lostResults(state, command.lost ?? [], incarnation),
  ];
}
