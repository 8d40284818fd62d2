/** OpenAI's responses over HTTP. A response is a turn of a session, up to its end or to its wait for the client's tools. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { requireScope } from "../../auth";
import { readLongBody } from "../../body";
import type { HttpDeps, HttpEnv } from "../../deps";
import { sendEvents } from "../../event-stream";
import { readIdempotencyKey } from "../../idempotency";
import { type HttpError, sendProblem } from "../../problem";
import { refuseStream } from "../../stream-limits";
import { readAppliedEdits, setCompactedHeader } from "../../surface/applied-edits";
import { readAttempt } from "../../surface/attempts";
import { readClientWords } from "../../surface/beside";
import { noteIgnored } from "../../surface/ignored";
import { noteUnused, SESSION_HEADER, startInNamed } from "../../surface/named-session";
import { whileHeard } from "../../surface/on-disconnect";
import { openThrowaway, whenOver } from "../../surface/throwaway";
import { translateStream } from "../../surface/translate-stream";
import { openEvents, readWhole } from "./answer-response";
import { startContinued } from "./continued";
import { startFromInput } from "./in-session";
import type { ResponseBody } from "./input";
import { openInput, parseResponseRequest } from "./request";
import { toErrorAnswer } from "./resource";
import type { ResponseAsking, StartedResponse } from "./start-response";
import { createResponseTranslator } from "./translator";

/** By the `user-agent` of its packages, of every version. */
const AI_SDK = /\bai-sdk[/-]/;
const PATH = "/v1/responses";
/** Names the stored response of an answer that is an error, so that it can be read and deleted. */
const RESPONSE_HEADER = "X-Response-Id";

export function registerResponses(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.post(PATH, requireScope("sessions:write", null), readLongBody, (c) => create(c, deps));
}

async function create(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const given = await openInput(c, deps, await c.req.json());
  if (!given.ok) return sendProblem(c, given.error);
  const parsed = parseResponseRequest(given.value);
  if (!parsed.ok) return sendProblem(c, parsed.error);
  noteIgnored(c, parsed.value.unknown);
  const key = readIdempotencyKey(c);
  if (!key.ok) return sendProblem(c, key.error);
  const full = parsed.value.body.stream ? await refuseStream(c, deps) : null;
  if (full) return sendProblem(c, full);
  const openUnstored = (asked: { readonly model: string | undefined }) => openThrowaway(c, deps, asked);
  const attempt = await readAttempt(c, deps);
  if (!attempt.ok) return sendProblem(c, attempt.error);
  const idempotency = attempt.value;
  const named = { key: key.value, idempotency, isStreamed: parsed.value.body.stream === true };
  const inSession = await answerInSession(c, deps, { request: parsed.value, ...named });
  if (inSession) return inSession;
  const { request, started } = await startContinued({ c, deps, request: parsed.value, ...named, openUnstored });
  const { body, place } = request;
  if (!started.ok) return refuse(c, started.error);
  // The request is recorded. One that cannot be told from another would be added twice.
  const isKnown = place.kind === "nothing" ? key.value !== undefined : idempotency !== null;
  if (!isKnown && body.store !== false) c.header("x-should-retry", "false");
  // A response that is not stored ends with its client in any case, and one in the background never does.
  if (body.store === false || body.background) return send(c, body, started.value);
  return sendHeard(c, body, started.value);
}

const send = (c: Context<HttpEnv>, { stream }: ResponseBody, started: StartedResponse): Promise<Response> =>
  stream ? sendStream(c, started) : sendWhole(c, started);

const sendHeard = (c: Context<HttpEnv>, body: ResponseBody, started: StartedResponse): Promise<Response> =>
  whileHeard(c, { calls: started.calls, turn: started.leg.turn }, () => send(c, body, started));

type Named = Pick<ResponseAsking, "request" | "idempotency" | "isStreamed">;

/** Null: the request goes on without the session that its header names. A place in its body goes before the header. */
async function answerInSession(c: Context<HttpEnv>, deps: HttpDeps, asked: Named): Promise<Response | null> {
  const { body, place, tools } = asked.request;
  if (place.kind !== "nothing") {
    if (c.req.header(SESSION_HEADER) !== undefined) noteUnused(c);
    return null;
  }
  const client = readClientWords(c);
  const named = { model: body.model ?? undefined, tools };
  const started = await startInNamed(c, deps, named, (session) => startFromInput(c, deps, { ...asked, session, client }));
  if (!started.ok) return refuse(c, started.error);
  if (started.value === null) return null;
  if (!asked.idempotency) c.header("x-should-retry", "false");
  return body.background ? send(c, body, started.value.started) : sendHeard(c, body, started.value.started);
}

function refuse(c: Context<HttpEnv>, error: HttpError): Response {
  if (error.code === "turn_running" || error.code === "queue_full") c.header("retry-after", "1");
  return sendProblem(c, error);
}

async function sendWhole(c: Context<HttpEnv>, started: StartedResponse): Promise<Response> {
  try {
    const whole = await readWhole(started);
    if (!whole.ok) return sendProblem(c, whole.error);
    const { error } = whole.value;
    if (error) {
      const { status, body } = toErrorAnswer(error);
      // The AI SDK sends each request again that is answered by such a status, and reads the error of a resource.
      if (AI_SDK.test(c.req.header("user-agent") ?? "")) return c.json({ ...whole.value, ...body });
      if (whole.value.store) {
        // The turn is over, and its session keeps the failure. Only the client knows whether to ask again.
        c.header("x-should-retry", "false");
        c.header(RESPONSE_HEADER, whole.value.id);
      }
      return c.json(body, status);
    }
    // The resource has no member for it, and Open Responses allows no other.
    setCompactedHeader(c, await readAppliedEdits(started.calls, started.edit));
    return c.json(whole.value);
  } finally {
    started.discard();
  }
}

async function sendStream(c: Context<HttpEnv>, started: StartedResponse): Promise<Response> {
  const { discard } = started;
  const events = await openEvents(started);
  if (!events.ok) {
    discard();
    return sendProblem(c, events.error);
  }
  return sendEvents(c, whenOver(translateStream(events.value.frames, createResponseTranslator(events.value.fold, null)), discard));
}
