/**
 * The frames of the live stream: what a client receives about a session, in order, each at its own offset. An event's name is the frame's
 * `type`, its data the frame as JSON, its id the offset.
 */
import { z } from "@hono/zod-openapi";
import type { StopReason } from "../domain/events";
import { compactionFailure } from "./compaction";
import { id, idOrNull } from "./ids";
import { contentPart, displayItem, itemRole } from "./item";
import { callSource, callUsage, finishReason, turnFailure, turnFailureKind } from "./model-call";
import { dollars, tokenFigure } from "./tokens";
import { toolCallView } from "./tool";
import { notice } from "./turn";

const inTurn = { turn_id: id("trn") };
const ofReply = {
  message_id: id("msg").openapi({ description: "The id of the reply that this becomes part of" }),
};
const ofCompaction = { compaction_id: id("cmp") };

const contextNumbers = z.object({
  context_window: z.int().nullable(),
  assumed_window: z.int().nullable().openapi({ description: "The window that the policy assumes for an unknown one" }),
  current_context_tokens: tokenFigure.openapi({ description: "The size of the next request" }),
});
/** The figures that every usage frame carries, so that a client can draw how full the window is. */
export type ContextNumbers = z.infer<typeof contextNumbers>;

const turnFigures = contextNumbers.extend({
  usage: callUsage.nullable(),
  cost: dollars.openapi({ description: "US dollars of the turn's calls. Null if the cost of one of them is unknown" }),
});
/** Every end of a turn reports what its calls used. */
export type TurnFigures = z.infer<typeof turnFigures>;

const omitted = z
  .literal(true)
  .optional()
  .openapi({ description: "The content is left out because it is too large for a frame. The list of messages has it" });

const stopReason = z.enum(["requested", "interrupted_by_message", "superseded", "tools_expired"]) satisfies z.ZodType<StopReason>;

/** `turn.started` is `TurnStartedFrame` in the document. */
const toName = (type: string): string => `${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Frame`;

const frame = <T extends string, S extends z.ZodRawShape>(type: T, description: string, shape: S) =>
  z.object({ type: z.literal(type), ...shape }).openapi(toName(type), { description });

export const streamFrame = z
  .discriminatedUnion("type", [
    frame("message.accepted", "A message is durable. `position` is null while it waits in the queue", {
      message_id: id("msg"),
      turn_id: idOrNull("trn"),
      position: z.int().nullable(),
      queued: z.boolean(),
      role: itemRole.optional(),
      content: z.array(contentPart).readonly().optional().openapi({
        description:
          "With `role` on the session's own stream, as the record has it now: after a redaction the placeholder. Absent on the stream of one turn, and of a message that was taken back",
      }),
      content_omitted: omitted,
    }),
    frame("message.cancelled", "A queued message was taken back", { message_id: id("msg"), turn_id: idOrNull("trn") }),
    frame("message.redacted", "The content of a message was removed", { message_id: id("msg"), position: z.int() }),
    frame("turn.started", "A turn begins", {
      ...inTurn,
      attempt: z.int(),
      message_id: idOrNull("msg"),
      position: z.int().nullable(),
    }),
    frame("turn.resumed", "A turn goes on after a break: the text that follows begins anew", inTurn),
    frame("turn.waiting", "The model could not answer and is asked again in `wait_ms`. No output has been sent so far", {
      ...inTurn,
      model: z.string(),
      reason: turnFailureKind,
      wait_ms: z.number(),
    }),
    frame("text.delta", "More text of the reply", { ...inTurn, ...ofReply, text: z.string() }),
    frame("reasoning.delta", "More of the model's reasoning", { ...inTurn, ...ofReply, text: z.string() }),
    frame("item.completed", "A message of the turn is recorded, as the list of messages shows it", {
      ...inTurn,
      item: displayItem,
      content_omitted: omitted,
    }),
    frame("tool.started", "A tool call runs on the server", { ...inTurn, execution_id: id("exe") }),
    frame("approval.requested", "A tool call waits for a person's approval", { ...inTurn, tool_call: toolCallView }),
    frame("approval.resolved", "A tool call was approved or refused", { ...inTurn, execution_id: id("exe"), approved: z.boolean() }),
    frame("turn.awaiting_tools", "The turn waits: the client owes the results of these calls, or a person their approval", {
      ...inTurn,
      tool_calls: z.array(toolCallView).readonly(),
      content_omitted: omitted,
    }),
    frame("turn.completed", "The turn ended with a reply", { ...inTurn, finish: finishReason, ...turnFigures.shape }),
    frame("turn.failed", "The turn ended without a complete reply", { ...inTurn, failure: turnFailure, ...turnFigures.shape }),
    frame("turn.stopped", "The turn was stopped. Its text is kept", { ...inTurn, reason: stopReason, ...turnFigures.shape }),
    frame("turn.interrupted", "The turn ended with its process. Its text is kept", { ...inTurn, ...turnFigures.shape }),
    frame("usage.updated", "One model call is in the ledger, whatever its purpose. `turn_id` is null when it belongs to no turn", {
      turn_id: idOrNull("trn"),
      source: callSource,
      model: z.string(),
      usage: callUsage.nullable(),
      cost: dollars.openapi({ description: "US dollars. Null: unknown" }),
      ...contextNumbers.shape,
    }),
    frame("compaction.started", "A compaction runs. `status` is a text to show meanwhile", { ...ofCompaction, status: z.string() }),
    frame("compaction.drafted", "The draft's summary can be read, edited, and committed or discarded", ofCompaction),
    frame(
      "compaction.completed",
      "A compaction ended. The numbers are messages in the next request before and after: a summary counts as one, a reply with its calls as one, each result as one",
      {
        ...ofCompaction,
        did_compact: z.boolean(),
        failure: compactionFailure.nullable(),
        messages_before: z.int(),
        messages_after: z.int(),
      },
    ),
    frame("notice", "A text to show to the user", notice.shape),
    frame("branch.changed", "Another branch is current now, and `last_position` is its last. Read the conversation again", {
      branch: z.int(),
      last_position: z.int(),
    }),
    frame("session.erased", "The session was erased. The stream ends", {}),
    frame("stream.gap", "Frames up to the offset `to` are not kept. The list of messages has their content", { to: z.int() }),
    frame("stream.rewind", "What the client received after the offset `to` was lost with the process. The stream continues after it", {
      to: z.int(),
    }),
    frame("stream.halted", "What comes next cannot be recorded. The turn has not ended, but its own stream ends here", {
      reason: z.enum(["storage_full"]),
    }),
  ])
  .openapi("StreamFrame", { description: "The data of one event of the live stream, as JSON" });

/** What the stream itself reports beside the session's frames. */
type StreamNotice = "stream.gap" | "stream.rewind" | "stream.halted";
/** A frame about a session. */
export type Frame = Exclude<z.infer<typeof streamFrame>, { type: StreamNotice }>;
/** A frame that a client may receive. */
export type StreamFrame = z.infer<typeof streamFrame>;
