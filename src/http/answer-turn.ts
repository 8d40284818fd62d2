/**
 * Answers requests that start or continue a turn: with an acknowledgement, with the turn as a stream, or with the finished
 * turn.
 */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { streamFrame } from "../contract/frame";
import type { Accepted } from "../contract/item";
import { type AcceptedView, acceptedView } from "../contract/item";
import { turnReport } from "../contract/turn";
import type { TurnId } from "../domain/ids";
import type { HttpEnv } from "./deps";
import { sendEvents } from "./event-stream";
import { acceptedExample, frameExample, turnExample } from "./examples/conversation";
import { idempotencyHeaders } from "./idempotency";
import { acceptsEventStream, prefersAsync } from "./negotiate";
import { sendProblem } from "./problem";
import { eventStream, json, jsonOrEvents } from "./routing";
import type { SessionCalls } from "./session-calls";

export const turnHeaders = idempotencyHeaders.extend({
  Prefer: z.string().optional().openapi({ description: "respond-async: 202 as soon as the message is durable" }),
});

export const turnResponses = {
  200: jsonOrEvents("The turn, once it has ended or waits for tools. With Accept: text/event-stream: its frames as they are produced", {
    schema: turnReport,
    example: turnExample,
    events: eventStream(streamFrame, frameExample),
  }),
  202: json("Accepted (Prefer: respond-async)", acceptedView, acceptedExample),
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

async function answerFinished(c: Context<HttpEnv>, calls: SessionCalls, turn: TurnId): Promise<Response> {
  const report = await calls.repeatable((api, caller) => api.waitForTurn(caller, turn));
  if (!report.ok) return sendProblem(c, report.error);
  const { status, failure } = report.value;
  if (status === "failed" && failure) return sendProblem(c, { code: "turn_failed", failure, turn: report.value });
  return c.json(report.value, 200);
}

export async function answerTurn(c: Context<HttpEnv>, calls: SessionCalls, accepted: Accepted): Promise<Response> {
  const { turn_id: turn, cursor } = accepted;
  if (turn === null) return answerAppended(c, accepted);
  markReplay(c, accepted);
  if (prefersAsync(c.req.header("prefer"))) {
    return c.json(toView(accepted), 202, { "Preference-Applied": "respond-async" });
  }
  if (!acceptsEventStream(c.req.header("accept"))) return await answerFinished(c, calls, turn);
  const stream = await calls.repeatable((api, caller) => api.stream(caller, { after: cursor, turn }));
  return stream.ok ? await sendEvents(c, stream.value) : sendProblem(c, stream.error);
}
