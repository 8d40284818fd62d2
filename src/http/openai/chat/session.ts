/** A chat completion of a session: the session has the conversation, and the request adds what is new in its messages. */
import type { Context } from "hono";
import type { RespondInput } from "../../../app/respond-api";
import type { Idempotency, TurnInput } from "../../../app/session-api";
import type { Accepted, DisplayItem } from "../../../contract/item";
import type { SessionDescription } from "../../../contract/session";
import type { SessionId, TurnId } from "../../../domain/ids";
import type { ToolDefinition } from "../../../domain/message";
import { err, ok, type Result } from "../../../lib/result";
import type { HttpDeps, HttpEnv } from "../../deps";
import type { HttpError } from "../../problem";
import type { SessionCalls } from "../../session-calls";
import { ofNamedModel } from "../../session-model";
import { findAnswering } from "../../surface/attempts";
import { sendInLine } from "../../surface/in-line";
import { findNewMessages, type Sorted, type TranscriptMessage } from "../../surface/new-messages";
import { type CompletionMessage, parseCallName, toCallName, toComparedText, toOutput } from "./messages";
import { toChatError } from "./refusal";
import { createWriter, type WriteMessages } from "./written";

export interface ChatRequest {
  readonly messages: readonly CompletionMessage[];
  readonly asked: TurnInput;
  readonly tools: readonly ToolDefinition[] | null;
  readonly idempotency: Idempotency | null;
}

/** A leg that has begun, or that was there before. */
export interface StartedLeg {
  readonly session: SessionId;
  readonly turn: TurnId;
  /** The live stream's offset to begin after. Null: the leg is told as a whole, when it is complete. */
  readonly cursor: number | null;
  /** The position that the leg's items follow. */
  readonly after: number;
  readonly continues: boolean;
  readonly replayed: boolean;
  /** How often the model's view was changed before. */
  readonly epoch: number;
}

interface Chat {
  readonly calls: SessionCalls;
  readonly request: ChatRequest;
  readonly session: SessionId;
  readonly write: WriteMessages;
}

type Starting = Promise<Result<StartedLeg, HttpError>>;

export function startInSession(c: Context<HttpEnv>, deps: HttpDeps, { calls, session, request }: Omit<Chat, "write">): Starting {
  const chat = { calls, session, request, write: createWriter(c, deps, { session, isThrowaway: false }) };
  return sendInLine({ calls, schedule: deps.schedule }, () => tryOnce(chat));
}

/** The messages that are read of the session's end: more than one reply's calls and their results, as a rule. */
const READ_BACK = 64;

interface SessionEnd {
  readonly described: SessionDescription;
  /** In order. */
  readonly items: readonly DisplayItem[];
  readonly isWhole: boolean;
}

async function readEnd(calls: SessionCalls): Promise<Result<SessionEnd, HttpError>> {
  const [described, page] = await Promise.all([
    calls.repeatable((api, caller) => api.describe(caller)),
    calls.repeatable((api, caller) => api.items(caller, { after: null, limit: READ_BACK, order: "desc" })),
  ]);
  if (!described.ok) return described;
  if (!page.ok) return page;
  return ok({ described: described.value, items: page.value.data.toReversed(), isWhole: !page.value.has_more });
}

/** `named`: the calls that the client's messages answer. A client may know a call by the provider's id, from another surface. */
function toTranscript(item: DisplayItem, named: ReadonlySet<string>): TranscriptMessage {
  const { role, content, execution_id, call_id } = item;
  if (role !== "tool") return { role, text: toComparedText(content) };
  const ours = execution_id ? toCallName(execution_id) : "";
  return { role, text: toComparedText(content), answers: call_id !== undefined && named.has(call_id) ? call_id : ours };
}

const invalid = (field: string, detail: string) => err({ code: "invalid_request" as const, errors: [{ field, detail }] });

async function tryOnce(chat: Chat): Starting {
  const { calls, request } = chat;
  const end = await readEnd(calls);
  if (!end.ok) return end;
  const { described, items, isWhole } = end.value;
  const named = new Set(request.messages.flatMap(({ answers }) => answers ?? []));
  const known = { newest: items.map((item) => toTranscript(item, named)), isWhole };
  const sorted = findNewMessages(request.messages, known);
  if (sorted.isRepeated) return answerAgain(chat, end.value, named);
  if (sorted.messages.length + sorted.results.length === 0)
    return invalid(`${request.messages.at(-1)?.field}.role`, "must be user or tool in the last message: the session has the rest");
  return respond(chat, described, sorted);
}

