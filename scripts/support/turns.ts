/** A turn from a client's view: the frames of its stream, up to the one that ends it. */
import { z } from "zod";
import { type Call, type Connection, streamApi } from "./api-client.ts";
import { createFrameReader } from "./frames.ts";

export const accepted = z.object({ message_id: z.string(), turn_id: z.string().nullable() });
export type Accepted = z.infer<typeof accepted>;

const inTurn = { turn_id: z.string() };
const turnEnd = z.discriminatedUnion("type", [
  z.object({ type: z.literal("turn.completed"), ...inTurn }),
  z.object({ type: z.literal("turn.awaiting_tools"), ...inTurn, tool_calls: z.array(z.object({ call_id: z.string() })) }),
  z.object({ type: z.literal("turn.failed"), ...inTurn, failure: z.object({ kind: z.string() }) }),
  z.object({ type: z.literal("turn.stopped"), ...inTurn, reason: z.string() }),
  z.object({ type: z.literal("turn.interrupted"), ...inTurn }),
]);
export type TurnEnd = z.infer<typeof turnEnd>;

const readEnd = createFrameReader(turnEnd);

export interface TurnListener {
  /** The durable acknowledgement, read from the stream. */
  onAccepted?(acknowledgement: Accepted): void;
  /** Called with each piece of the answer's text. */
  onText?(): void;
}

/** Sends `call` and reads to the end of the turn that it started. Null when the stream ended before the turn did. */
export async function runTurn(connection: Connection, call: Call, listener: TurnListener = {}): Promise<TurnEnd | null> {
  let turn: string | null = null;
  for await (const read of streamApi(connection, call)) {
    const { event, data } = read;
    if (event === "message.accepted" && turn === null) {
      const acknowledgement = accepted.parse(JSON.parse(data));
      turn = acknowledgement.turn_id;
      listener.onAccepted?.(acknowledgement);
    }
    if (event === "text.delta") listener.onText?.();
    const end = readEnd(read);
    if (end && (turn === null || end.turn_id === turn)) return end;
  }
  return null;
}
