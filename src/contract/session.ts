/** Sessions: the description of one, the row of a list, and the receipt of an erasure. */
import { z } from "@hono/zod-openapi";
import { generationSchema } from "../context/generation";
import { policySchema } from "../context/policy";
import { policyChoiceSchema } from "../context/policy-choice";
import { breakerView } from "./compaction";
import { id, idOrNull, time } from "./ids";
import { turnFailure, turnStatus, usageSums } from "./model-call";
import { pinView } from "./pin";
import { tokenFigure } from "./tokens";
import { toolCallView, toolDefinition } from "./tool";
import { turnPhase } from "./turn";

/** No list shows an archived session unless it is asked to. */
const archivedAt = time.nullable().openapi({
  description: "When the session was archived. Null: it is not. The next message or change brings an archived session back",
});

/** How a client finds its sessions again. */
const labels = {
  external_id: z.string().nullable().openapi({ description: "The client's own id of the session, unique in the tenant. Null: none" }),
  end_user: z.string().nullable().openapi({ description: "The client's id of the person who talks. Null: none" }),
  metadata: z.record(z.string(), z.string()).readonly(),
};

export const sessionDescription = z
  .object({
    id: id("ses"),
    model: z.string(),
    policy: policyChoiceSchema,
    effective_policy: policySchema,
    summary_instructions: z.string().nullable().openapi({
      description:
        "What summaries should pay attention to. It takes precedence over summary.instructions of the policy. Null: the policy's",
    }),
    system: z.string().nullable(),
    tools: z.array(toolDefinition).readonly(),
    pins: z.array(pinView).readonly().openapi({ description: "Texts that every request to the model repeats, before the summaries" }),
    title: z.string().nullable(),
    ...labels,
    generation: generationSchema,
    etag: z.string().openapi({
      description:
        "The etag of the settings and pins, as in the header ETag. It does not change when messages come; a title that a model makes changes it",
    }),
    created_at: time,
    updated_at: time,
    archived_at: archivedAt,
    message_count: z.int(),
    epoch: z.int(),
    branch: z.int().openapi({ description: "The number of the current branch" }),
    branches: z.int().openapi({ description: "The number of branches" }),
    forked_from: z
      .object({ session_id: id("ses"), at: z.int() })
      .nullable()
      .openapi({ description: "The source of a fork, and the last position shared with it. Null if the session is not a fork" }),
    compacted_summary: z.string().nullable().openapi({ description: "All summaries in the view as one text. Null if there is none" }),
    compact_boundary_timestamp: z.int().nullable(),
    context_window: z.int().nullable(),
    assumed_window: z.int().nullable().openapi({ description: "The window that the policy assumes for an unknown one" }),
    current_context_tokens: tokenFigure.openapi({ description: "The size of the next request" }),
    total_tokens: z.number().openapi({
      description:
        "Tokens that all calls together read and wrote. Each call counts its whole context again, so this is a billing total; current_context_tokens is the size",
    }),
    usage: usageSums,
    breaker: breakerView,
    turn: z.object({ id: id("trn"), phase: turnPhase, open_calls: z.array(toolCallView).readonly() }).nullable(),
    last_turn: z.object({ id: id("trn"), status: turnStatus, failure: turnFailure.nullable() }).nullable(),
    queued: z.array(z.object({ id: id("msg"), turn_id: idOrNull("trn") })).readonly(),
    stream_offset: z.int().openapi({ description: "Offset of the newest frame of the live stream" }),
  })
  .openapi("Session");
export type SessionDescription = z.infer<typeof sessionDescription>;

export const sessionSummary = z
  .object({
    id: id("ses"),
    title: z.string().nullable(),
    ...labels,
    model: z.string(),
    message_count: z.int(),
    last_message_preview: z
      .string()
      .nullable()
      .openapi({ description: "The beginning of the newest message's text. Null if there is no message yet" }),
    created_at: time,
    updated_at: time,
    archived_at: archivedAt,
    compacted: z.boolean().openapi({ description: "A summary or a trim replaces part of the conversation in the model's view" }),
  })
  .openapi("SessionSummary");
export type SessionSummary = z.infer<typeof sessionSummary>;

/** What the session's object answers. */
const erasureReceipt = z.object({
  id: id("ses"),
  erased_at: time,
  stores: z
    .array(
      z.object({
        store: z.string().openapi({ description: "session, read_model, files, exports, chat, directory" }),
        status: z.enum(["erased", "pending"]),
        rows: z.int().nullable(),
      }),
    )
    .readonly(),
});

export type ErasureReceipt = z.infer<typeof erasureReceipt>;

export const sessionErasure = erasureReceipt
  .extend({
    erasure_id: idOrNull("era").openapi({
      description: "The erasure, whose receipt stays. Null if the tenant's object has no note of it",
    }),
  })
  .openapi("ErasureReceipt");
export type SessionErasure = z.infer<typeof sessionErasure>;
