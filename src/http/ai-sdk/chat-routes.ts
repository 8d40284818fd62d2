/** The AI SDK's chat endpoint: what `useChat` sends to and reads from, over the session that the chat's id names. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { externalId } from "../../contract/label";
import type { FieldError } from "../../contract/problem";
import type { SessionId, TurnId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import { readPrincipal, requireScope } from "../auth";
import { readBody, readLongBody } from "../body";
import type { HttpDeps, HttpEnv } from "../deps";
import { sendEvents } from "../event-stream";
import { readIdempotency, readIdempotencyKey } from "../idempotency";
import { type HttpError, sendProblem } from "../problem";
import { type SessionCalls, sessionClient } from "../session-calls";
import { refuseStream } from "../stream-limits";
import { isGone, SESSION_HEADER } from "../surface/named-session";
import { whileHeard } from "../surface/on-disconnect";
import { translateStream } from "../surface/translate-stream";
import { faultOfName, toFieldErrors } from "../validation";
import { type Answer, answerChat } from "./answer-chat";
import { parseChat, parseStop } from "./chat-input";
import { findChat, findChatIfAny, locateChat, mayOpen, openChat } from "./chat-session";
import { readInstructions } from "./instructions";
import { type HistoryPage, readHistory } from "./read-history";
import { createUiTranslator, type RecordedTurn, STREAM_HEADER } from "./ui-stream";

const path = "/api/chat";

export function registerChat(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.post(path, requireScope("sessions:write", "chat"), readLongBody, (c) => postChat(c, deps));
  app.get(`${path}/:chat_id/stream`, requireScope("sessions:read", "chat"), (c) => resumeChat(c, deps));
  app.post(`${path}/:chat_id/stop`, requireScope("sessions:write", "chat"), readBody, (c) => stopChat(c, deps));
  app.get(`${path}/:chat_id/messages`, requireScope("sessions:read", "chat"), (c) => listChat(c, deps));
}

const invalid = (errors: readonly FieldError[]) => ({ code: "invalid_request" as const, errors });

async function postChat(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const parsed = parseChat(await c.req.json());
  if (!parsed.ok) return sendProblem(c, invalid(toFieldErrors(parsed.error)));
  const instructions = readInstructions(c, parsed.value.instructions);
  if (!instructions.ok) return sendProblem(c, instructions.error);
  const { system, tools } = instructions.value;
  const input = { ...parsed.value, turn: { ...parsed.value.turn, ...(system !== null && { system }) } };
  const key = readIdempotencyKey(c);
  if (!key.ok) return sendProblem(c, key.error);
  if (input.needsKey && readPrincipal(c).access_token)
    return sendProblem(c, { code: "beyond_access_token", field: input.needsKey, detail: "needs an API key" });
  const full = await refuseStream(c, deps);
  if (full) return sendProblem(c, full);
  const idempotency = await readIdempotency(c, key.value);
  const answerIn = async (session: SessionId): Answering => {
    const answer = await answerChat({ c, deps, session, input, tools, idempotency });
    return answer.ok ? ok({ session, ...answer.value }) : answer;
  };
  const located = await locateChat(deps, c, input.id);
  const found = located.ok ? await answerIn(located.value) : located;
  const answer = !found.ok && isGone(found.error) && mayOpen(c, input.id) ? await answerNew(openChat(deps, c, input.id), answerIn) : found;
  if (!answer.ok) return sendProblem(c, answer.error);
  const { session, turn } = answer.value;
  return whileHeard(c, { calls: sessionClient(deps, c, session), turn }, () => sendTurn(c, deps, answer.value));
}

type Answering = Promise<Result<Sent, HttpError>>;

async function answerNew(opening: Promise<Result<SessionId, HttpError>>, answerIn: (session: SessionId) => Answering): Answering {
  const opened = await opening;
  return opened.ok ? answerIn(opened.value) : opened;
}

type Sent = Answer & { readonly session: SessionId; readonly isReplay?: true };

async function sendTurn(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { session, turn, cursor, replayed, isReplay, ...place }: Sent,
): Promise<Response> {
  const calls = sessionClient(deps, c, session);
  const [followed, recorded] = await Promise.all([
    calls.repeatable((api, caller) => api.follow(caller, { after: cursor, turn })),
    isReplay ? readRecorded(calls, turn) : null,
  ]);
  if (!followed.ok) return sendProblem(c, followed.error);
  const { stream, compacting } = followed.value;
  c.header(STREAM_HEADER, "v1");
  c.header(SESSION_HEADER, session);
  if (replayed) c.header("idempotent-replayed", "true");
  return sendEvents(c, translateStream(stream, createUiTranslator({ turn, compacting, recorded, ...place })));
}

/** The newest calls that are read with a turn's record. */
const RECORDED_CALLS = 1_000;

