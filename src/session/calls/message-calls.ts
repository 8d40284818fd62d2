/** Messages and results in, stops and retries: each one transaction, remembered under its idempotency key. */

import { draftItem, draftText } from "../../app/drafts";
import type * as api from "../../app/session-api";
import { policyOf } from "../../context/policy-choice";
import { truncateToolResult } from "../../context/tool-results";
import type { Command, ToolResultDraft } from "../../domain/commands";
import type { StoredEvent } from "../../domain/events";
import type { ItemId, TurnId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { err, ok } from "../../lib/result";
import type { NewBody } from "../log/bodies";
import { recall, remember } from "../log/idempotency";
import { readNewest } from "../log/log-tables";
import type { SessionRuntime } from "../runtime";
import { reportTurn } from "./turn-report";

/** Messages that may wait for their turn. */
export const QUEUE_LIMIT = 32;

interface Asked {
  readonly command: Command;
  readonly bodies: readonly NewBody[];
  readonly idempotency: api.Idempotency | null;
  /** The acknowledgement, from what was appended. */
  readonly accept: (events: readonly StoredEvent[]) => Omit<api.Accepted, "replayed" | "cursor">;
}

/** Looks the key up, executes, remembers: one transaction, so that a key never leads to two outcomes. */
function acknowledge(runtime: SessionRuntime, asked: Asked): api.Outcome<api.Accepted> {
  const { sql, clock } = runtime.deps;
  const seen = recall(sql, asked.idempotency, clock());
  if (seen.kind === "conflict") return err({ code: "idempotency_conflict" });
  if (seen.kind === "seen") return ok(seen.accepted);
  const cursor = runtime.buffer.offset;
  runtime.content.learn(asked.bodies);
  return runtime.store.transact((step) => {
    const executed = step.execute(asked.command, asked.bodies);
    if (!executed.ok) return err(executed.error);
    const accepted: api.Accepted = { ...asked.accept(executed.value), replayed: false, cursor };
    remember(sql, asked.idempotency, { accepted, now: clock() });
    return ok(accepted);
  });
}

export function submitMessage(runtime: SessionRuntime, input: api.SubmitInput): api.Outcome<api.Accepted> {
  const { clock, ids, incarnation } = runtime.deps;
  const at = clock();
  const turn = input.run ? ids.newId("trn") : null;
  const { draft, body } = draftItem({ kind: input.role, parts: input.parts, turn, at }, ids);
  const tools = draftText(input.tools ? JSON.stringify(input.tools) : null, ids);
  const { partial, bodies } = input.onBusy === "interrupt" ? runtime.draftPartial() : { partial: null, bodies: [] };
  const message = { item: draft, turn, tools: tools.ref };
  const command = { type: "SubmitMessage", at, message, onBusy: input.onBusy, incarnation, queueLimit: QUEUE_LIMIT, partial } as const;
  const accept: Asked["accept"] = (events) => {
    const position = positionOf(events, draft.id);
    return { message_id: draft.id, turn_id: turn, position, queued: position === null };
  };
  const running = runtime.state.turn?.id;
  const kept = partial && runtime.state.turn?.phase === "generating" ? bodies : [];
  const accepted = acknowledge(runtime, { command, bodies: [body, ...tools.bodies, ...kept], idempotency: input.idempotency, accept });
  if (running && runtime.state.turn?.id !== running) runtime.abandonLive();
  return accepted;
}

function positionOf(events: readonly StoredEvent[], id: ItemId): number | null {
  for (const event of events) {
    if (event.type === "TurnStarted" && event.item?.id === id) return event.item.position;
    if (event.type === "MessagesAppended") return event.items.find((item) => item.id === id)?.position ?? null;
  }
  return null;
}

export function cancelQueued(runtime: SessionRuntime, message: ItemId): api.Outcome<null> {
  const cancelled = runtime.execute({ type: "CancelQueued", at: runtime.deps.clock(), message });
  return cancelled.ok ? ok(null) : err(cancelled.error);
}

export function submitToolResults(runtime: SessionRuntime, input: Parameters<api.SessionApi["toolResults"]>[1]): api.Outcome<api.Accepted> {
  const { clock, ids, incarnation } = runtime.deps;
  const { turn, settings } = runtime.state;
  const limit = policyOf(settings.policy).results.max_chars;
  const at = clock();
  const names = namesOf(runtime);
  const drafted = input.results.map((result) => {
    const known = names(result);
    const part = {
      type: "tool_result",
      call_id: known.call_id,
      name: known.name,
      output: truncateToolResult(result.output, limit),
      is_error: result.is_error,
    } as const;
    const { draft, body } = draftItem({ kind: "tool_result", parts: [part], turn: turn?.id ?? null, at }, ids);
    const { execution_id, call_id, is_error } = result;
    return { result: { execution: execution_id, call_id, item: draft, is_error } satisfies ToolResultDraft, body };
  });
  const [first] = drafted;
  if (!first) return err({ code: "invalid", field: "results", detail: "must not be empty" });
  const command = { type: "RecordToolResults", at, incarnation, results: drafted.map((entry) => entry.result) } as const;
  const accept: Asked["accept"] = (events) => {
    const recorded = events.find((event) => event.type === "ToolResultRecorded");
    return { message_id: first.result.item.id, turn_id: turn?.id ?? null, position: recorded?.item.position ?? null, queued: false };
  };
  return acknowledge(runtime, { command, bodies: drafted.map((entry) => entry.body), idempotency: input.idempotency, accept });
}

/** The open call that a result answers, as the results before it leave it: the provider's ids may repeat. */
function namesOf(runtime: SessionRuntime): (result: api.ToolResultInput) => { call_id: string; name: string } {
  const open = [...(runtime.state.turn?.open_calls ?? [])];
  return (result) => {
    const at = open.findIndex((call) => (result.execution_id ? call.execution === result.execution_id : call.call_id === result.call_id));
    const [call] = at < 0 ? [] : open.splice(at, 1);
    return { call_id: call?.call_id ?? result.call_id ?? "", name: call?.name ?? "" };
  };
}

export function stopTurn(runtime: SessionRuntime): api.Outcome<api.TurnReport> {
  const { turn } = runtime.state;
  if (!turn) return err({ code: "no_turn" });
  const { partial, bodies } = runtime.draftPartial();
  const stopped = runtime.execute({ type: "StopTurn", at: runtime.deps.clock(), turn: turn.id, reason: "requested", partial }, bodies);
  if (!stopped.ok) return err(stopped.error);
  runtime.abandonLive();
  return reportTurn(runtime, turn.id);
}

/** The newest message of the user: in the view, or, when it has left it, in the record. */
function lastAsked({ state, deps }: SessionRuntime): ItemMeta | null {
  const shown = state.view.items.findLast((item) => item.kind === "user");
  return shown ?? readNewest(deps.sql, "user");
}

export function retryTurn(runtime: SessionRuntime, input: { readonly idempotency: api.Idempotency | null }): api.Outcome<api.Accepted> {
  const { clock, ids, incarnation } = runtime.deps;
  const turn: TurnId = ids.newId("trn");
  const message = lastAsked(runtime);
  if (!message) return err({ code: "no_turn" });
  const command = { type: "RetryTurn", at: clock(), turn, incarnation } as const;
  const accept: Asked["accept"] = () => ({ message_id: message.id, turn_id: turn, position: message.position, queued: false });
  return acknowledge(runtime, { command, bodies: [], idempotency: input.idempotency, accept });
}
