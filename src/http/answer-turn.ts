/**
 * Answers requests that start or continue a turn: with an acknowledgement, with the turn as a stream, or with the finished
 * turn.
 */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { SessionError } from "../app/session-api";
import { streamFrame } from "../contract/frame";
import type { Accepted } from "../contract/item";
import { type AcceptedView, acceptedView } from "../contract/item";
import { turnReport } from "../contract/turn";
import type { TurnId } from "../domain/ids";
import { toErrorName } from "../lib/error-name";
import { toCallersTurn } from "./access-limits";
import type { HttpEnv } from "./deps";
import { sendEvents } from "./event-stream";
import { acceptedExample, frameExample, turnExample } from "./examples/conversation";
import { idempotencyHeaders } from "./idempotency";
import { acceptsEventStream, prefersAsync } from "./negotiate";
import { sendProblem } from "./problem";
import { eventStream, json, jsonOrEvents } from "./routing";
import { counter } from "./schemas/page";
import type { SessionCalls } from "./session-calls";

const LAST_EVENT_ID = "Last-Event-ID";

export const turnHeaders = idempotencyHeaders.extend({
  Prefer: z.string().optional().openapi({ description: "respond-async: 202 as soon as the message is durable" }),
  [LAST_EVENT_ID]: counter.optional().openapi({
    description:
      "With Accept: text/event-stream: the last offset that the client has. The stream goes on after it. Sent with the same `Idempotency-Key` after a break",
  }),
});

export const turnResponses = {
  200: jsonOrEvents(
    "The turn, once it has ended, failed or waits for tools. With Accept: text/event-stream: its frames as they are produced",
    { schema: turnReport, example: turnExample, events: eventStream(streamFrame, frameExample) },
  ),
  202: json(
    "Accepted: `Prefer: respond-async` was sent, or the turn goes on and could not be awaited. GET the turn to read it",
    acceptedView,
    acceptedExample,
  ),
};

function toView({ message_id, turn_id, position, queued, cursor }: Accepted): AcceptedView {
  return { message_id, turn_id, position, queued, cursor };
}

/** Marks the answer to a repeated request. */
function markReplay(c: Context<HttpEnv>, accepted: Accepted): void {
  if (accepted.replayed) c.header("idempotent-replayed", "true");
}

/** Answers a message that was only appended. No turn runs, so the answer is complete at once. */
export function answerAppended(c: Context<HttpEnv>, accepted: Accepted): Response {
  markReplay(c, accepted);
  return c.json(toView(accepted), 201);
}

/** The message is durable, but its turn cannot be awaited or heard here: its client reads the turn later. */
const answerAccepted = (c: Context<HttpEnv>, accepted: Accepted): Response => c.json(toView(accepted), 202);

/** A turn that failed is answered with 200, too: its message is recorded, and a client that repeats the request would add it twice. */
export async function answerTurn(c: Context<HttpEnv>, calls: SessionCalls, accepted: Accepted): Promise<Response> {
  const { turn_id: turn } = accepted;
  if (turn === null) return answerAppended(c, accepted);
  markReplay(c, accepted);
  if (prefersAsync(c.req.header("prefer"))) {
    c.header("Preference-Applied", "respond-async");
    return answerAccepted(c, accepted);
  }
  try {
    return await (acceptsEventStream(c.req.header("accept")) ? answerStream : answerFinished)(c, calls, { ...accepted, turn_id: turn });
  } catch (error) {
    // The object was lost while the turn ran. It recovers the turn, whether or not a client waits.
    calls.log.warn("http.turn_not_awaited", { request_id: c.get("requestId"), turn, error: toErrorName(error) });
    return answerAccepted(c, accepted);
  }
}

type Started = Accepted & { readonly turn_id: TurnId };

async function answerFinished(c: Context<HttpEnv>, calls: SessionCalls, accepted: Started): Promise<Response> {
  const report = await calls.repeatable((api, caller) => api.waitForTurn(caller, accepted.turn_id));
  return report.ok ? c.json(toCallersTurn(c, report.value), 200) : answerUnheard(c, accepted, report.error);
}

async function answerStream(c: Context<HttpEnv>, calls: SessionCalls, accepted: Started): Promise<Response> {
  const { cursor, turn_id } = accepted;
  // The header is validated by every route that has `turnHeaders`.
  const after = Number(c.req.header(LAST_EVENT_ID) ?? cursor);
  const stream = await calls.repeatable((api, caller) => api.stream(caller, { after, turn: turn_id }));
  return stream.ok ? await sendEvents(c, stream.value) : answerUnheard(c, accepted, stream.error);
}

/** Only a session that was erased in the meantime has no message any more. */
const answerUnheard = (c: Context<HttpEnv>, accepted: Accepted, error: SessionError): Response =>
  error.code === "session_erased" || error.code === "session_not_found" ? sendProblem(c, error) : answerAccepted(c, accepted);
