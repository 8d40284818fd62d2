/**
 * Starts the answer to a client's copy of a conversation. The session has the conversation; the request adds what is new in the copy. A copy
 * that the session has as a whole is answered again.
 */
import type { ConversationEnd, EndItem, RespondInput } from "../../app/respond-api";
import type { Idempotency, ToolResultInput, TurnInput } from "../../app/session-api";
import type { ImportedCall } from "../../app/written-message";
import type { Accepted } from "../../contract/item";
import type { TurnReport } from "../../contract/turn";
import type { ExecutionId, SessionId, TurnId } from "../../domain/ids";
import type { ToolDefinition } from "../../domain/message";
import { err, ok, type Result } from "../../lib/result";
import type { HttpError } from "../problem";
import type { SessionCalls } from "../session-calls";
import { ofNamedModel } from "../session-model";
import { findAnswering } from "./attempts";
import { type ClientWords, findBeside } from "./beside";
import { findNewMessages, type Sorted, type TranscriptMessage, toComparedText } from "./new-messages";
import { type StartedLeg, toStartedLeg } from "./started-leg";
import type { WriteMessages, WrittenAt } from "./written";

/** A message of the client's copy. */
export interface CopiedMessage extends TranscriptMessage {
  /** Where the request has it: `messages.4`. */
  readonly field: string;
  readonly calls: readonly ImportedCall[];
}

interface CopyRequest<M extends CopiedMessage> {
  readonly messages: readonly M[];
  readonly asked: TurnInput;
  readonly tools: readonly ToolDefinition[] | null;
  readonly idempotency: Idempotency | null;
  /** The answer is told as it comes. */
  readonly isStreamed: boolean;
  readonly client: ClientWords;
}

/** What was sent to the session. */
interface SentCopy<M extends CopiedMessage> {
  readonly results: readonly M[];
  readonly messages: readonly WrittenAt[];
}

/** What is new in a copy. */
export type NewInCopy<M extends CopiedMessage> = Omit<Sorted<M>, "isRepeated" | "isSure">;

/** What a vendor's surface says in its own way. */
export interface CopyWords<M extends CopiedMessage> {
  /** The id of a call as the vendor's clients know it. The provider's own may repeat. */
  toCallName(execution: string): string;
  /** Null for an id that this service has not given. */
  parseCallName(id: string): ExecutionId | null;
  toOutcome(result: M): Pick<ToolResultInput, "output" | "is_error">;
  /** The messages to record, in order, of those that are new. */
  listSpoken(fresh: NewInCopy<M>): Result<readonly M[], HttpError>;
  /** The copy ends with the model's words. */
  answerNothingNew(end: ConversationEnd): Promise<Result<StartedLeg, HttpError>>;
  /** Whether a client that does not name the open calls has lost them. */
  hasLostCalls(fresh: NewInCopy<M>, end: ConversationEnd): boolean;
  toError(error: HttpError, sent: SentCopy<M>, end: ConversationEnd): HttpError;
}

export interface Copy<M extends CopiedMessage> {
  readonly calls: SessionCalls;
  readonly session: SessionId;
  readonly request: CopyRequest<M>;
  readonly write: WriteMessages<M>;
  readonly words: CopyWords<M>;
}

type Starting = Promise<Result<StartedLeg, HttpError>>;
/** Null: the request is no part of the session's conversation, and nothing was added. */
export type StartedInSession = Result<StartedLeg | null, HttpError>;

/** The messages that are read of the session's end: more than one reply's calls and their results, as a rule. */
const READ_BACK = 64;

/** The calls that the client's messages answer. It may know a call by the provider's id, from another surface. */
const listAnswered = ({ messages }: Pick<CopyRequest<CopiedMessage>, "messages">): ReadonlySet<string> =>
  new Set(messages.flatMap(({ answers }) => answers ?? []));

type Read<M extends CopiedMessage> = Pick<Copy<M>, "calls"> & {
  readonly request: Pick<CopyRequest<M>, "messages">;
  readonly words: Pick<CopyWords<M>, "toCallName">;
};

interface SortedCopy<M extends CopiedMessage> {
  readonly end: ConversationEnd;
  readonly sorted: Sorted<M>;
}

