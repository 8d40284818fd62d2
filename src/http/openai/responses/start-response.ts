/**
 * Begins a response: finds or opens its session, and adds what is new to it. Nothing here is about HTTP, so that every transport calls it.
 * When it has succeeded the request is recorded, and whatever happens next is part of the answer.
 */
import type { CopiedPlace, Responded, RespondInput } from "../../../app/respond-api";
import type { Outcome as Answer, Idempotency } from "../../../app/session-api";
import type { Accepted, DisplayItem } from "../../../contract/item";
import type { ExecutionId, SessionId, TurnId } from "../../../domain/ids";
import type { ToolDefinition } from "../../../domain/message";
import { err, ok, type Result } from "../../../lib/result";
import { readPrincipal } from "../../auth";
import { createSession } from "../../create-session";
import type { Asker, HttpDeps } from "../../deps";
import { readIdempotency } from "../../idempotency";
import type { HttpError } from "../../problem";
import { eraseFor } from "../../register-session";
import { type SessionCalls, sessionClient } from "../../session-calls";
import { findAnswering } from "../../surface/attempts";
import { type NamedLeg, readIdTime } from "../../surface/ids";
import { sendInLine } from "../../surface/in-line";
import type { WhoRuns } from "../../surface/read-runs";
import { toFirstItem } from "../items/compaction-item";
import type { CompactionItem } from "../items/item-types";
import { takeMessages, toAnswers } from "../items/store-items";
import { type ResponseAsked, toNote } from "./asked";
import { compactRequest } from "./compacted-request";
import { explainWait, findApprovalFault, findApprovals, findLoneApproval } from "./find-approvals";
import { respondInCopy } from "./in-copy";
import { readEcho } from "./input";
import { splitLegs } from "./leg";
import { findResponseTools } from "./mcp-servers";
import { asksAnew, createEndReader, findModel, type Reading } from "./read-end";
import { findFirstItem, findResponse, toLegAsked } from "./read-response";
import { toResponseError, toUnknownPlace } from "./refusal";
import { leaveOutRepeated } from "./repeated-step";
import type { ResponseRequest } from "./request";
import { buildHead } from "./show-response";

/** A session for a response that is not stored. */
interface Unstored {
  readonly session: SessionId;
  /** Erases it. A second call does nothing. */
  discard(): void;
}

export interface ResponseAsking {
  readonly c: Asker;
  readonly deps: HttpDeps;
  readonly request: ResponseRequest;
  /** The idempotency key of the client. */
  readonly key: string | undefined;
  /** What tells the request from others in a session that it names. Null: nothing. */
  readonly idempotency: Idempotency | null;
  /** The answer is told as it comes. */
  readonly isStreamed: boolean;
  /** Opens a session for `store: false`. */
  openUnstored(asked: { readonly model: string | undefined }): Promise<Result<Unstored, HttpError>>;
}

export interface StartedResponse {
  readonly calls: SessionCalls;
  readonly leg: NamedLeg;
  readonly asked: ResponseAsked;
  /** Where the response's stream begins. Null: with its turn. */
  readonly cursor: number | null;
  /** The live stream from there. Null: it was not opened with the request. */
  readonly stream: ReadableStream<Uint8Array> | null;
  /** Who runs the calls of earlier legs of its turn. */
  readonly runs: ReadonlyMap<ExecutionId, "client" | "server">;
  readonly approvals: WhoRuns["approvals"];
  /** Epoch seconds, unless results of the client begin the leg. */
  readonly created_at: number;
  /** Ends what was opened for this response alone. Call it after the answer. */
  discard(): void;
  /** The first item of the response. Null: it has none. */
  readonly compaction: CompactionItem | null;
  /** The edit of its context that a request without a conversation asks for. Absent: none. */
  readonly edit?: string;
}

type Outcome<T> = Promise<Result<T, HttpError>>;

export async function startResponse(asking: ResponseAsking): Outcome<StartedResponse> {
  const { c, deps, request } = asking;
  const unknown = findLoneApproval(request);
  if (unknown) return err(unknown);
  const tools = await findResponseTools(deps, readPrincipal(c).tenant, request);
  if (!tools.ok) return tools;
  const opened = await openSession(asking);
  if (!opened.ok) return opened;
  const calls = sessionClient(deps, c, opened.value.session);
  const reading = { calls, readEnd: createEndReader(calls, request.input) };
  const fresh = await readFresh(reading, request);
  const fault = findApprovalFault(fresh);
  const started = fault ? err(fault) : await addNew({ ...asking, request: fresh }, { ...opened.value, ...reading }, tools.value);
  if (!started.ok) await opened.value.giveUp();
  return started;
}

/** The request without what a conversation has already. A response that is named is followed by what is new alone. */
async function readFresh(reading: Reading, request: ResponseRequest): Promise<ResponseRequest> {
  if (request.place.kind !== "conversation") return request;
  return { ...request, input: await leaveOutRepeated(reading, request.input) };
}

