/** Turns, and the notices that they carry. */
import { z } from "@hono/zod-openapi";
import { generationSchema } from "../context/generation";
import type { TurnPhase } from "../domain/state";
import { id, idOrNull, time } from "./ids";
import { displayItem } from "./item";
import { callUsage, finishReason, turnFailure, turnStatus } from "./model-call";
import { dollars, tokenFigure } from "./tokens";
import { toolCallView, toolDefinition } from "./tool";

export const turnPhase = z.enum(["generating", "running_tools", "awaiting_tools"]) satisfies z.ZodType<TurnPhase>;

export const notice = z.object({ code: z.enum(["history_trimmed"]), text: z.string() });
export type Notice = z.infer<typeof notice>;

export const turnReport = z
  .object({
    id: id("trn"),
    status: z.enum([...turnStatus.options, "queued", ...turnPhase.options]),
    finish: finishReason.nullable(),
    failure: turnFailure.nullable(),
    attempt: z.int(),
    created_at: time.openapi({ description: "When the turn was asked for, in epoch milliseconds" }),
    ended_at: time.nullable().openapi({ description: "When the turn ended, in epoch milliseconds. Null while it is open" }),
    message_id: idOrNull("msg"),
    items: z.array(displayItem).readonly().openapi({ description: "What the turn produced, in order" }),
    items_truncated: z.boolean().openapi({
      description: "`items` leaves older items out, because there are too many or they are too large. The list of messages has all of them",
    }),
    output_text: z.string().openapi({ description: "The text of the turn's newest reply. Empty if it has none" }),
    open_calls: z.array(toolCallView).readonly(),
    model: z.string().nullable().openapi({
      description:
        "The model that was asked last: the session's model, or one of its policy's fallback_models. In a completed turn it gave the answer. Null if no model was asked yet",
    }),
    usage: callUsage.nullable(),
    cost: dollars.openapi({ description: "US dollars of the turn's calls. Null if the cost of one of them is unknown" }),
    context_window: z.int().nullable(),
    assumed_window: z.int().nullable().openapi({ description: "The window that the policy assumes for an unknown one" }),
    current_context_tokens: tokenFigure.openapi({ description: "The size of the next request" }),
    notices: z
      .array(notice)
      .readonly()
      .openapi({ description: "Messages to show to the user: about this turn, or about what happened since the turn before" }),
  })
  .openapi("Turn", { description: "The current state of a turn. It is open while it is queued, generates, or runs or awaits tools" });
export type TurnReport = z.infer<typeof turnReport>;

export const turnSettings = z
  .object({
    model: z.string().openapi({ description: "The model that the turn asked for. One of the policy's fallback_models may have answered" }),
    system: z.string().nullable(),
    tools: z.array(toolDefinition).readonly(),
    generation: generationSchema,
    note: z.string().nullable().openapi({ description: "The client's own text about the turn, which no model reads" }),
    redacted: z.boolean().openapi({ description: "A redaction has deleted one of these texts since" }),
  })
  .openapi("TurnSettings", {
    description:
      "What a turn was asked with: its own choices over the session's settings when it started. A turn that has not started is shown over the session's present settings",
  });
export type TurnSettings = z.infer<typeof turnSettings>;
