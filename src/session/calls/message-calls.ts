/** Accepts messages, stops and retries turns. Each is one transaction, remembered under its idempotency key. */

import { buildToolsBody } from "../../app/request/build-items";
import type * as api from "../../app/session-api";
import type { Accepted } from "../../contract/item";
import type { TurnReport } from "../../contract/turn";
import type { Command } from "../../domain/commands";
import type { StoredEvent } from "../../domain/events";
import type { ItemId, TurnId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { openAtEntry } from "../../domain/open-calls";
import { isRunning, type SessionState } from "../../domain/state";
import { err, ok } from "../../lib/result";
import type { NewBody } from "../log/bodies";
import { findNewest } from "../log/branch-items";
import { findByClientId } from "../log/log-tables";
import type { Step } from "../log/store";
import { readTurn } from "../log/turn-rows";
import type { Session } from "../session";
import type { TurnRunner } from "../turn-runner";
import { buildMessage } from "./build-message";
import { transactOnce } from "./once";
import { prepareTurn, resolveForTurn } from "./turn-choices";
import { reportTurn } from "./turn-report";

/** The number of messages that may wait in the queue. */
export const QUEUE_LIMIT = 32;

const NOTHING_CUT = { cut: { partial: null, call: null }, bodies: [] } as const;

/** A session with the runner of its turn, whose run ends when the turn is stopped or interrupted. */
export type RunningSession = Session & { readonly runner: TurnRunner };

export interface KeyedCommand {
  readonly command: Command;
  readonly bodies: readonly NewBody[];
  readonly idempotency: api.Idempotency | null;
  /** The client's own ids of the new messages. Each must be new to the session. */
  readonly clientIds?: readonly string[];
  /** Why the request is refused, unless its key was used before. Absent or null: it is not. */
  readonly refusal?: api.Outcome<never> | null;
  /** Commands of the same transaction, behind the first. If one is refused, nothing was done. Absent: none. */
  readonly behind?: readonly Command[];
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
    if (!executed.ok) return err(executed.error);
    for (const command of asked.behind ?? []) {
      const followed = step.execute(command);
      if (!followed.ok) return err(followed.error);
    }
    return ok({ ...asked.accept(executed.value), cursor });
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

interface Submitting {
  /** Judges the session as it is when the message would enter. Absent: nothing is refused beyond what `decide` refuses. */
  readonly refuse?: (state: SessionState) => api.Outcome<never> | null;
  /** A command of the same transaction. It is given the message's turn. */
  readonly behind?: (turn: TurnId | null) => Command;
}

export async function submitMessage(
  session: RunningSession,
  input: api.SubmitInput,
  { refuse = () => null, behind }: Submitting = {},
): Promise<api.Outcome<Accepted>> {
  const resolved = await resolveForTurn(session, input);
  const { clock, ids, incarnation } = session.deps;
  const at = clock();
  const turn = input.run ? ids.newId("trn") : null;
  const [first, ...rest] = buildMessage(session, input, { turn, at, open: openAtEntry(session.state, input.onBusy === "interrupt") });
  const tools = buildToolsBody(input.tools, ids);
  const { choices, ...prepared } = prepareTurn(session, input, { resolved, base: {}, tools: input.tools });
  const refusal = refuse(session.state) ?? prepared.refusal;
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
    messageLimit: session.limits.messages,
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
  const accepted = acknowledge(session, {
    command,
    bodies: texts,
    idempotency: input.idempotency,
    refusal,
    clientIds,
    accept,
    ...(behind && { behind: [behind(turn)] }),
  });
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

type StopInput = Parameters<api.SessionApi["stop"]>[1];

export function stopTurn(session: RunningSession, input: StopInput): api.Outcome<api.Once<{ readonly turn: TurnReport }>> {
  const running = session.state.turn?.id;
  // Another turn's model call is not cut off.
  const isMeant = input.turn === undefined || input.turn === running;
  const cutShort = isMeant ? session.runner.cutShort("aborted") : NOTHING_CUT;
  session.content.learn(cutShort.bodies);
  const done = transactOnce<{ readonly id: TurnId }>(session, input.idempotency, (step) =>
    endTurn(session, step, { ...input, ...cutShort }),
  );
  if (!done.ok) return done;
  if (running && session.state.turn?.id !== running) session.runner.abandon();
  const report = reportTurn(session, done.value.id);
  return report.ok ? ok({ turn: report.value, replayed: done.value.replayed }) : report;
}

type Ending = Pick<StopInput, "turn"> & ReturnType<TurnRunner["cutShort"]>;

/** Ends the turn that is meant, whether it runs or waits in the queue. One that is over stays as it ended, which its report shows. */
function endTurn({ deps }: Session, step: Step, { turn: named, cut, bodies }: Ending): api.Outcome<{ readonly id: TurnId }> {
  const { turn: open, queue } = step.state;
  const id = named ?? open?.id;
  if (id === undefined) return err({ code: "no_turn" });
  const at = deps.clock();
  const waiting = queue.find(({ turn }) => turn === id);
  const isOver = id !== open?.id && !waiting;
  if (isOver) return readTurn(deps.sql, id) ? ok({ id }) : err({ code: "turn_not_found", turn: id });
  const ended = waiting
    ? step.execute({ type: "CancelQueued", at, message: waiting.item.id })
    : step.execute({ type: "StopTurn", at, turn: id, reason: "requested", ...cut }, bodies);
  return ended.ok ? ok({ id }) : err(ended.error);
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