/** What of the copy the session does not have. A copy that goes on is told by its last messages, so that more is read only of others. */
export async function sortCopy<M extends CopiedMessage>(read: Read<M>): Promise<Result<SortedCopy<M>, HttpError>> {
  const last = read.request.messages.findLast(({ role }) => role !== "system");
  if (last && last.role !== "assistant") {
    const sorted = await sortWith(read, true);
    if (!sorted.ok || sorted.value.sorted.isSure) return sorted;
  }
  return sortWith(read, false);
}

async function sortWith<M extends CopiedMessage>(
  { calls, request, words }: Read<M>,
  toQuestion: boolean,
): Promise<Result<SortedCopy<M>, HttpError>> {
  const end = await calls.repeatable((api, caller) => api.conversationEnd(caller, { limit: READ_BACK, toQuestion }));
  if (!end.ok) return end;
  const { items, is_whole: isWhole } = end.value;
  const answered = listAnswered(request);
  const newest = items.map(({ role, content, execution_id, call_id }): TranscriptMessage => {
    const text = toComparedText(content);
    if (role !== "tool") return { role, text };
    const ours = execution_id ? words.toCallName(execution_id) : "";
    return { role, text, answers: call_id !== undefined && answered.has(call_id) ? call_id : ours };
  });
  const open = new Set((end.value.turn?.open_calls ?? []).flatMap(({ id, call_id }) => [words.toCallName(id), call_id]));
  return ok({ end: end.value, sorted: findNewMessages(request.messages, { newest, isWhole, open }) });
}

/** Starts once. It changes nothing where it refuses, so that it may be tried again. */
export async function startFromCopy<M extends CopiedMessage>(copy: Copy<M>): Promise<StartedInSession> {
  const read = await sortCopy(copy);
  if (!read.ok) return read;
  const { end, sorted } = read.value;
  const { asked, client, messages: given } = copy.request;
  const asking = { client, system: asked.system ?? null, messages: given, toCallName: copy.words.toCallName };
  const beside = await findBeside(copy.calls, asking, end);
  if (!beside.ok || beside.value) return beside.ok ? ok(null) : beside;
  if (sorted.isRepeated) return answerAgain(copy, end);
  const last = sorted.messages.at(-1);
  if (last?.role === "assistant")
    return refuse(`${last.field}.role`, "must be user or tool in the last message: no answer is begun for the model");
  return sorted.messages.length + sorted.results.length === 0 ? copy.words.answerNothingNew(end) : respond(copy, end, sorted);
}

async function respond<M extends CopiedMessage>(copy: Copy<M>, end: ConversationEnd, sorted: NewInCopy<M>): Starting {
  const { calls, request, session, write, words } = copy;
  const { asked, tools, idempotency, isStreamed } = request;
  const spoken = words.listSpoken(sorted);
  const written = spoken.ok ? await write(spoken.value) : spoken;
  if (!written.ok) return written;
  const results = sorted.results.map((message) => toResult(message, words));
  const messages = written.value.map(({ message }) => message);
  const added = { results, messages, run: true, onBusy: "reject", ...(isStreamed && ({ listens: true } as const)) } as const;
  const input: RespondInput = { ...asked, tools, idempotency, after: null, ...added };
  const send = (more: Pick<RespondInput, "supersedes"> = {}) =>
    (idempotency ? calls.repeatable : calls.once)((api, caller) => api.respond(caller, { ...input, ...more }));
  const sent = await send();
  const supersedes = sent.ok || !words.hasLostCalls(sorted, end) ? undefined : findLeftBehind(sent.error, copy, end);
  const accepted = supersedes ? await send({ supersedes }) : sent;
  if (!accepted.ok)
    return err(words.toError(ofNamedModel(accepted.error, asked), { results: sorted.results, messages: written.value }, end));
  const leg = toStartedLeg(accepted.value, { session, epoch: end.epoch, continues: messages.length === 0 });
  if (!leg.replayed) return ok(leg);
  const found = idempotency?.attempt ? await findLeg(calls, leg, accepted.value) : ok(leg);
  return found.ok && !(await isHeardLive(calls, found.value)) ? ok({ ...found.value, cursor: null }) : found;
}

