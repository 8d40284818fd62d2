/** The items of a conversation as people read them, and the acknowledgement of a new one. */
import { z } from "@hono/zod-openapi";
import type { ItemKind, Part } from "../domain/message";
import { domainShape } from "./domain-shape";
import { id, idOrNull, time } from "./ids";

export const itemKind = z.enum(["system", "user", "assistant", "tool_call", "tool_result"]) satisfies z.ZodType<ItemKind>;

const MAX_URL = 8192;
const isWebUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

export const textPart = z.strictObject({ type: z.literal("text"), text: z.string().min(1) });
export const reasoningPart = z.strictObject({ type: z.literal("reasoning"), text: z.string().min(1) });
export const mediaPart = z.strictObject({
  type: z.enum(["image", "file"]),
  /** By URL only: content as base64 never enters the log. */
  url: z.string().max(MAX_URL).refine(isWebUrl, "must be an http or https URL").openapi({ format: "uri" }),
  media_type: z.string().regex(/^[\w.+-]{1,64}\/[\w.+*-]{1,64}$/, "a media type, such as image/png"),
  name: z.string().min(1).max(255).optional(),
});

const partView = domainShape<Part>()(
  z.union([
    textPart,
    reasoningPart,
    mediaPart,
    z.object({ type: z.literal("tool_call"), call_id: z.string(), name: z.string(), arguments: z.string() }),
    z.object({ type: z.literal("tool_result"), call_id: z.string(), name: z.string(), output: z.string(), is_error: z.boolean() }),
  ]),
);

export const displayItem = z
  .object({
    id: id("msg"),
    position: z.int(),
    kind: itemKind,
    turn_id: idOrNull("trn"),
    created_at: time,
    parts: z.array(partView).readonly(),
    execution_id: idOrNull("exe"),
    incomplete: z.boolean().openapi({ description: "The reply was stopped, failed or was interrupted before its end" }),
    tokens: z.int().openapi({ description: "Estimated" }),
  })
  .openapi("Item", { description: "A message, call or result as people read it. Every item is listed, whatever the model's view holds" });
export type DisplayItem = z.infer<typeof displayItem>;

export const acceptedView = z
  .object({
    message_id: id("msg"),
    turn_id: idOrNull("trn"),
    position: z.int().nullable().openapi({ description: "Null while the message is queued: it gets its position when its turn starts" }),
    queued: z.boolean(),
    cursor: z.int().openapi({ description: "Read the live stream after this offset to see everything from message.accepted on" }),
  })
  .openapi("Accepted", { description: "The durable acknowledgement of a message" });
export type AcceptedView = z.infer<typeof acceptedView>;

/** `replayed`: the idempotency key was used before, and this is the first request's outcome. The answer says it in a header. */
export type Accepted = AcceptedView & { readonly replayed: boolean };
