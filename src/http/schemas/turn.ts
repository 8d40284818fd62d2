import { z } from "@hono/zod-openapi";
import type { TurnReport } from "../../app/session-views";
import type { TurnFailure } from "../../domain/events";
import { type CallUsage, FAILURE_KINDS } from "../../domain/model-call";
import { documents } from "./documents";
import { id, idOrNull } from "./ids";
import { itemView } from "./message";
import { toolCallView } from "./tool";

export const usageView = documents<CallUsage>()(
  z.object({
    input: z.int().openapi({ description: "Cached tokens included" }),
    output: z.int(),
    cached: z.int(),
    reasoning: z.int().openapi({ description: "Part of output; where it is more, beside it" }),
    cache_write: z.int().optional().openapi({ description: "Part of input; absent: not reported" }),
  }),
);

/** US dollars. Null means unknown, never free. */
export const dollars = z.number().nullable();

export const modelFailureKind = z.enum(FAILURE_KINDS);

const byteFit = z.object({ floor: z.int(), limit: z.int() });

export const fitReportView = z.object({
  floor: z.number().openapi({ description: "Tokens of what no compaction can remove" }),
  limit: z.number().openapi({ description: "Tokens that the model has room for" }),
  biggest: z
    .array(z.object({ what: z.string(), tokens: z.number(), bytes: z.int().optional() }))
    .readonly()
    .openapi({ description: "What weighs most in it" }),
  bytes: byteFit.optional().openapi({
    description:
      "Bytes of what no compaction can remove, and the most that a request may hold, where they are the reason; limit is then as many tokens",
  }),
});

export const turnFailureView = documents<TurnFailure>()(
  z.object({
    kind: z.enum([...modelFailureKind.options, "cannot_fit", "round_limit", "storage_full", "unknown_model", "crashed", "internal"]),
    status: z.int().nullable().openapi({ description: "The provider's HTTP status, if it answered" }),
    fit: fitReportView.optional(),
    bytes: byteFit.optional().openapi({
      description: "The request's body in bytes (floor), and the most that one may have (limit): it was larger, and was not sent",
    }),
    limit: z
      .int()
      .optional()
      .openapi({ description: "Tokens that the provider says would fit: of the request (overflow), of the reply (output_cap)" }),
    retry_after_ms: z.int().optional().openapi({ description: "How long the provider asked to wait, when it was last asked" }),
  }),
);

export const turnStatus = z.enum(["completed", "failed", "stopped", "interrupted"]);

export const turnView = documents<TurnReport>()(
  z
    .object({
      id: id("trn"),
      status: z.enum([...turnStatus.options, "queued", "generating", "running_tools", "awaiting_tools"]),
      finish: z.enum(["stop", "length", "tool_calls", "content_filter", "other"]).nullable(),
      failure: turnFailureView.nullable(),
      attempt: z.int(),
      message_id: idOrNull("msg"),
      items: z.array(itemView).readonly().openapi({ description: "What the turn produced, in order" }),
      items_truncated: z
        .boolean()
        .openapi({ description: "Older ones are left out of items, for their number or their size; the list of messages has them" }),
      open_calls: z.array(toolCallView).readonly(),
      model: z.string().nullable().openapi({
        description:
          "The model that was asked last: the session's model, or one of its policy's fallback_models. Null: no model was asked yet",
      }),
      usage: usageView.nullable(),
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
