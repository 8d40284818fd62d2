/** One response over a WebSocket: the same story as over HTTP, with each event as a message. */
import type { StreamFrame } from "../../../contract/frame";
import type { SessionId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import type { Asker, HttpDeps } from "../../deps";
import type { HttpError } from "../../problem";
import { toLegName } from "../../surface/ids";
import { openUnlisted } from "../../surface/throwaway";
import { translateStream } from "../../surface/translate-stream";
import { openEvents } from "./answer-response";
import { startContinued } from "./continued";
import type { NumberedEvent } from "./events";
import { toErrorEvent } from "./frame-ends";
import type { ResponseFold } from "./frames";
import { toUnknownPlace } from "./refusal";
import { openInput, parseResponseRequest, type ResponseRequest } from "./request";
import { RESPONSE_PREFIX } from "./show-response";
import type { CreateMessage } from "./socket-message";
import { buildWarmResponse } from "./socket-warm-up";
import type { StartedResponse } from "./start-response";

/** The newest response of the connection, if it is not stored. Its session lasts as long as the connection can continue it. */
export interface CachedResponse {
  readonly response: string;
  readonly session: SessionId;
}

interface SocketAsking {
  readonly c: Asker;
  readonly deps: HttpDeps;
  readonly message: CreateMessage;
  readonly cached: CachedResponse | null;
  /** Notes a session that must be erased with the connection at the latest. */
  keep(session: SessionId): Promise<void>;
  send(text: string): void;
}

export interface SocketAnswer {
  /** What the connection caches after the response. Null: nothing. */
  readonly cached: CachedResponse | null;
  /** The response of a warm-up. Null: it was none. */
  readonly warm: string | null;
  /** The last message. Once the client has it, it may send its next request, so that it is sent when the connection is ready for that. */
  readonly last: string;
}

export async function answerOnSocket(asking: SocketAsking): Promise<Result<SocketAnswer, HttpError>> {
  const request = await readRequest(asking);
  if (!request.ok) return request;
  if (asking.message.warmsUp) return warmUp(asking, request.value);
  const opened: { session: SessionId | null } = { session: continues(asking) ? (asking.cached?.session ?? null) : null };
  const { c, deps } = asking;
  const openUnstored = async (asked: { readonly model: string | undefined }) => {
    const unlisted = await openUnlisted(c, deps, asked);
    if (!unlisted.ok) return unlisted;
    await asking.keep(unlisted.value);
    opened.session = unlisted.value;
    return ok({ session: unlisted.value, discard: () => {} });
  };
  const named = { key: undefined, idempotency: null, isStreamed: true };
  const { started } = await startContinued({ c, deps, request: request.value, ...named, openUnstored });
  if (!started.ok) return started;
  const told = await tell(started.value, asking);
  if (!told.ok) return told;
  const { session } = opened;
  const { event, isComplete } = told.value;
  const cached = isComplete && session !== null ? { session, response: toLegName(RESPONSE_PREFIX, started.value.leg) } : null;
  return ok({ cached, warm: null, last: toMessage(event, asking.message.lane) });
}

/** What the connection can continue stays: the warm-up may be behind it. */
function warmUp({ deps, message: { lane }, cached, send }: SocketAsking, request: ResponseRequest): Result<SocketAnswer, HttpError> {
  const built = buildWarmResponse(deps, request);
  if (!built.ok) return built;
  const messages = built.value.events.map((event) => toMessage(event, lane));
  for (const message of messages.slice(0, -1)) send(message);
  return ok({ cached, warm: built.value.id, last: messages.at(-1) ?? "" });
}

/** Whether the request goes on with the response that this connection keeps. */
const continues = ({ message: { body }, cached }: Pick<SocketAsking, "message" | "cached">): boolean =>
  cached !== null && body.previous_response_id === cached.response;

const invalid = (field: string, detail: string): Result<never, HttpError> => err({ code: "invalid_request", errors: [{ field, detail }] });

async function readRequest(asking: SocketAsking): Promise<Result<ResponseRequest, HttpError>> {
  const { body } = asking.message;
  const { previous_response_id: previous, store } = body;
  const goesOn = continues(asking);
  if (goesOn && store !== false) return invalid("store", "the response that it continues is not stored: must be false");
  // A response that is not stored can be continued by its own connection alone.
  if (!goesOn && store === false && typeof previous === "string")
    return err(toUnknownPlace({ code: "turn_not_found", turn: previous }, { previous_response_id: previous }));
  const whole = asking.message.warmsUp ? { ...body, input: body.input ?? [] } : body;
  const given = await openInput(asking.c, asking.deps, whole);
  if (!given.ok) return given;
  // To the session of the connection it is a place like any other.
  const asked = typeof given.value === "object" && goesOn ? { ...given.value, store: true } : given.value;
  const request = parseResponseRequest(asked);
  return request.ok && goesOn ? ok({ ...request.value, body: { ...request.value.body, store: false } }) : request;
}

const LOST = { code: "server_error", message: "The connection to the response was lost. If it is stored it goes on: retrieve it." };
const COMPLETE: ReadonlySet<string> = new Set(["response.completed", "response.incomplete"]);
const LAST: ReadonlySet<string> = new Set([...COMPLETE, "response.failed"]);

interface Told {
  readonly event: NumberedEvent;
  readonly isComplete: boolean;
}

/** Sends the events up to the last, and returns that one. */
async function tell(started: StartedResponse, { message: { lane }, send }: SocketAsking): Promise<Result<Told, HttpError>> {
  const events = await openEvents(started);
  if (!events.ok) return events;
  const { frames, fold } = events.value;
  const told: { last: NumberedEvent | null; next: number } = { last: null, next: 0 };
  const tellFrame = (frame: StreamFrame): string => {
    for (const event of fold.take(frame)) {
      told.next = event.sequence_number + 1;
      if (LAST.has(event.type)) told.last = event;
      else send(toMessage(event, lane));
    }
    return "";
  };
  await drain(frames, { fold, tellFrame });
  const event = told.last ?? { ...toErrorEvent(LOST), sequence_number: told.next };
  return ok({ event, isComplete: COMPLETE.has(event.type) });
}

const toMessage = (event: NumberedEvent, lane: string | null): string =>
  JSON.stringify(lane === null ? event : { ...event, stream_id: lane });

interface Draining {
  readonly fold: ResponseFold;
  readonly tellFrame: (frame: StreamFrame) => string;
}

async function drain(frames: ReadableStream<Uint8Array>, { fold, tellFrame }: Draining): Promise<void> {
  const nothing = (): string => "";
  const reader = translateStream(frames, { frame: tellFrame, isOver: () => fold.hasEnded, end: nothing, broken: nothing }).getReader();
  while (!(await reader.read()).done);
}
