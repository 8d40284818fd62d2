/** Waits until a turn goes on that waits for a person's approval, which is given elsewhere. */
import type { Schedule } from "../../app/session-ports";
import type { TurnId } from "../../domain/ids";
import type { SessionCalls } from "../session-calls";
import { translateStream } from "./translate-stream";

/** A client that asks without an end has an answer about twice a minute, and one that waits is not cut off by a proxy. */
const MOST_WAIT_MS = 30_000;

interface Waiting {
  readonly turn: TurnId;
  /** The live stream's offset when the turn was seen waiting. */
  readonly after: number;
  readonly schedule: Schedule;
}

export async function waitForMove(calls: SessionCalls, { turn, after, schedule }: Waiting): Promise<void> {
  const stream = await calls.repeatable((api, caller) => api.stream(caller, { after, turn: null }));
  if (!stream.ok) return;
  let hasMoved = false;
  const frames = translateStream(stream.value, {
    frame(frame) {
      hasMoved ||= frame.type === "session.erased" || ("turn_id" in frame && frame.turn_id === turn);
      return "";
    },
    isOver: () => hasMoved,
    end: () => "",
    broken: () => "",
  });
  const reader = frames.getReader();
  const late = Promise.withResolvers<void>();
  const stopWaiting = schedule(MOST_WAIT_MS, late.resolve);
  try {
    await Promise.race([readToEnd(reader), late.promise]);
  } finally {
    stopWaiting();
    await reader.cancel();
  }
}

async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}