/** The session took the request before, and its end no longer says so. */
async function findLeg(calls: SessionCalls, leg: StartedLeg, accepted: Accepted): Starting {
  const found = await findAnswering(calls, accepted);
  if (!found.ok) return found;
  const { turn, cursor, isAnew } = found.value;
  return ok({ ...leg, turn, cursor, ...(isAnew && { continues: false }) });
}

const UNDER_WAY: ReadonlySet<string> = new Set(["queued", "generating"] satisfies TurnReport["status"][]);

/** Whether the frames of a leg that began before are those of this leg alone. A result may have begun another. */
async function isHeardLive(calls: SessionCalls, { turn, after }: StartedLeg): Promise<boolean> {
  const report = await calls.repeatable((api, caller) => api.turn(caller, turn));
  if (!report.ok || !UNDER_WAY.has(report.value.status)) return false;
  return !report.value.items.some(({ role, position }) => role === "tool" && position > after);
}

function toResult<M extends CopiedMessage>(message: M, words: CopyWords<M>): ToolResultInput {
  const { answers = "" } = message;
  const execution_id = words.parseCallName(answers);
  return { execution_id, call_id: execution_id ? null : answers, ...words.toOutcome(message) };
}

/**
 * The turn that waits for calls which the client has lost, and so cannot answer. Its message supersedes their turn, as a message of the
 * native API does. A turn that began to wait after the session's end was read is left alone.
 */
function findLeftBehind<M extends CopiedMessage>(
  error: HttpError,
  { request: { messages }, words }: Copy<M>,
  { turn }: ConversationEnd,
): TurnId | undefined {
  if (error.code !== "calls_unanswered") return undefined;
  const known = new Set(messages.flatMap(({ calls }) => calls.map(({ call_id }) => call_id)));
  const isKnown = error.calls.some(({ execution, call_id }) => known.has(words.toCallName(execution)) || known.has(call_id));
  return isKnown ? undefined : turn?.id;
}

/** The session has the request already. A turn that failed or was stopped is tried again; every other one has an answer, or will have one. */
async function answerAgain<M extends CopiedMessage>(copy: Copy<M>, end: ConversationEnd): Starting {
  const { calls, request, session, words } = copy;
  const { items, epoch } = end;
  const turn = end.turn?.id ?? end.next_turn ?? items.findLast(({ turn_id }) => turn_id !== null)?.turn_id ?? null;
  if (turn === null) return refuse("messages", "the session has these messages already, without an answer");
  const report = await calls.repeatable((api, caller) => api.turn(caller, turn));
  if (!report.ok) return report;
  const { status } = report.value;
  const place = { session, epoch, continues: false };
  if (status === "failed" || status === "interrupted" || status === "stopped") {
    const { asked } = request;
    // A key that is made of the request stands for the turn that failed.
    const idempotency = request.idempotency?.attempt ? null : request.idempotency;
    const accepted = await calls.once((api, caller) => api.retry(caller, { ...asked, idempotency }));
    return accepted.ok ? ok(toStartedLeg(accepted.value, place)) : err(ofNamedModel(accepted.error, asked));
  }
  const answered = listAnswered(request);
  const isNamed = ({ call_id = "", execution_id }: EndItem): boolean =>
    answered.has(call_id) || (execution_id !== undefined && answered.has(words.toCallName(execution_id)));
  const after = findAsked(items, isNamed);
  return ok({ ...place, turn, cursor: null, stream: null, after: after?.position ?? 0, continues: after?.role === "tool", replayed: true });
}

/** What the newest leg answers: a message, or the first of the results that came together. */
function findAsked(items: readonly EndItem[], isNamed: (result: EndItem) => boolean): EndItem | undefined {
  const isAsked = (item: EndItem): boolean => item.role === "user" || (item.role === "tool" && isNamed(item));
  const last = items.findLastIndex(isAsked);
  if (items[last]?.role !== "tool") return items[last];
  const reply = items.slice(0, last).findLastIndex(({ role }) => role === "assistant");
  return items.slice(reply + 1).find(isAsked);
}

const refuse = (field: string, detail: string) => err({ code: "invalid_request" as const, errors: [{ field, detail }] });
