/** The frames of a session's live stream that the demo shows. */
import { z } from "zod";
import { type Connection, streamApi } from "../support/api-client.ts";
import { createFrameReader } from "../support/frames.ts";
import { Failure } from "../support/output.ts";

const message = z.object({
  role: z.string(),
  content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
  tool_calls: z.array(z.object({ name: z.string(), arguments: z.string() })).default([]),
});
export type LiveMessage = z.infer<typeof message>;

const liveFrame = z.discriminatedUnion("type", [
  z.object({ type: z.literal("turn.started"), turn_id: z.string(), attempt: z.number() }),
  z.object({ type: z.literal("item.completed"), turn_id: z.string(), item: message }),
  z.object({
    type: z.literal("turn.completed"),
    turn_id: z.string(),
    context_window: z.number(),
    current_context_tokens: z.object({ tokens: z.number() }),
  }),
  z.object({ type: z.literal("compaction.started"), compaction_id: z.string() }),
  z.object({
    type: z.literal("compaction.completed"),
    compaction_id: z.string(),
    did_compact: z.boolean(),
    failure: z.string().nullable(),
  }),
  z.object({ type: z.literal("notice"), text: z.string() }),
]);
export type LiveFrame = z.infer<typeof liveFrame>;

const readFrame = createFrameReader(liveFrame);

/** Yields the frames from the session's beginning on. Throws a `Failure` when the server ends the stream. */
export async function* liveFrames(connection: Connection, session: string): AsyncGenerator<LiveFrame> {
  for await (const event of streamApi(connection, { method: "GET", path: `/v1/sessions/${session}/stream?after=0` })) {
    const frame = readFrame(event);
    if (frame) yield frame;
  }
  throw new Failure("The live stream ended before the conversation did.");
}
