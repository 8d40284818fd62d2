/** `POST /v1/messages`: the Anthropic API, over the session that `X-Session-Id` names, or over one that lasts for the request alone. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import type { RespondInput } from "../../app/respond-api";
import type { Accepted } from "../../contract/item";
import { parseId, type SessionId, type TurnId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import { requireScope } from "../auth";
import { readLongBody } from "../body";
import type { HttpDeps, HttpEnv } from "../deps";
import { sendEvents } from "../event-stream";
import { type HttpError, sendProblem } from "../problem";
import { type SessionCalls, sessionClient } from "../session-calls";
import { ofNamedModel } from "../session-model";
import { findAnswering, readAttempt } from "../surface/attempts";
import { toLegName } from "../surface/ids";
import { sendInLine } from "../surface/in-line";
import { readLegUsage } from "../surface/leg-usage";
import { type PreparedThrowaway, prepareThrowaway, whenOver } from "../surface/throwaway";
import { translateStream } from "../surface/translate-stream";
import { buildRespond, toTheirError } from "./build-respond";
import { countTokens } from "./count-tokens";
import { createMessageTranslator } from "./message-frames";
import { toWholeMessage } from "./message-report";
import type { MessageHead } from "./message-shape";
import { parseRequest, readAdded } from "./read-request";
import { type MessageBody, messageBody } from "./request-body";
import { toErrorBody } from "./turn-fault";

const SESSION_HEADER = "X-Session-Id";
const SHOULD_RETRY = "x-should-retry";
const path = "/v1/messages";

export function registerAnthropic(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.post(path, requireScope("sessions:write", null), requireVersion, readLongBody, (c) => postMessage(c, deps));
  app.post(`${path}/count_tokens`, requireScope("sessions:read", null), requireVersion, readLongBody, (c) =>
    countTokens(c, deps, SESSION_HEADER),
  );
}

/** For every path of the Anthropic API, refusals included. */
export const nameRequest: MiddlewareHandler<HttpEnv> = async (c, next) => {
  await next();
  c.header("request-id", c.get("requestId"));
};

const VERSION = /^20\d\d-\d\d-\d\d$/;
const requireVersion: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const version = c.req.header("anthropic-version");
  if (version !== undefined && VERSION.test(version)) return await next();
  const detail = version === undefined ? "header is required, such as 2023-06-01" : "not a version";
  return sendProblem(c, { code: "invalid_request", errors: [{ field: "anthropic-version", detail }] });
};

/** A leg that has begun. */
interface Started {
  readonly session: SessionId;
  readonly turn: TurnId;
  /** Null: the stream begins with the turn. */
  readonly cursor: number | null;
  /** The position behind which the leg's items are. */
  readonly after: number;
  readonly leg: number;
}

interface Request {
  readonly c: Context<HttpEnv>;
  readonly deps: HttpDeps;
  readonly body: MessageBody;
}

async function postMessage(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const parsed = parseRequest(messageBody, await c.req.json());
  if (!parsed.ok) return sendProblem(c, parsed.error);
  const request = { c, deps, body: parsed.value };
  const given = c.req.header(SESSION_HEADER);
  if (given === undefined) return answerAlone(request);
  const session = parseId("ses", given);
  return session ? answerIn(request, session) : sendProblem(c, { code: "session_not_found" });
}

/** A turn of the session that the client names. */
async function answerIn({ c, deps, body }: Request, session: SessionId): Promise<Response> {
  const attempt = await readAttempt(c, deps);
  if (!attempt.ok) return sendProblem(c, attempt.error);
  const idempotency = attempt.value;
  const built = await buildRespond(c, deps, { body, session, idempotency, isThrowaway: false });
  if (!built.ok) return sendProblem(c, built.error);
  const { input } = built.value;
  const calls = sessionClient(deps, c, session);
  const send = idempotency ? calls.repeatable : calls.once;
  const accepted = await sendInLine({ calls, schedule: deps.schedule }, () => send((api, caller) => api.respond(caller, input)));
  if (!accepted.ok) return refuse(c, toTheirError(ofNamedModel(accepted.error, body), built.value));
  // The SDK sends a request that failed again, which would add its messages twice.
  if (!idempotency) c.header(SHOULD_RETRY, "false");
  c.header(SESSION_HEADER, session);
  const begun = toStarted(session, accepted.value, input);
  const started = accepted.value.replayed && idempotency?.attempt ? await findAgain(calls, accepted.value, begun) : ok(begun);
  return started.ok ? answer({ c, calls, body, started: started.value }) : sendProblem(c, started.error);
}