/** What the record has of a turn that runs. */
async function readRecorded(calls: SessionCalls, turn: TurnId): Promise<RecordedTurn | null> {
  const page = { after: null, limit: RECORDED_CALLS, order: "desc" } as const;
  const [report, executions] = await Promise.all([
    calls.repeatable((api, caller) => api.turn(caller, turn)),
    calls.repeatable((api, caller) => api.executions(caller, page)),
  ]);
  if (!report.ok || !executions.ok) return null;
  return { items: report.value.items, executions: executions.value.data.filter(({ turn_id }) => turn_id === turn) };
}

/** The chat's id in the path. */
function readChatId(c: Context<HttpEnv>): Result<string, HttpError> {
  const id = c.req.param("chat_id") ?? "";
  const errors = faultOfName("chat_id", externalId.safeParse(id));
  return errors.length > 0 ? err(invalid(errors)) : ok(id);
}

/** 204 when nothing runs: a turn that waits for its client has nothing to say. */
async function resumeChat(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const id = readChatId(c);
  if (!id.ok) return sendProblem(c, id.error);
  const chat = await findChatIfAny(deps, c, id.value);
  if (!chat.ok) return sendProblem(c, chat.error);
  const running = chat.value && findRunning(chat.value);
  if (!chat.value || !running) return c.body(null, 204);
  const full = await refuseStream(c, deps);
  if (full) return sendProblem(c, full);
  return sendTurn(c, deps, { session: chat.value.id, turn: running, cursor: 0, isReplay: true });
}

type Session = Extract<Awaited<ReturnType<typeof findChat>>, { ok: true }>["value"];

function findRunning({ turn, queued }: Session): TurnId | null {
  if (turn) return turn.phase === "awaiting_tools" ? null : turn.id;
  return queued[0]?.turn_id ?? null;
}

/** Stops the turn that the page names, or else the one that is open as the request comes. Another turn is never stopped in its place. */
async function stopChat(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const id = readChatId(c);
  if (!id.ok) return sendProblem(c, id.error);
  const asked = parseStop(await c.req.json());
  if (!asked.ok) return sendProblem(c, invalid(toFieldErrors(asked.error)));
  const chat = await findChat(deps, c, id.value);
  if (!chat.ok) return sendProblem(c, chat.error);
  const calls = sessionClient(deps, c, chat.value.id);
  const turn = asked.value ?? chat.value.turn?.id;
  if (turn === undefined) return c.body(null, 204);
  const stopped = await calls.repeatable((api, caller) => api.stop(caller, { turn, idempotency: null }));
  return stopped.ok || stopped.error.code === "turn_not_found" ? c.body(null, 204) : sendProblem(c, stopped.error);
}

const NO_HISTORY: HistoryPage = { messages: [], has_more: false, next_before: null };

async function listChat(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const id = readChatId(c);
  if (!id.ok) return sendProblem(c, id.error);
  const chat = await findChatIfAny(deps, c, id.value);
  if (!chat.ok) return sendProblem(c, chat.error);
  if (!chat.value) return c.json(NO_HISTORY);
  const page = await readHistory(c, deps, chat.value);
  return page.ok ? c.json(page.value) : sendProblem(c, page.error);
}
