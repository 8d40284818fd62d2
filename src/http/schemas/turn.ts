import { z } from "@hono/zod-openapi";
import type { TurnReport } from "../../app/session-views";
import { id, idOrNull } from "../../contract/ids";
import { displayItem } from "../../contract/item";
import { callUsage, turnFailure, turnStatus } from "../../contract/model-call";
import { dollars } from "../../contract/tokens";
import { toolCallView } from "../../contract/tool";
import { documents } from "./documents";

export const turnView = documents<TurnReport>()(
  z
    .object({
      id: id("trn"),
      status: z.enum([...turnStatus.options, "queued", "generating", "running_tools", "awaiting_tools"]),
      finish: z.enum(["stop", "length", "tool_calls", "content_filter", "other"]).nullable(),
      failure: turnFailure.nullable(),
      attempt: z.int(),
      message_id: idOrNull("msg"),
      items: z.array(displayItem).readonly().openapi({ description: "What the turn produced, in order" }),
      items_truncated: z
        .boolean()
        .openapi({ description: "Older ones are left out of items, for their number or their size; the list of messages has them" }),
      open_calls: z.array(toolCallView).readonly(),
      model: z.string().nullable().openapi({
        description:
          "The model that was asked last: the session's model, or one of its policy's fallback_models. Null: no model was asked yet",
      }),
      usage: callUsage.nullable(),
      cost: dollars.openapi({ description: "US dollars of its calls; null: unknown of one of them" }),
      context_window: z.int().nullable(),
      assumed_window: z.int().nullable().openapi({ description: "What the policy takes an unknown window to be" }),
      current_context_tokens: z.number(),
      notices: z
        .array(z.object({ code: z.enum(["history_trimmed"]), text: z.string() }))
        .readonly()
        .openapi({ description: "What the user should be told: of this turn, or of what came after the one before it" }),
    })
    .openapi("Turn"),
);