/** The session has the request already. */
async function findAgain(calls: SessionCalls, accepted: Accepted, begun: Started): Promise<Result<Started, HttpError>> {
  const found = await findAnswering(calls, accepted);
  if (!found.ok) return found;
  const { turn, cursor, isAnew } = found.value;
  return ok({ ...begun, turn, cursor, ...(isAnew && { leg: 1 }) });
}

/** A request without a session brings its whole conversation. Nothing of it is kept, so that the SDK may send it again. */
async function answerAlone(request: Request): Promise<Response> {
  const { c, deps, body } = request;
  const read = readAdded(body, 0);
  if (!read.ok) return sendProblem(c, read.error);
  const prepared = await prepareThrowaway(c, deps, { model: body.model });
  if (!prepared.ok) return sendProblem(c, prepared.error);
  const { discard } = prepared.value;
  let isStreaming = false;
  try {
    const response = await answerOnce(request, prepared.value);
    if (!body.stream || !response.ok || !response.body) return response;
    isStreaming = true;
    return new Response(whenOver(response.body, discard), response);
  } finally {
    if (!isStreaming) discard();
  }
}

async function answerOnce({ c, deps, body }: Request, { session, calls, begin }: PreparedThrowaway): Promise<Response> {
  const built = await buildRespond(c, deps, { body, session, idempotency: null, isThrowaway: true });
  if (!built.ok) return sendProblem(c, built.error);
  const { input } = built.value;
  const accepted = await begin(input);
  if (!accepted.ok) return sendProblem(c, toTheirError(ofNamedModel(accepted.error, body), built.value));
  return answer({ c, calls, body, started: { ...toStarted(session, accepted.value, input), leg: 1 } });
}

function toStarted(session: SessionId, { turn_id, cursor, position }: Accepted, { results, messages }: RespondInput): Started {
  if (turn_id === null) throw new TypeError("a request that runs has a turn");
  const continues = results.length > 0 && messages.length === 0;
  const after = position ?? 0;
  return { session, turn: turn_id, cursor, after, leg: continues ? after : 1 };
}

interface Answering {
  readonly c: Context<HttpEnv>;
  readonly calls: SessionCalls;
  readonly body: MessageBody;
  readonly started: Started;
}

async function answer({ c, calls, body, started }: Answering): Promise<Response> {
  const { turn, cursor } = started;
  const omitsThinking = body.thinking?.type !== "disabled" && body.thinking?.display === "omitted";
  const head = { id: toLegName("msg_", started), model: body.model, omitsThinking };
  if (!body.stream) return answerWhole({ c, calls, head, started });
  const stream = await calls.repeatable((api, caller) => api.stream(caller, { after: cursor, turn }));
  if (!stream.ok) return sendProblem(c, stream.error);
  return sendEvents(c, translateStream(stream.value, createMessageTranslator(head, c.get("requestId"))));
}

interface Whole extends Omit<Answering, "body"> {
  readonly head: MessageHead;
}

async function answerWhole({ c, calls, head, started: { turn, after } }: Whole): Promise<Response> {
  const report = await calls.repeatable((api, caller) => api.waitForTurn(caller, turn));
  if (!report.ok) return sendProblem(c, report.error);
  const usage = await readLegUsage(calls, report.value, after);
  const message = toWholeMessage(report.value, { head, after, usage });
  if (message.ok) return c.json(message.value);
  const { status, ...error } = message.error;
  // The turn is over. A session keeps its failure, and only its client knows whether to ask again.
  if (c.req.header(SESSION_HEADER) !== undefined) c.header(SHOULD_RETRY, "false");
  return c.json(toErrorBody(error, c.get("requestId")), status);
}

function refuse(c: Context<HttpEnv>, error: HttpError): Response {
  if (error.code === "turn_running" || error.code === "queue_full") c.header("retry-after", "1");
  return sendProblem(c, error);
}
