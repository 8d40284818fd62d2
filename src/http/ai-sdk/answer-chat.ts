/** What a page's request does to the conversation: it says something, changes what was said, asks for another answer, or answers calls. */
import type { Context } from "hono";
import type { WholeSessionApi } from "../../app/control-api";
import type { Caller, Idempotency, Outcome } from "../../app/session-api";
import type { WrittenMessage } from "../../app/written-message";
import type { Accepted, DisplayItem } from "../../contract/item";
import type { SessionDescription } from "../../contract/session";
import { type ItemId, parseId, type SessionId, type TurnId } from "../../domain/ids";
import type { Part, ToolDefinition } from "../../domain/message";
import { err, ok, type Result } from "../../lib/result";
import type { HttpDeps, HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import { toParts } from "../schemas/message";
import { type SessionCalls, sessionClient } from "../session-calls";
import { ofNamedModel } from "../session-model";
import { sendInLine } from "../surface/in-line";
import { takeFiles } from "../take-files";
import {
  type Answers,
  type ChatInput,
  countSteps,
  type GivenMessage,
  guessAnswers,
  hasAnswers,
  listHad,
  readAnswers,
  readSaid,
  type UserMessage,
} from "./chat-input";
import type { Had } from "./ui-stream";

/** The turn whose stream answers the request. */
export interface Answer {
  readonly turn: TurnId;
  /** The stream's offset to begin after. */
  readonly cursor: number;
  readonly steps?: number;
  readonly had?: Had;
  readonly replayed?: boolean;
}

type Answering = Promise<Result<Answer, HttpError>>;

interface ChatRequest {
  readonly c: Context<HttpEnv>;
  readonly deps: HttpDeps;
  readonly session: SessionId;
  readonly input: ChatInput;
  /** In place of the session's. Null: the session's. */
  readonly tools: readonly ToolDefinition[] | null;
  readonly idempotency: Idempotency | null;
}

interface Chat extends ChatRequest {
  readonly calls: SessionCalls;
}

/** All frames of a turn that are kept. What is not kept is told from the record. */
const FROM_THE_START = 0;

export async function answerChat(request: ChatRequest): Answering {
  const { c, deps, session, input } = request;
  const chat = { ...request, calls: sessionClient(deps, c, session) };
  if (input.trigger === "regenerate-message") return regenerate(chat);
  const { last } = input;
  if (last === null) return refuse("messages", "must hold the message to send");
  if (last.role === "system") return refuse("messages", "a page sends messages of a user, and answers to calls");
  const named = input.messageId === null ? undefined : input.replies.find(({ id }) => id === input.messageId);
  const reply = last.role === "assistant" ? last : named;
  return reply ? goOn(chat, reply) : say(chat, last);
}

const refuse = (field: string, detail: string) => err({ code: "invalid_request" as const, errors: [{ field, detail }] });

type Work = (api: WholeSessionApi, caller: Caller) => Promise<Outcome<Accepted>>;

/** With an idempotency key the call may be sent again. */
async function send(chat: Chat, work: Work): Answering {
  const accepted = await (chat.idempotency ? chat.calls.repeatable : chat.calls.once)(work);
  if (!accepted.ok) return err(ofNamedModel(accepted.error, chat.input.turn));
  const { turn_id: turn, cursor, replayed } = accepted.value;
  return turn === null ? refuse("messages", "the message was recorded without a turn") : ok({ turn, cursor, replayed });
}

/**
 * A change of what was said replaces the answer that is under way. Only that one is stopped: messages that waited behind it are other
 * pages', and the change waits until they have their answers.
 */
async function replace(chat: Chat, work: Work): Answering {
  const { calls, deps } = chat;
  const sent = await send(chat, work);
  if (sent.ok || sent.error.code !== "turn_running") return sent;
  const turn = parseId("trn", sent.error.turn);
  const stopped = turn && (await calls.once((api, caller) => api.stop(caller, { turn, idempotency: null })));
  if (stopped && !stopped.ok && stopped.error.code !== "turn_not_found") return stopped;
  return sendInLine({ calls, schedule: deps.schedule }, () => send(chat, work));
}

const describe = ({ calls }: Chat): Promise<Outcome<SessionDescription>> => calls.repeatable((api, caller) => api.describe(caller));

async function say(chat: Chat, last: GivenMessage): Answering {
  const { c, deps, session, input } = chat;
  const said = readSaid(last);
  if (!said.ok)
    return err({ code: "invalid_request", errors: said.error.map((each) => ({ ...each, field: `${input.field}.${each.field}` })) });
  const named = input.messageId ?? (said.value.id !== null && parseId("msg", said.value.id) ? said.value.id : null);
  const found = named === null ? ok(null) : await findSaid(chat, named);
  if (!found.ok) return found;
  const content = await takeFiles(c, deps, { session, content: said.value.content });
  if (!content.ok) return content;
  const parts = toParts(content.value);
  const message = found.value;
  if (message === null) return submit(chat, said.value, parts);
  if (input.messageId === null) return repeat(chat, message, parts);
  const { tools, idempotency } = chat;
  return replace(chat, (api, caller) => api.editMessage(caller, { message, parts, tools, idempotency, ...input.turn }));
}

async function submit(chat: Chat, { id, metadata }: UserMessage, parts: readonly Part[]): Answering {
  const about = { name: null, client_id: id, metadata, said_at: null, incomplete: false };
  const message = { role: "user", parts, about } as const;
  const sent = await submitAfter(chat, message);
  if (sent.ok || sent.error.code !== "client_id_taken") return sent;
  const taken = parseId("msg", sent.error.message);
  return taken ? repeat(chat, taken, parts) : sent;
}

interface Waiting {
  readonly turn: TurnId;
  readonly given: Answers;
}

/** The turn that waits gets what the page has for it, and the message after that. */
async function submitAfter(chat: Chat, message: WrittenMessage): Answering {
  const { tools, idempotency, input } = chat;
  const [newest] = input.replies;
  const found = newest && hasAnswers(guessAnswers(newest)) ? await findWaiting(chat) : ok(null);
  if (!found.ok) return found;
  const { turn: supersedes, given } = found.value ?? {};
  const asked = { ...input.turn, run: true, onBusy: "queue", tools, idempotency } as const;
  if (supersedes && given && given.approvals.length === 0) {
    const both = { ...asked, after: null, results: given.results, messages: [message], supersedes };
    const sent = await send(chat, (api, caller) => api.respond(caller, both));
    if (sent.ok || !BESIDE.has(sent.error.code)) return sent;
  }
  if (given) {
    const answered = await answerCalls(chat, given, "waiting");
    if (!answered.ok && answered.error.code !== "call_not_open") return answered;
  }
  return send(chat, (api, caller) => api.submit(caller, { ...message, ...asked }));
}

/** Refusals of both at once because of what else goes on: another page has answered, or messages wait. */
const BESIDE: ReadonlySet<string> = new Set(["call_not_open", "calls_unanswered", "turn_running"]);

/** The waiting turn that the page has answers for. Null: there is none. */
async function findWaiting(chat: Chat): Promise<Result<Waiting | null, HttpError>> {
  const described = await describe(chat);
  if (!described.ok) return described;
  const { turn } = described.value;
  const reply = turn?.phase === "awaiting_tools" ? chat.input.replies.find(({ id }) => id === turn.id) : undefined;
  const given = turn && reply ? readAnswers(reply, turn.open_calls) : null;
  return ok(turn && given && hasAnswers(given) ? { turn: turn.id, given } : null);
}

/** The same words a second time: a client that lost the answer asks for it again. Other words under the same id are refused. */
async function repeat(chat: Chat, message: ItemId, parts: readonly Part[]): Answering {
  const { calls } = chat;
  const described = await describe(chat);
  if (!described.ok) return described;
  const waiting = described.value.queued.find(({ id }) => id === message)?.turn_id;
  if (waiting) return ok({ turn: waiting, cursor: FROM_THE_START, replayed: true });
  const found = await calls.repeatable((api, caller) => api.message(caller, message));
  if (!found.ok) return found;
  if (!isSame(found.value, parts)) return err({ code: "client_id_taken", message });
  const { turn_id: turn } = found.value;
  const report = turn && (await calls.repeatable((api, caller) => api.turn(caller, turn)));
  if (!turn || !report) return answerAgain(chat, message);
  if (!report.ok) return report;
  const { status } = report.value;
  if (status === "failed" || status === "stopped" || status === "interrupted") return answerAgain(chat, message);
  return ok({ turn, cursor: FROM_THE_START, replayed: true });
}

const readTexts = (content: readonly { readonly type: string; readonly text?: string }[]): string =>
  JSON.stringify(content.map(({ type, text = null }) => [type, text]));
const isSame = ({ content }: DisplayItem, parts: readonly Part[]): boolean => readTexts(content) === readTexts(parts);

const answerAgain = (chat: Chat, message: ItemId): Answering =>
  replace(chat, (api, caller) => api.regenerate(caller, { message, idempotency: chat.idempotency, ...chat.input.turn }));

async function regenerate(chat: Chat): Answering {
  const { messageId, last } = chat.input;
  const asked = last?.role === "user" ? last : null;
  for (const named of [messageId, asked?.id ?? null]) {
    const found = named === null ? ok(null) : await findSaid(chat, named);
    if (!found.ok) return found;
    if (found.value) return answerAgain(chat, found.value);
  }
  // The message that is to be answered never arrived.
  if (asked) return say({ ...chat, input: { ...chat.input, messageId: null } }, asked);
  const newest = await chat.calls.repeatable((api, caller) => api.items(caller, { after: null, limit: 1, order: "desc" }));
  if (!newest.ok) return newest;
  const message = newest.value.data[0]?.id;
  return message ? answerAgain(chat, message) : refuse("messages", "there is no message to answer");
}

/** The message that the client names, as it is on the current branch. Null: it is not known. */
async function findSaid(chat: Chat, named: string): Promise<Result<ItemId | null, HttpError>> {
  const found = await findNamed(chat, named);
  if (!found.ok) return UNKNOWN.has(found.error.code) ? ok(null) : found;
  const item = found.value;
  if (item?.role !== "user") return ok(item?.id ?? null);
  // An edit has put another message in its place, on a branch that left the old one out. The client goes on using the old id.
  const { position } = item;
  const page = await chat.calls.repeatable((api, caller) => api.items(caller, { after: position - 1, limit: NEAR, order: "asc" }));
  return page.ok ? ok(page.value.data.find(({ role }) => role === "user")?.id ?? item.id) : page;
}

const NEAR = 16;
const UNKNOWN: ReadonlySet<string> = new Set(["turn_not_found", "message_not_found"]);

/** By the id of a turn, by our id of a message, or by the client's own. */
async function findNamed({ calls }: Chat, named: string): Promise<Outcome<DisplayItem | null>> {
  const turn = parseId("trn", named);
  const report = turn && (await calls.repeatable((api, caller) => api.turn(caller, turn)));
  if (report && !report.ok) return report;
  const message = report ? report.value.message_id : parseId("msg", named);
  if (message) return calls.repeatable((api, caller) => api.message(caller, message));
  if (report) return ok(null);
  const page = await calls.repeatable((api, caller) => api.items(caller, { after: null, limit: 1, order: "asc", clientId: named }));
  return page.ok ? ok(page.value.data[0] ?? null) : page;
}

/** The client has answered calls of this message. The turn goes on, and so does the message. */
async function goOn(chat: Chat, reply: GivenMessage): Answering {
  const turn = parseId("trn", reply.id ?? "");
  if (!turn) return refuse("messages", "the assistant's message is not one of this chat");
  const guessed = await answerOpen(chat, reply, guessAnswers(reply));
  if (guessed) return guessed;
  const described = await describe(chat);
  if (!described.ok) return described;
  const open = described.value.turn?.id === turn ? described.value.turn.open_calls : [];
  return (await answerOpen(chat, reply, readAnswers(reply, open))) ?? join(chat, turn, reply);
}

/** Null: not all of these calls are open. */
async function answerOpen(chat: Chat, reply: GivenMessage, given: Answers): Promise<Awaited<Answering> | null> {
  if (!hasAnswers(given)) return null;
  const sent = await answerCalls(chat, given);
  if (sent.ok) return ok({ ...sent.value, steps: countSteps(reply) });
  return sent.error.code === "call_not_open" || sent.error.code === "approval_not_open" ? null : sent;
}

/** `part`: tells this call of a request from others that have the request's idempotency key. */
async function answerCalls(chat: Chat, { approvals, results }: Answers, part = "results"): Answering {
  const keyed = (name: string) => chat.idempotency && { ...chat.idempotency, key: `${chat.idempotency.key} ${part} ${name}` };
  const approved =
    approvals.length > 0 ? await send(chat, (api, caller) => api.approvals(caller, { approvals, idempotency: keyed("approvals") })) : null;
  if (approved && !approved.ok) return approved;
  if (approved && results.length === 0) return approved;
  const sent = await send(chat, (api, caller) => api.toolResults(caller, { results, idempotency: keyed("results") }));
  return sent.ok && approved ? approved : sent;
}

/** Nothing in the message is news: its client has lost the answer to it. */
async function join(chat: Chat, turn: TurnId, reply: GivenMessage): Answering {
  const had = listHad(reply);
  const [call] = [...had.results, ...had.approvals];
  const report = await chat.calls.repeatable((api, caller) => api.turn(caller, turn));
  if (!report.ok) return report;
  const { status } = report.value;
  if (call === undefined || status === "awaiting_tools") return refuse("messages", "the last message answers no open call");
  if (status === "failed" || status === "stopped" || status === "interrupted") return err({ code: "call_not_open", index: null, call });
  return ok({ turn, cursor: FROM_THE_START, had, replayed: true });
}