interface Opened {
  readonly session: SessionId;
  /** The model that is asked. Null: the session's, which is not known yet. */
  readonly model: string | null;
  readonly after: NamedLeg | null;
  readonly isThrowaway: boolean;
  /** After a refusal: no client knows a session that was opened for this request. */
  giveUp(): Promise<unknown>;
  discard(): void;
}

const nothing = (): void => {};

async function openSession({ c, deps, request, key, openUnstored }: ResponseAsking): Outcome<Opened> {
  const { place, body } = request;
  const named = body.model ?? null;
  if (place.kind !== "nothing") {
    const [session, after] = place.kind === "response" ? [place.previous.session, place.previous] : [place.session, null];
    return ok({ session, after, model: named, isThrowaway: body.store === false, giveUp: async () => {}, discard: nothing });
  }
  const model = named ?? undefined;
  if (body.store === false) {
    const unstored = await openUnstored({ model });
    if (!unstored.ok) return unstored;
    const { session, discard } = unstored.value;
    return ok({ session, model: named, after: null, isThrowaway: true, giveUp: async () => discard(), discard });
  }
  const created = await createSession(deps, c, { body: model === undefined ? {} : { model }, key });
  if (!created.ok) return created;
  const { session, replayed } = created.value;
  // With its key the client may come back to the session.
  const giveUp = async () => (replayed || key !== undefined ? null : eraseFor(deps, c, { session: session.id }));
  return ok({ session: session.id, model: session.model, after: null, isThrowaway: false, giveUp, discard: nothing });
}

async function addNew(asking: ResponseAsking, opened: Opened & Reading, tools: readonly ToolDefinition[] | null): Outcome<StartedResponse> {
  const { c, deps, request, key, idempotency: named } = asking;
  const { session, after, model: known, isThrowaway, discard, calls, readEnd } = opened;
  const { body, input, generation } = request;
  const model = known === null ? await findModel(readEnd) : ok(known);
  if (!model.ok) return err(toUnknownPlace(model.error, body));
  const taken = await takeMessages(c, deps, { session, messages: input.messages, isThrowaway });
  if (!taken.ok) return err(toUnknownPlace(taken.error, body));
  // No client can come back to a session that this request opens, but by its key.
  const idempotency = request.place.kind === "nothing" ? await readIdempotency(c, key) : named;
  const echo = readEcho(request, model.value);
  const results = input.results.map(({ result }) => result);
  const approvals = await findApprovals(calls, input.approvals);
  if (!approvals.ok) return approvals;
  const isAnswer = taken.value.length === 0;
  const turn = after?.turn ?? null;
  const asked = { ...echo, added: results.length + taken.value.length };
  const renews = isAnswer && (await asksAnew({ calls, readEnd }, turn, echo));
  const given: RespondInput = {
    after: turn,
    results,
    approvals: approvals.value,
    messages: taken.value,
    run: true,
    model: body.model ?? null,
    system: body.instructions ?? null,
    note: toNote(asked),
    generation: generation ?? null,
    tools,
    ...toMarks(asking, renews),
    idempotency,
  };
  const prepared = await compactRequest({ c, deps, request, calls, isThrowaway, given, asked });
  if (!prepared.ok) return err(toResponseError(prepared.error, request));
  const { sealed, ...left } = prepared.value;
  const sent = await send(asking, { calls, given: left.given, from: isThrowaway ? null : after });
  if (!sent.ok) return err(toResponseError(await explainWait(calls, sent.error), request));
  if ("copy" in sent.value) return beginInCopy(asking, { from: session, place: sent.value, given, key }, asked);
  const { cursor, stream = null } = sent.value;
  return begin({ calls, session, cursor, stream, discard, sealed, ...toEdit(request) }, { accepted: sent.value, given, echo: left.asked });
}

interface Begun {
  readonly accepted: Accepted;
  readonly given: RespondInput;
  readonly echo: ResponseAsked;
}

function begin(started: Beginning, { accepted, given, echo }: Begun): Outcome<StartedResponse> {
  const isAnswer = given.messages.length === 0;
  if (accepted.replayed) return answerAgain(started, { accepted, isAnswer, isAttempt: given.idempotency?.attempt !== undefined });
  const [turn, { position }] = [readTurn(accepted), accepted];
  return isAnswer ? continueTurn(started, { turn, position }) : beginLeg(started, turn, echo).then(ok);
}

type Continuing = Parameters<typeof respondInCopy>[2];

/** The results that the request brings are messages of the copy, which has no compaction of its own. */
async function beginInCopy({ c, deps, request }: ResponseAsking, place: Continuing, echo: ResponseAsked): Outcome<StartedResponse> {
  const continued = await respondInCopy(c, deps, place);
  if (!continued.ok) return err(toResponseError(continued.error, request));
  const { accepted, given, ...copy } = continued.value;
  const { cursor, stream = null } = accepted;
  return begin({ ...copy, cursor, stream, discard: nothing, sealed: null }, { accepted, given, echo });
}

