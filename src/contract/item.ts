/** The items of a conversation as people read them, and the acknowledgement of a new one. */
import { z } from "@hono/zod-openapi";
import type { ItemKind, Part, ToolCallPart, ToolResultPart } from "../domain/message";
import { domainShape } from "./domain-shape";
import { id, idOrNull, time } from "./ids";
import { fileName } from "./label";
import { tokenFigure } from "./tokens";

export const itemKind = z.enum(["system", "user", "assistant", "tool_call", "tool_result"]) satisfies z.ZodType<ItemKind>;

/** The client's own id of a message. */
export const clientId = z.string().min(1).max(128);

const MAX_URL = 8192;
const DATA_URL = /^data:[^,]{0,255};base64,/i;
const isDataUrl = (text: string): boolean => DATA_URL.test(text);
const isWebUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

export const textPart = z.strictObject({ type: z.literal("text"), text: z.string().min(1) });
export const reasoningPart = z.strictObject({ type: z.literal("reasoning"), text: z.string().min(1) });
const media = {
  type: z.enum(["image", "file"]),
  media_type: z.string().regex(/^[\w.+-]{1,64}\/[\w.+*-]{1,64}$/, "a media type, such as image/png"),
  name: fileName.optional(),
};
const fileId = id("fil").openapi({ description: "A stored file. Its type and size are the file's own" });

/** An image or a file as clients write it: by exactly one of `file_id` and `url`. Content as base64 never enters the log. */
export const mediaInput = z
  .strictObject({
    ...media,
    url: z
      .string()
      .refine((url) => isDataUrl(url) || (url.length <= MAX_URL && isWebUrl(url)), "must be an http, https or base64 data URL")
      .openapi({ format: "uri", description: "A data URL becomes a stored file" })
      .optional(),
    file_id: fileId.optional(),
    media_type: media.media_type.optional().openapi({ description: "Needed with an http or https URL. Ignored for a stored file" }),
    bytes: z.int().optional().openapi({ readOnly: true }),
    tokens: z.number().optional().openapi({ readOnly: true }),
  })
  .superRefine(({ url, file_id, media_type }, context) => {
    const refuse = (field: string, message: string) => context.addIssue({ code: "custom", path: [field], message });
    if ((url === undefined) === (file_id === undefined)) refuse("file_id", "either file_id or url is needed");
    else if (url !== undefined && !isDataUrl(url) && media_type === undefined) refuse("media_type", "required with a URL");
  });

const linkedMedia = z.strictObject({ ...media, url: z.string().openapi({ format: "uri" }) });
const storedMedia = z.strictObject({
  ...media,
  file_id: fileId,
  bytes: z.int().openapi({ readOnly: true }),
  tokens: z.number().openapi({ readOnly: true, description: "Estimated, for a model that reads the file" }),
});

const providerData = { provider_metadata: z.record(z.string(), z.unknown()).optional() };
/** Media as a text of the log holds them. */
export const storedMediaPart = z.union([
  linkedMedia.extend({ ...providerData, url: z.string().max(MAX_URL).refine(isWebUrl, "must be an http or https URL") }),
  storedMedia.extend({ ...providerData, bytes: z.int().min(0), tokens: z.number().min(0) }),
]);

export const contentPart = domainShape<Exclude<Part, ToolCallPart | ToolResultPart>>()(
  // An output may be empty.
  z.union([textPart.extend({ text: z.string() }), reasoningPart, linkedMedia, storedMedia]),
);

const redacted = z.literal(true).optional();

const messageCall = z.object({
  id: id("msg").openapi({
    description: "The call's own id. The session can go back to it. It redacts the call alone, unless it is also the id of the message",
  }),
  position: z.int(),
  execution_id: id("exe"),
  call_id: z.string().openapi({ description: "The provider's own id of the call, which may repeat" }),
  name: z.string(),
  arguments: z.string().openapi({ description: "JSON text, as the model wrote it" }),
  redacted: redacted.openapi({ description: "True: a redaction has removed the arguments. Absent otherwise" }),
});

export const itemRole = z.enum(["user", "assistant", "system", "tool"]);

export const displayItem = z
  .object({
    id: id("msg"),
    position: z.int().openapi({ description: "Its place in the conversation, from 1. The calls of a reply take the places after it" }),
    role: itemRole,
    content: z
      .array(contentPart)
      .readonly()
      .openapi({ description: "Role tool: one text part, the output. A reply may consist of calls alone" }),
    tool_calls: z
      .array(messageCall)
      .readonly()
      .optional()
      .openapi({ description: "Role assistant: the calls of the reply. Absent if there are none" }),
    call_id: z.string().optional().openapi({ description: "Role tool: the provider's own id of the answered call, which may repeat" }),
    tool_name: z.string().optional().openapi({ description: "Role tool: the name of the called tool" }),
    is_error: z.boolean().optional().openapi({ description: "Role tool: the call failed" }),
    execution_id: id("exe").optional().openapi({ description: "Role tool: the execution whose result this is" }),
    name: z.string().nullable().openapi({ description: "Who speaks" }),
    client_id: z.string().nullable().openapi({ description: "The client's own id of the message, unique in the session" }),
    metadata: z.record(z.string(), z.string()),
    turn_id: idOrNull("trn"),
    created_at: time.openapi({ description: "When it was said. For an imported message this is what the client reported, if it did" }),
    recorded_at: time.openapi({ description: "When it entered the log" }),
    incomplete: z.boolean().openapi({
      description: "The reply was cut off before its end: it was stopped, failed, was interrupted, reached its limit or was filtered",
    }),
    redacted: redacted.openapi({
      description:
        "True: a redaction, or a rule about the age of tool results, has removed the content, and a placeholder stands for it. Absent otherwise",
    }),
    tokens: tokenFigure,
  })
  .openapi("Item", {
    description:
      "A message as people read it. Every message is listed, whatever the model's view holds. It can be posted to another session as it is",
  });
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

export const importedMessages = z
  .object({
    data: z
      .array(z.object({ id: id("msg"), position: z.int(), client_id: z.string().nullable() }))
      .readonly()
      .openapi({ description: "One for each message of the request, in its order" }),
    cursor: z.int().openapi({ description: "Read the live stream after this offset to see everything from message.accepted on" }),
  })
  .openapi("ImportedMessages", { description: "The durable acknowledgement of messages that were appended together" });
export type ImportedMessages = z.infer<typeof importedMessages>;

/** `replayed`: the idempotency key was used before, and this is the first request's outcome. The answer says it in a header. */
export type Accepted = AcceptedView & { readonly replayed: boolean };
