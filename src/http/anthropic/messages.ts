/** `POST /v1/messages`: the Anthropic API, over the session that `X-Session-Id` names, or over one that lasts for the request alone. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import type { Schedule } from "../../app/session-ports";
import type { SessionId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import { readPrincipal, requireScope } from "../auth";
import { readLongBody } from "../body";
import type { HttpDeps, HttpEnv } from "../deps";
import { sendEvents } from "../event-stream";
import { type HttpError, sendProblem } from "../problem";
import { type SessionCalls, sessionClient } from "../session-calls";
import { findTools } from "../session-tools";
import { refuseStream } from "../stream-limits";
import { setCompactedHeader } from "../surface/applied-edits";
import { readAttempt } from "../surface/attempts";
import { readClientWords } from "../surface/beside";
import { toLegName } from "../surface/ids";
import { noteIgnored } from "../surface/ignored";
import { readRecordedLeg } from "../surface/leg";
import { startInNamed } from "../surface/named-session";
import { whileHeard } from "../surface/on-disconnect";
import { openLegToTell, type StartedLeg } from "../surface/started-leg";
import { createLegTranslator } from "../surface/tell-leg";
import { prepareThrowaway, whenOver } from "../surface/throwaway";
import { translateStream } from "../surface/translate-stream";
import { startMessageAlone } from "./alone";
import { listServerTools } from "./asked-with";
import { countTokens } from "./count-tokens";
import { MessageTeller } from "./message-frames";
import { toWholeMessage } from "./message-report";
import type { MessageHead } from "./message-shape";
import { findFaults, parseRequest, readCopy } from "./read-copy";
import { messageBody } from "./request-body";
import { type MessageRequest, startMessage } from "./session";
import { toErrorBody } from "./turn-fault";

const SHOULD_RETRY = "x-should-retry";
const path = "/v1/messages";

export function registerAnthropic(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.post(path, requireScope("sessions:write", null), requireVersion, readLongBody, (c) => postMessage(c, deps));
  app.post(`${path}/count_tokens`, requireScope("sessions:read", null), requireVersion, readLongBody, (c) => countTokens(c, deps));
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

async function readRequest(c: Context<HttpEnv>, deps: HttpDeps): Promise<Result<MessageRequest, HttpError>> {
  const parsed = parseRequest(messageBody, await c.req.json(), (unknown) => noteIgnored(c, unknown));
  if (!parsed.ok) return parsed;
  const attempt = await readAttempt(c, deps);
  if (!attempt.ok) return attempt;
  const read = readCopy(parsed.value);
  if (!read.ok) return read;
  noteIgnored(c, listServerTools(parsed.value.tools));
  const tools = await findTools(deps, readPrincipal(c).tenant, read.value.tools);
  if (!tools.ok) return tools;
  const { messages } = read.value;
  return ok({ body: parsed.value, messages, tools: tools.value, idempotency: attempt.value, client: readClientWords(c) });
}

async function postMessage(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const read = await readRequest(c, deps);
  if (!read.ok) return sendProblem(c, read.error);
  const full = read.value.body.stream ? await refuseStream(c, deps) : null;
  if (full) return sendProblem(c, full);
  const { body, tools } = read.value;
  const start = (session: SessionId) => startMessage(c, deps, { calls: sessionClient(deps, c, session), session, request: read.value });
  const started = await startInNamed(c, deps, { model: body.model, tools }, start);
  if (!started.ok) return refuse(c, started.error);
  return started.value ? answerIn(c, deps, { request: read.value, ...started.value }) : answerAlone(c, deps, read.value);
}

const LOST = {
  session: "The connection to the conversation was lost. Its turn goes on: the conversation will have the answer.",
  alone: "The connection was lost, and nothing of the request is kept. Send it again to get an answer.",
} as const;

/** A turn of the session that the client names. */
async function answerIn(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { request, session, started }: { readonly request: MessageRequest; readonly session: SessionId; readonly started: StartedLeg },
): Promise<Response> {
  // The SDK sends a request that failed again, which would add its messages twice.
  if (!request.idempotency) c.header(SHOULD_RETRY, "false");
  if (started.replayed) c.header("idempotent-replayed", "true");
  const calls = sessionClient(deps, c, session);
  return whileHeard(c, { calls, turn: started.turn }, () => answer(c, { calls, request, leg: started, lost: LOST.session, wait: null }));
}

/** A request without a session brings its whole conversation. Nothing of it is kept, so that the SDK may send it again. */
async function answerAlone(c: Context<HttpEnv>, deps: HttpDeps, request: MessageRequest): Promise<Response> {
  const fault = findFaults(request.messages);
  if (fault) return sendProblem(c, fault);
  const prepared = await prepareThrowaway(c, deps, { model: request.body.model });
  if (!prepared.ok) return sendProblem(c, prepared.error);
  const { calls, discard } = prepared.value;
  let isStreaming = false;
  try {
    const started = await startMessageAlone(c, deps, { alone: prepared.value, request });
    if (!started.ok) return sendProblem(c, started.error);
    const response = await answer(c, { calls, request, leg: started.value, lost: LOST.alone, wait: deps.schedule });
    if (!request.body.stream || !response.ok || !response.body) return response;
    isStreaming = true;
    return new Response(whenOver(response.body, discard), response);
  } finally {
    if (!isStreaming) discard();
  }
}

interface Answering {
  readonly calls: SessionCalls;
  readonly request: MessageRequest;
  readonly leg: StartedLeg;
  /** What is true of an answer that cannot be told to its end. */
  readonly lost: string;
  /** Waits for the model's first word, so that a refusal has its status. Null: the stream begins at once. */
  readonly wait: Schedule | null;
}

function toHead({ request: { body }, leg }: Answering): MessageHead {
  const omitsThinking = body.thinking?.type !== "disabled" && body.thinking?.display === "omitted";
  return { id: toLegName("msg_", { ...leg, leg: leg.continues ? leg.after : 1 }), model: body.model, omitsThinking };
}

async function answer(c: Context<HttpEnv>, answering: Answering): Promise<Response> {
  const { calls, request, leg, lost, wait } = answering;
  if (!request.body.stream) return answerWhole(c, answering);
  const stream = await openLegToTell(calls, leg, wait);
  if (!stream.ok) return sendProblem(c, stream.error);
  if (stream.value === null) return answerWhole(c, answering);
  const teller = new MessageTeller({ head: toHead(answering), requestId: c.get("requestId"), lost });
  const readRecord = () => readRecordedLeg(calls, leg);
  const translator = createLegTranslator({ teller, readRecord, isPast: leg.cursor === null, readsEnd: leg.edit !== undefined });
  return sendEvents(c, translateStream(stream.value, translator));
}

async function answerWhole(c: Context<HttpEnv>, answering: Answering): Promise<Response> {
  const read = await readRecordedLeg(answering.calls, answering.leg);
  if (!read.ok) return sendProblem(c, read.error);
  const message = toWholeMessage(read.value, toHead(answering));
  if (message.ok) setCompactedHeader(c, read.value.edits);
  if (message.ok) return c.json(message.value);
  const { status, ...error } = message.error;
  // The turn is over. A session keeps its failure, and only its client knows whether to ask again.
  if (answering.lost === LOST.session) c.header(SHOULD_RETRY, "false");
  return c.json(toErrorBody(error, c.get("requestId")), status);
}

function refuse(c: Context<HttpEnv>, error: HttpError): Response {
  if (error.code === "turn_running" || error.code === "queue_full") c.header("retry-after", "1");
  return sendProblem(c, error);
}
