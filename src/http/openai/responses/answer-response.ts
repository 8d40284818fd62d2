/** The answer to a request for a response: the whole resource, or the events of its stream. */
import { ok, type Result } from "../../../lib/result";
import type { HttpError } from "../../problem";
import { toLegName } from "../../surface/ids";
import { openLeg } from "../../surface/started-leg";
import { ResponseFold } from "./frames";
import { buildResource, showTurn } from "./read-response";
import type { buildResponse } from "./resource";
import { RESPONSE_PREFIX } from "./show-response";
import type { StartedResponse } from "./start-response";

type Outcome<T> = Promise<Result<T, HttpError>>;

/** Waits for the end of the response. One in the background is shown as it is. */
export async function readWhole({ calls, leg, asked, compaction }: StartedResponse): Outcome<ReturnType<typeof buildResponse>> {
  const { turn: id } = leg;
  const turn = await calls.repeatable((api, caller) => (asked.background ? api.turn(caller, id) : api.waitForTurn(caller, id)));
  if (!turn.ok) return turn;
  const found = await showTurn(calls, { leg, turn: turn.value, asked, compaction });
  return found.ok ? buildResource(calls, leg, found.value) : found;
}

/** Frames of the session, and what makes events of them. */
interface OpenEvents {
  readonly frames: ReadableStream<Uint8Array>;
  readonly fold: ResponseFold;
}

export async function openEvents(started: StartedResponse): Outcome<OpenEvents> {
  const { calls, leg, asked, compaction, cursor, stream, runs, approvals, created_at } = started;
  const { turn } = leg;
  const frames = await openLeg(calls, { stream, cursor, turn });
  if (!frames.ok) return frames;
  const head = { id: toLegName(RESPONSE_PREFIX, leg), created_at, asked, compaction };
  return ok({ frames: frames.value, fold: new ResponseFold({ head, leg, from: cursor === null ? 1 : leg.leg, runs, approvals }) });
}
