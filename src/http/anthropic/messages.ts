/** `POST /v1/messages`: the Anthropic API over the session that `X-Session-Id` names. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import type { RespondInput } from "../../app/respond-api";
import type { Idempotency, SessionError } from "../../app/session-api";
import type { WrittenMessage } from "../../app/written-message";
import type { Accepted } from "../../contract/item";
import { parseId, type SessionId, type TurnId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import { readPrincipal, requireScope } from "../auth";
import { readLongBody } from "../body";
import type { HttpDeps, HttpEnv } from "../deps";
import { sendEvents } from "../event-stream";
import { idempotencyHeaders, readIdempotency } from "../idempotency";
import { type HttpError, sendProblem } from "../problem";
import { toParts } from "../schemas/message";
import { type SessionCalls, sessionClient } from "../session-calls";
import { ofNamedModel } from "../session-model";
import { findTools } from "../session-tools";
import { toLegName } from "../surface/ids";
import { sendInLine } from "../surface/in-line";
import { translateStream } from "../surface/translate-stream";
import { takeAllFiles } from "../take-files";
import { toAsked, toTheirField } from "./asked-with";
import { countTokens } from "./count-tokens";
import { createMessageTranslator } from "./message-frames";
import { readStart, sumUsage, toWholeMessage } from "./message-report";
import type { MessageHead } from "./message-shape";
import { toToolUseId } from "./read-blocks";
import { type AddedMessage, findNew, listResults, parseRequest, readAdded } from "./read-request";
import { type MessageBody, messageBody } from "./request-body";
import { toErrorBody } from "./turn-fault";

const SESSION_HEADER = "X-Session-Id";
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
  readonly cursor: number;
  /** The position behind which the leg's items are. */
  readonly after: number;
  readonly leg: number;
}

async function postMessage(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const parsed = parseRequest(messageBody, await c.req.json());
  if (!parsed.ok) return sendProblem(c, parsed.error);
  const key = idempotencyHeaders.safeParse({ "Idempotency-Key": c.req.header("idempotency-key") });
  if (!key.success) return sendProblem(c, { code: "invalid_request", errors: [{ field: "Idempotency-Key", detail: "not a valid key" }] });
  const session = parseId("ses", c.req.header(SESSION_HEADER) ?? "");
  if (!session) return sendProblem(c, { code: "session_not_found" });
  const idempotency = await readIdempotency(c, key.data["Idempotency-Key"]);
  const body = parsed.value;
  const asked = await prepare(c, deps, { body, session, idempotency });
  if (!asked.ok) return sendProblem(c, asked.error);
  const calls = sessionClient(deps, c, session);
  const send = idempotency ? calls.repeatable : calls.once;
  const { input, messages } = asked.value;
  const accepted = await sendInLine({ calls, schedule: deps.schedule }, () => send((api, caller) => api.respond(caller, input)));
  if (!accepted.ok) return refuse(c, toTheirError(ofNamedModel(accepted.error, body), messages));
  // The SDK sends a request that failed again, which would add its messages twice.
  if (!idempotency) c.header("x-should-retry", "false");
  c.header(SESSION_HEADER, session);
  return answer({ c, calls, body, started: toStarted(session, accepted.value, input) });
}

interface Asking {
  readonly body: MessageBody;
  readonly session: SessionId;
  readonly idempotency: Idempotency | null;
}

interface Prepared {
  readonly input: RespondInput;
  readonly messages: readonly AddedMessage[];
}

async function prepare(c: Context<HttpEnv>, deps: HttpDeps, { body, session, idempotency }: Asking): Promise<Result<Prepared, HttpError>> {
  const added = readAdded(body, findNew(body.messages));
  if (!added.ok) return added;
  const { messages } = added.value;
  const tools = await findTools(deps, readPrincipal(c).tenant, added.value.tools);
  if (!tools.ok) return tools;
  const written = await writeMessages(c, deps, { session, messages });
  if (!written.ok) return written;
  const results = listResults(messages).map(({ id: _, ...result }) => result);
  const turn = { after: null, results, messages: written.value, run: true, tools: tools.value, idempotency };
  return ok({ input: { ...toAsked(body), ...turn }, messages });
}

/** A message whose blocks are results alone adds no message of its own. */
async function writeMessages(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { session, messages }: { readonly session: SessionId; readonly messages: readonly AddedMessage[] },
): Promise<Result<readonly WrittenMessage[], HttpError>> {
  const said = messages.filter(({ parts, calls }) => parts.length + calls.length > 0);
  const contents = said.map(({ field, parts }) => ({ field: `${field}.content`, content: [...parts] }));
  const taken = await takeAllFiles(c, deps, { session, contents });
  if (!taken.ok) return taken;
  return ok(
    said.map(({ role, calls }, index) => ({
      role,
      parts: toParts(taken.value[index] ?? []),
      ...(calls.length > 0 && { calls }),
    })),
  );
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

/** The newest calls of a session's models that are read for the usage of one leg. */
const MOST_CALLS = 1_000;

interface Whole extends Omit<Answering, "body"> {
  readonly head: MessageHead;
}

async function answerWhole({ c, calls, head, started: { turn, after } }: Whole): Promise<Response> {
  const report = await calls.repeatable((api, caller) => api.waitForTurn(caller, turn));
  if (!report.ok) return sendProblem(c, report.error);
  const since = readStart(report.value, after);
  const page = { after: null, limit: MOST_CALLS, order: "desc" } as const;
  const rows = since === null ? null : await calls.repeatable((api, caller) => api.usage(caller, page));
  const usage = since !== null && rows?.ok ? sumUsage(rows.value.data, turn, since) : report.value.usage;
  const message = toWholeMessage(report.value, { head, after, usage });
  if (message.ok) return c.json(message.value);
  const { status, ...error } = message.error;
  return c.json(toErrorBody(error, c.get("requestId")), status);
}

function refuse(c: Context<HttpEnv>, error: HttpError): Response {
  if (error.code === "turn_running" || error.code === "queue_full") c.header("retry-after", "1");
  return sendProblem(c, error);
}

/** The refusal by the fields of the request. */
function toTheirError(error: HttpError, messages: readonly AddedMessage[]): HttpError {
  if (error.code === "invalid") return { ...error, field: toTheirField(error.field) };
  const results = messages.flatMap(({ field, results: given }) => given.map(({ id }) => ({ field, id })));
  if (error.code === "call_not_open") {
    const at = error.index === null ? undefined : results[error.index];
    return invalid(at?.field ?? "messages", `unexpected tool_use_id in a tool_result: ${at?.id ?? error.call}. No such call is open`);
  }
  if (error.code === "calls_unanswered") return invalid(messages[0]?.field ?? "messages", toUnanswered(error));
  return error;
}

const invalid = (field: string, detail: string): HttpError => ({ code: "invalid_request", errors: [{ field, detail }] });

const toUnanswered = ({ calls }: Extract<SessionError, { code: "calls_unanswered" }>): string =>
  `tool_use ids were found without tool_result blocks: ${calls.map(({ execution }) => toToolUseId(execution)).join(", ")}`;