export const joinSystem = (system: readonly CompletionMessage[]): string | null =>
  system.length === 0 ? null : system.map(({ text }) => text).join("\n\n");

async function respond(
  { calls, request, session, write }: Chat,
  described: SessionDescription,
  sorted: Sorted<CompletionMessage>,
): Starting {
  const { asked, tools, idempotency } = request;
  const written = await write(sorted.messages);
  if (!written.ok) return written;
  const results = sorted.results.map(toResult);
  const messages = written.value.map(({ message }) => message);
  const turn = { ...asked, system: joinSystem(sorted.system), tools, idempotency };
  const input: RespondInput = { ...turn, after: null, results, messages, run: true, onBusy: "reject" };
  const send = () => (idempotency ? calls.repeatable : calls.once)((api, caller) => api.respond(caller, input));
  const sent = await send();
  const accepted = !sent.ok && isLeftBehind(sent.error, request) ? await leaveWaiting(calls, send) : sent;
  if (!accepted.ok) return err(toChatError(ofNamedModel(accepted.error, asked), { results: sorted.results, messages: written.value }));
  const place = { session, epoch: described.epoch, continues: messages.length === 0 };
  const leg = toStartedLeg(accepted.value, place);
  return leg.replayed && idempotency?.attempt ? findLeg(calls, leg, accepted.value) : ok(leg);
}

/** The session took the request before, and its end no longer says so. */
async function findLeg(calls: SessionCalls, leg: StartedLeg, accepted: Accepted): Starting {
  const found = await findAnswering(calls, accepted);
  if (!found.ok) return found;
  const { turn, cursor, isAnew } = found.value;
  return ok({ ...leg, turn, cursor, ...(isAnew && { continues: false }) });
}

const toResult = (message: CompletionMessage) => {
  const { answers = "" } = message;
  const execution_id = parseCallName(answers);
  return { execution_id, call_id: execution_id ? null : answers, output: toOutput(message), is_error: false };
};

/** A client that has lost the calls cannot answer them. Its message supersedes their turn, as a message of the native API does. */
function isLeftBehind(error: HttpError, { messages }: ChatRequest): boolean {
  if (error.code !== "calls_unanswered") return false;
  const known = new Set(messages.flatMap(({ calls }) => calls.map(({ call_id }) => call_id)));
  return !error.calls.some(({ execution, call_id }) => known.has(toCallName(execution)) || known.has(call_id));
}

async function leaveWaiting<T>(calls: SessionCalls, send: () => Promise<T>): Promise<T> {
  await calls.once((api, caller) => api.stop(caller, { idempotency: null }));
  return send();
}

export function toStartedLeg(
  { turn_id: turn, cursor, position, replayed }: Accepted,
  place: Pick<StartedLeg, "session" | "epoch" | "continues">,
): StartedLeg {
  if (turn === null) throw new TypeError("a request that runs has a turn");
  return { ...place, turn, cursor, after: position ?? 0, replayed };
}

/** The session has the request already. A turn that failed is tried again; every other one has an answer, or will have one. */
async function answerAgain({ calls, request, session }: Chat, { described, items }: SessionEnd, named: ReadonlySet<string>): Starting {
  const turn = described.turn?.id ?? described.queued[0]?.turn_id ?? items.findLast(({ turn_id }) => turn_id !== null)?.turn_id ?? null;
  if (turn === null) return invalid("messages", "the session has these messages already, without an answer");
  const report = await calls.repeatable((api, caller) => api.turn(caller, turn));
  if (!report.ok) return report;
  const { status } = report.value;
  const place = { session, epoch: described.epoch, continues: false };
  if (status === "failed" || status === "interrupted") {
    const { asked } = request;
    // A key that is made of the request stands for the turn that failed.
    const idempotency = request.idempotency?.attempt ? null : request.idempotency;
    const accepted = await calls.once((api, caller) => api.retry(caller, { ...asked, idempotency }));
    return accepted.ok ? ok(toStartedLeg(accepted.value, place)) : err(ofNamedModel(accepted.error, asked));
  }
  const asked = items.findLast(
    ({ role, call_id = "", execution_id }) => role === "user" || (role === "tool" && isNamed(named, call_id, execution_id)),
  );
  return ok({ ...place, turn, cursor: null, after: asked?.position ?? 0, continues: asked?.role === "tool", replayed: true });
}

const isNamed = (named: ReadonlySet<string>, callId: string, execution: DisplayItem["execution_id"]): boolean =>
  named.has(callId) || (execution !== undefined && named.has(toCallName(execution)));
