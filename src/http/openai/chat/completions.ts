/** `POST /v1/chat/completions`: OpenAI's chat completions, over the session that `X-Session-Id` names or one for the request alone. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Schedule } from "../../../app/session-ports";
import type { FieldError } from "../../../contract/problem";
import { parseId, type SessionId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import { readPrincipal, requireScope } from "../../auth";
import { readLongBody } from "../../body";
import type { HttpDeps, HttpEnv } from "../../deps";
import { sendEvents } from "../../event-stream";
import { type HttpError, sendProblem } from "../../problem";
import { type SessionCalls, sessionClient } from "../../session-calls";
import { findTools } from "../../session-tools";
import { refuseStream } from "../../stream-limits";
import { setCompactedHeader } from "../../surface/applied-edits";
import { readAttempt } from "../../surface/attempts";
import { isAside, readClientWords } from "../../surface/beside";
import { toLegName } from "../../surface/ids";
import { noteIgnored, readKnown } from "../../surface/ignored";
import { readRecordedLeg } from "../../surface/leg";
import { SESSION_HEADER, startIn, startInNamed } from "../../surface/named-session";
import { whileHeard } from "../../surface/on-disconnect";
import { openLegToTell, type StartedLeg } from "../../surface/started-leg";
import { createLegTranslator } from "../../surface/tell-leg";
import { prepareThrowaway, whenOver } from "../../surface/throwaway";
import { translateStream } from "../../surface/translate-stream";
import { startAlone } from "./alone";
import { readAsked, readChatTools } from "./asked";
import { ChunkTeller } from "./frames";
import { type CompletionInput, completionInput } from "./input";
import { readChatMessages } from "./messages";
import { toCompletion } from "./report";
import { type ChatRequest, startCompletion } from "./session";
import type { CompletionHead } from "./shape";

const EPOCH_HEADER = "X-Session-Epoch";
const SHOULD_RETRY = "x-should-retry";

export function registerChatCompletions(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.post("/v1/chat/completions", requireScope("sessions:write", null), readLongBody, (c) => complete(c, deps));
}

const toInvalid = (errors: readonly FieldError[]) => ({ code: "invalid_request" as const, errors });
const invalid = (errors: readonly FieldError[]) => err(toInvalid(errors));

interface ReadBody {
  readonly body: CompletionInput;
  readonly request: ChatRequest;
}

async function readRequest(c: Context<HttpEnv>, deps: HttpDeps): Promise<Result<ReadBody, HttpError>> {
  const parsed = await readKnown(c, completionInput);
  if (!parsed.ok) return parsed;
  const body = parsed.value;
  if (body.web_search_options) noteIgnored(c, ["web_search_options"]);
  const attempt = await readAttempt(c, deps);
  if (!attempt.ok) return attempt;
  const [messages, asked, named] = [readChatMessages(body.messages), readAsked(body), readChatTools(body)];
  if (!messages.ok) return invalid(messages.error);
  if (!asked.ok) return invalid(asked.error);
  if (!named.ok) return invalid(named.error);
  const tools = await findTools(deps, readPrincipal(c).tenant, named.value);
  if (!tools.ok) return tools;
  const sent = { idempotency: attempt.value, isStreamed: body.stream === true, client: readClientWords(c) };
  return ok({ body, request: { messages: messages.value, asked: asked.value, tools: tools.value, ...sent } });
}

async function complete(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const read = await readRequest(c, deps);
  if (!read.ok) return sendProblem(c, read.error);
  const full = read.value.body.stream ? await refuseStream(c, deps) : null;
  if (full) return sendProblem(c, full);
  const { body, request } = read.value;
  const start = (session: SessionId) => startCompletion(c, deps, { calls: sessionClient(deps, c, session), session, request });
  const named = readMetadataSession(c, read.value);
  const started = named ? await startIn(c, named, start) : await startInNamed(c, deps, { model: body.model, tools: request.tools }, start);
  if (!started.ok) return refuse(c, started.error);
  return started.value ? completeInSession(c, deps, { ...read.value, ...started.value }) : completeAlone(c, deps, read.value);
}

/** Null: the body names none of ours, or the header goes before it. */
function readMetadataSession(c: Context<HttpEnv>, { body: { metadata }, request: { tools, client } }: ReadBody): SessionId | null {
  const named = metadata?.session_id;
  if (named === undefined || c.req.header(SESSION_HEADER) !== undefined) return null;
  const session = isAside(client, tools) ? null : parseId("ses", named);
  if (!session) noteIgnored(c, ["metadata.session_id"]);
  return session;
}

