/** A leg that has begun, and the native stream that it is told from. */
import type { Responded } from "../../app/respond-api";
import type { Schedule } from "../../app/session-ports";
import type { SessionId, TurnId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import type { HttpError } from "../problem";
import type { SessionCalls } from "../session-calls";
import { awaitWord } from "./await-word";

/** A leg that has begun, or that was there before. */
export interface StartedLeg {
  readonly session: SessionId;
  readonly turn: TurnId;
  /** The live stream's offset to begin after. Null: the leg is told as a whole, when it is complete. */
  readonly cursor: number | null;
  /** The live stream from there. Null: it was not opened with the request. */
  readonly stream: ReadableStream<Uint8Array> | null;
  /** The position that the leg's items follow. */
  readonly after: number;
  /** The leg is not the first of its turn. */
  readonly continues: boolean;
  readonly replayed: boolean;
  /** How often the model's view was changed before. */
  readonly epoch: number;
  /** The edit of its context that a request without a session asks for. Absent: none. */
  readonly edit?: string;
}

export function toStartedLeg(
  { turn_id: turn, cursor, position, replayed, stream }: Responded,
  place: Pick<StartedLeg, "session" | "epoch" | "continues" | "edit">,
): StartedLeg {
  if (turn === null) throw new TypeError("a request that runs has a turn");
  return { ...place, turn, cursor, stream: stream ?? null, after: position ?? 0, replayed };
}

/** `wait`: waits for the model's first word. Null in the result: it failed without one, and is to be told as a whole. */
export async function openLegToTell(
  calls: SessionCalls,
  leg: Pick<StartedLeg, "stream" | "cursor" | "turn">,
  wait: Schedule | null,
): Promise<Result<ReadableStream<Uint8Array> | null, HttpError>> {
  const stream = await openLeg(calls, leg);
  if (!stream.ok || wait === null) return stream;
  const begun = await awaitWord(stream.value, wait);
  if (!begun.isFailed) return ok(begun.stream);
  await begun.stream.cancel();
  return ok(null);
}

export async function openLeg(
  calls: SessionCalls,
  { stream, cursor, turn }: Pick<StartedLeg, "stream" | "cursor" | "turn">,
): Promise<Result<ReadableStream<Uint8Array>, HttpError>> {
  return stream ? ok(stream) : calls.repeatable((api, caller) => api.stream(caller, { after: cursor, turn }));
}