/** A session keeps what does not fit. A response that is not stored has all that its model may read. */
const mustFit = ({ store, truncation, context_management: managed }: ResponseRequest["body"]): boolean =>
  store === false && truncation !== "auto" && (managed ?? []).length === 0;

function toEdit({ place, body: { store, truncation, context_management: managed } }: ResponseRequest): Pick<StartedResponse, "edit"> {
  const edit = managed?.[0]?.type ?? (truncation === "auto" ? "truncation" : undefined);
  return place.kind === "nothing" && store === false && edit !== undefined ? { edit } : {};
}

const toMarks = (
  { request: { body }, isStreamed }: ResponseAsking,
  renews: boolean,
): Pick<RespondInput, "renews" | "whole" | "listens"> => ({
  ...(renews && { renews }),
  ...(mustFit(body) && { whole: true }),
  ...(isStreamed && { listens: true }),
});

interface Sending {
  readonly calls: SessionCalls;
  readonly given: RespondInput;
  /** The response that is continued from its own place. Null: the conversation goes on where it is. */
  readonly from: NamedLeg | null;
}

/** Results of no open call may be of a reply that was added to the conversation as an item. */
async function send(
  { deps: { schedule, newId } }: ResponseAsking,
  { calls, given, from }: Sending,
): Promise<Answer<Responded | CopiedPlace>> {
  const way = given.idempotency ? calls.repeatable : calls.once;
  const { results, messages } = given;
  const place = from && { after: from.turn, leg: from.leg, copy: newId("ses") };
  const sendOnce = (input: RespondInput): Promise<Answer<Responded | CopiedPlace>> =>
    way((api, caller) => (place ? api.respondFrom(caller, { ...input, ...place }) : api.respond(caller, input)));
  return sendInLine({ calls, schedule }, async () => {
    const sent = await sendOnce(given);
    if (sent.ok || sent.error.code !== "call_not_open") return sent;
    const again = await sendOnce({ ...given, results: [], messages: [...toAnswers(results), ...messages] });
    return again.ok || again.error.code === "turn_running" ? again : sent;
  });
}

type Beginning = Pick<StartedResponse, "calls" | "cursor" | "stream" | "discard" | "edit"> & {
  readonly session: SessionId;
  /** What the compaction before a response holds that is not stored. */
  readonly sealed: string | null;
};

function readTurn({ turn_id: turn }: Accepted): TurnId {
  if (turn === null) throw new TypeError("a request that runs has a turn");
  return turn;
}

/** A message begins a turn. */
export async function beginLeg({ session, sealed, ...started }: Beginning, turn: TurnId, asked: ResponseAsked): Promise<StartedResponse> {
  const created_at = Math.floor(readIdTime(turn) / 1_000);
  const leg = { session, turn, leg: 1 };
  const compaction = sealed === null ? await findFirstItem(started.calls, leg, asked) : toFirstItem(leg, sealed);
  return { ...started, asked, leg, compaction, runs: new Map(), approvals: new Map(), created_at };
}

interface TurnPlace {
  readonly turn: TurnId;
  /** The position of the result that the leg answers. Null or 0: the leg is the turn's first. */
  readonly position: number | null;
}

/** Results and approvals alone continue their turn, or begin another one if they are asked for otherwise. */
export async function continueTurn(
  { session, sealed: _, ...started }: Beginning,
  { turn: id, position }: TurnPlace,
): Outcome<StartedResponse> {
  const first = { session, turn: id, leg: 1 };
  const found = await findResponse(started.calls, first);
  if (!found.ok) return found;
  const { turn, runs, approvals, ranHere } = found.value;
  const who = { ranHere, approvals };
  const leg = { ...first, leg: splitLegs(takeBefore(turn.items, position), who).length };
  const asked = toLegAsked(found.value.asked, leg);
  const compaction = await findFirstItem(started.calls, leg, asked);
  const { created_at } = buildHead({ session, turn, leg: leg.leg, asked, compaction }, who);
  return ok({ ...started, leg, runs, approvals, asked, compaction, created_at });
}

/** What the turn had when it went on with the results at `position`: others may have let it go on since. */
function takeBefore(items: readonly DisplayItem[], position: number | null): readonly DisplayItem[] {
  const reply = items.findIndex((item) => item.role === "assistant" && position !== null && item.position > position);
  return reply < 0 ? items : items.slice(0, reply);
}

/** The session has the request already: its response is told from the beginning. */
async function answerAgain(
  started: Beginning,
  { accepted, isAnswer, isAttempt }: { readonly accepted: Accepted; readonly isAnswer: boolean; readonly isAttempt: boolean },
): Outcome<StartedResponse> {
  const kept = ok({ turn: readTurn(accepted), isAnew: false });
  const answering = isAttempt ? await findAnswering(started.calls, accepted) : kept;
  if (!answering.ok) return answering;
  const { turn: turn_id, isAnew } = answering.value;
  const position = isAnswer && !isAnew ? accepted.position : 0;
  return continueTurn({ ...started, cursor: null }, { turn: turn_id, position });
}