const LOST = {
  session: "The connection to the conversation was lost. Its turn goes on: send the same request again to get the answer.",
  alone: "The connection was lost, and nothing of the request is kept. Send it again to get an answer.",
} as const;

async function completeInSession(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { body, request, session, started: leg }: ReadBody & { readonly session: SessionId; readonly started: StartedLeg },
): Promise<Response> {
  const calls = sessionClient(deps, c, session);
  c.header(EPOCH_HEADER, String(leg.epoch));
  if (!request.idempotency) c.header(SHOULD_RETRY, "false");
  if (leg.replayed) c.header("idempotent-replayed", "true");
  const answering = { calls, leg, body, head: toHead(deps, leg, body), lost: LOST.session, wait: null };
  const response = await whileHeard(c, { calls, turn: leg.turn }, () => answer(c, answering));
  // The turn is recorded. An SDK that sent its request again would only wait for it. Where the answer breaks off, it may.
  response.headers.set(SHOULD_RETRY, "false");
  return response;
}

/** Nothing of the request is kept, so that a client may send it again. */
async function completeAlone(c: Context<HttpEnv>, deps: HttpDeps, { body, request }: ReadBody): Promise<Response> {
  const last = request.messages.at(-1);
  if (last?.role === "assistant")
    return sendProblem(c, toInvalid([{ field: `${last.field}.role`, detail: "must be user or tool in the last message" }]));
  const prepared = await prepareThrowaway(c, deps, { model: body.model });
  if (!prepared.ok) return sendProblem(c, prepared.error);
  const alone = prepared.value;
  const { calls, discard } = alone;
  let isStreaming = false;
  try {
    const started = await startAlone(c, deps, { alone, request, edit: body.context_management?.[0]?.type });
    if (!started.ok) return sendProblem(c, started.error);
    const leg = started.value;
    const response = await answer(c, { calls, leg, body, head: toHead(deps, leg, body), lost: LOST.alone, wait: deps.schedule });
    if (!body.stream || !response.ok || !response.body) return response;
    isStreaming = true;
    return new Response(whenOver(response.body, discard), response);
  } finally {
    if (!isStreaming) discard();
  }
}

const toHead = ({ now }: HttpDeps, leg: StartedLeg, { model }: CompletionInput): CompletionHead => ({
  id: toLegName("chatcmpl-", { ...leg, leg: leg.continues ? leg.after : 1 }),
  created: Math.floor(now() / 1_000),
  model,
});

function refuse(c: Context<HttpEnv>, error: HttpError): Response {
  if (error.code === "turn_running" || error.code === "queue_full") c.header("retry-after", "1");
  return sendProblem(c, error);
}

interface Answering {
  readonly calls: SessionCalls;
  readonly leg: StartedLeg;
  readonly body: CompletionInput;
  readonly head: CompletionHead;
  /** What is true of an answer that cannot be told to its end. */
  readonly lost: string;
  /** Waits for the model's first word, so that a refusal has its status. Null: the stream begins at once. */
  readonly wait: Schedule | null;
}

async function answer(c: Context<HttpEnv>, answering: Answering): Promise<Response> {
  const { calls, leg, body, head, lost, wait } = answering;
  if (!body.stream) return answerWhole(c, answering);
  const stream = await openLegToTell(calls, leg, wait);
  if (!stream.ok) return sendProblem(c, stream.error);
  if (stream.value === null) return answerWhole(c, answering);
  const teller = new ChunkTeller({ head, includesUsage: body.stream_options?.include_usage ?? false, lost });
  const readRecord = () => readRecordedLeg(calls, leg);
  const translator = createLegTranslator({ teller, readRecord, isPast: leg.cursor === null, readsEnd: leg.edit !== undefined });
  return sendEvents(c, translateStream(stream.value, translator));
}

async function answerWhole(c: Context<HttpEnv>, { calls, leg, head }: Answering): Promise<Response> {
  const read = await readRecordedLeg(calls, leg);
  if (!read.ok) return sendProblem(c, read.error);
  const completion = toCompletion(read.value, head);
  if (!completion.ok) return c.json({ error: completion.error.error }, completion.error.status);
  setCompactedHeader(c, read.value.edits);
  return c.json(completion.value);
}
