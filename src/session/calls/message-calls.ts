/** Accepts messages and tool results, stops and retries turns. Each is one transaction, remembered under its idempotency key. */

import { buildToolsBody } from "../../app/request/build-items";
import type * as api from "../../app/session-api";
import type { Accepted } from "../../contract/item";
import type { TurnReport } from "../../contract/turn";
import type { Command, NewToolResult } from "../../domain/commands";
import type { StoredEvent } from "../../domain/events";
import type { ItemId, TurnId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { type CallRef, openBehindQueue } from "../../domain/open-calls";
import type { ClosedCall } from "../../domain/rejection";
import { isRunning, type OpenCall } from "../../domain/state";
import { err, ok } from "../../lib/result";
import type { NewBody } from "../log/bodies";
import { findNewest } from "../log/branch-items";
import { findByClientId, newestItems } from "../log/log-tables";
import type { Session } from "../session";
import type { TurnRunner } from "../turn-runner";
import { buildClientRun, buildMessage, buildResultItem, findReferencedCalls } from "./build-message";
import { transactOnce } from "./once";
import { prepareTurn, resolveForTurn } from "./turn-choices";
import { reportTurn } from "./turn-report";

/** The number of messages that may wait in the queue. */
const QUEUE_LIMIT = 32;

const NOTHING_CUT = { cut: { partial: null, call: null }, bodies: [] } as const;

/** A session with the runner of its turn, whose run ends when the turn is stopped or interrupted. */
type RunningSession = Session & { readonly runner: TurnRunner };

interface KeyedCommand {
  readonly command: Command;
  readonly bodies: readonly NewBody[];
  readonly idempotency: api.Idempotency | null;
  /** The client's own ids of the new messages. Each must be new to the session. */
  readonly clientIds?: readonly string[];
  /** Why the request is refused, unless its key was used before. Absent or null: it is not. */
  readonly refusal?: api.Outcome<never> | null;
  /** Builds the acknowledgement from the appended events. */
  readonly accept: (events: readonly StoredEvent[]) => Omit<Accepted, "replayed" | "cursor">;
}

/** Executes a command and acknowledges it, once for each idempotency key. A repeated key gets the first acknowledgement again. */
export function acknowledge(session: Session, asked: KeyedCommand): api.Outcome<Accepted> {
  const cursor = session.buffer.offset;
  return transactOnce<Omit<Accepted, "replayed">>(session, asked.idempotency, (step) => {
    if (asked.refusal) return asked.refusal;
    const taken = findTaken(session, asked.clientIds ?? []);
    if (taken) return err({ code: "client_id_taken", message: taken });
    session.content.learn(asked.bodies);
    const executed = step.execute(asked.command, asked.bodies);
    return executed.ok ? ok({ ...asked.accept(executed.value), cursor }) : err(executed.error);
  });
}

/** The message, recorded or queued, that has one of these ids already. */
export function findTaken({ state, deps }: Session, clientIds: readonly string[]): ItemId | null {
  for (const clientId of clientIds) {
    const waiting = state.queue.find(({ item }) => item.client_id === clientId)?.item;
    const found = waiting ?? findByClientId(deps.sql, clientId);
    if (found) return found.id;
  }
  return null;
}

export async function submitMessage(session: RunningSession, input: api.SubmitInput): Promise<api.Outcome<Accepted>> {
  const resolved = await resolveForTurn(session, input);
  const { clock, ids, incarnation } = session.deps;
  const at = clock();
  const turn = input.run ? ids.newId("trn") : null;
  const [first, ...rest] = buildMessage(session, input, { turn, at, open: openBehindQueue(session.state) });
  const tools = buildToolsBody(input.tools, ids);
  const { choices, refusal, ...prepared } = prepareTurn(session, input, { resolved, base: {}, tools: input.tools });
  const { cut, bodies } = input.onBusy === "interrupt" ? session.runner.cutShort("aborted") : NOTHING_CUT;
  const message = { item: first.draft, rest: rest.map(({ draft }) => draft), turn, tools: tools.ref, ...choices };
  const answers = input.role === "tool" ? { call_id: input.call_id, is_error: input.is_error } : null;
  const command = {
    type: "SubmitMessage",
    at,
    message,
    ...(answers && { answers }),
    onBusy: input.onBusy,
    incarnation,
    queueLimit: QUEUE_LIMIT,
    ...cut,
  } as const;
  const accept: KeyedCommand["accept"] = (events) => {
    const position = findPosition(events, first.draft.id);
    return { message_id: first.draft.id, turn_id: turn, position, queued: position === null };
  };
  const said = [first, ...rest].map(({ body }) => body);
  const running = session.state.turn?.id;
  const kept = isRunning(session.state.turn) ? bodies : [];
  const texts = [...said, ...tools.bodies, ...prepared.bodies, ...kept];
  const clientIds = input.about?.client_id ? [input.about.client_id] : [];
  const accepted = acknowledge(session, { command, bodies: texts, idempotency: input.idempotency, refusal, clientIds, accept });
  if (running && session.state.turn?.id !== running) session.runner.abandon();
  return accepted;
}

function findPosition(events: readonly StoredEvent[], id: ItemId): number | null {
  for (const event of events) {
    if (event.type === "TurnStarted" && event.item?.id === id) return event.item.position;
    if (event.type === "MessagesAppended") return event.items.find((item) => item.id === id)?.position ?? null;
  }
  return null;
}

export function cancelQueued(session: Session, message: ItemId): api.Outcome<null> {
  const cancelled = session.execute({ type: "CancelQueued", at: session.deps.clock(), message });
  return cancelled.ok ? ok(null) : err(cancelled.error);
}

export function submitToolResults(session: Session, input: Parameters<api.SessionApi["toolResults"]>[1]): api.Outcome<Accepted> {
  const { clock, incarnation } = session.deps;
  const turn = session.state.turn;
  const at = clock();
  const refs = input.results.map(({ execution_id, call_id }) => ({ execution: execution_id, call_id }));
  const owed = (turn?.open_calls ?? []).filter((call) => !call.server);
  const contradiction = refuseContradiction(owed, refs);
  if (contradiction) return contradiction;
  const calls = findReferencedCalls(owed, refs);
  const drafted = input.results.map((given, index) => {
    const { execution_id, call_id, output, is_error } = given;
    const call = calls[index] ?? { call_id: "", name: "" };
    const { draft, body } = buildResultItem(session, { call, output, is_error }, { turn: turn?.id ?? null, at });
    const { ran, bodies } = buildClientRun(session, given);
    const result: NewToolResult = { execution: execution_id, call_id, item: draft, is_error, ...(ran && { ran }) };
    return { result, bodies: [body, ...bodies] };
  });
  const [first] = drafted;
  if (!first) return err({ code: "invalid", field: "results", detail: "must not be empty" });
  const command = { type: "RecordToolResults", at, incarnation, results: drafted.map((entry) => entry.result) } as const;
  const accept: KeyedCommand["accept"] = (events) => {
    const recorded = events.find((event) => event.type === "ToolResultRecorded");
    return { message_id: first.result.item.id, turn_id: turn?.id ?? null, position: recorded?.item.position ?? null, queued: false };
  };
  const done = acknowledge(session, { command, bodies: drafted.flatMap((entry) => entry.bodies), idempotency: input.idempotency, accept });
  return done.ok ? done : err(explainClosedCall(session, done.error));
}

/** Refuses a result whose two ids name different calls: the intended one cannot be guessed. */
function refuseContradiction(open: readonly OpenCall[], refs: readonly CallRef[]): api.Outcome<never> | null {
  const index = refs.findIndex(({ execution, call_id }) => {
    const call = execution && open.find((each) => each.execution === execution);
    return call && call_id !== null && call.call_id !== call_id;
  });
  return index < 0 ? null : err({ code: "invalid", field: `results.${index}.call_id`, detail: "does not match the execution_id" });
}

export function stopTurn(
  session: RunningSession,
  { idempotency }: Parameters<api.SessionApi["stop"]>[1],
): api.Outcome<api.Once<{ readonly turn: TurnReport }>> {
  const { cut, bodies } = session.runner.cutShort("aborted");
  session.content.learn(bodies);
  const done = transactOnce<{ readonly id: TurnId }>(session, idempotency, (step) => {
    const { turn } = step.state;
    if (!turn) return err({ code: "no_turn" });
    const command = { type: "StopTurn", at: session.deps.clock(), turn: turn.id, reason: "requested", ...cut } as const;
    const stopped = step.execute(command, bodies);
    return stopped.ok ? ok({ id: turn.id }) : err(stopped.error);
  });
  if (!done.ok) return done;
  const { id, replayed } = done.value;
  if (!replayed) session.runner.abandon();
  const report = reportTurn(session, id);
  return report.ok ? ok({ turn: report.value, replayed }) : report;
}

/** The newest user message. It is in the view, or in the record when it has left the view. */
function lastAsked({ state, deps }: Session): ItemMeta | null {
  const shown = state.view.items.findLast((item) => item.kind === "user");
  return shown ?? findNewest({ sql: deps.sql, elsewhere: state.branch.elsewhere }, ({ kind }) => kind === "user");
}

export async function retryTurn(
  session: Session,
  input: api.TurnInput & { readonly idempotency: api.Idempotency | null },
): Promise<api.Outcome<Accepted>> {
  const resolved = await resolveForTurn(session, input, session.state.last_turn ?? {});
  const { clock, ids, incarnation } = session.deps;
  const turn: TurnId = ids.newId("trn");
  const message = lastAsked(session);
  if (!message) return err({ code: "not_retryable", status: null });
  const base = session.state.last_turn ?? {};
  const { choices, bodies, refusal } = prepareTurn(session, input, { resolved, base, tools: null });
  const command = { type: "RetryTurn", at: clock(), turn, incarnation, choices } as const;
  const accept: KeyedCommand["accept"] = () => ({ message_id: message.id, turn_id: turn, position: message.position, queued: false });
  return acknowledge(session, { command, bodies, idempotency: input.idempotency, refusal, accept });
}

/** The number of newest items that are read: a refusal must not cost more than the work that it refuses. */
const LOOKED_AT = 500;

/** Adds to a `call_not_open` refusal what became of the call, as far as the newest items tell. Other refusals stay as they are. */
function explainClosedCall(session: Session, error: api.SessionError): api.SessionError {
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
