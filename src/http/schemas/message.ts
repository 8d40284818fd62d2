/** Messages as clients write them, and items as people read them. */
import { z } from "@hono/zod-openapi";
import type { Accepted, DisplayItem, SubmitInput } from "../../app/session-api";
import type { Part } from "../../domain/message";
import { defined, documents } from "./documents";
import { id, idOrNull, time } from "./ids";
import { toolsInput, toTools } from "./tool";

const MAX_URL = 8192;
/** Parts of one message: more are no message that a person wrote, and each costs a request its own wrapping. */
const MAX_PARTS = 128;
const isWebUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

const text = z.strictObject({ type: z.literal("text"), text: z.string().min(1) });
const reasoning = z.strictObject({ type: z.literal("reasoning"), text: z.string().min(1) });
const media = z.strictObject({
  type: z.enum(["image", "file"]),
  /** By reference: content as base64 never enters the log. */
  url: z.string().max(MAX_URL).refine(isWebUrl, "must be an http or https URL").openapi({ format: "uri" }),
  media_type: z.string().regex(/^[\w.+-]{1,64}\/[\w.+*-]{1,64}$/, "a media type, such as image/png"),
  name: z.string().min(1).max(255).optional(),
});
const partInput = z.discriminatedUnion("type", [text, reasoning, media]);
type PartInput = z.infer<typeof partInput>;

const allowed: Readonly<Record<SubmitInput["role"], readonly PartInput["type"][]>> = {
  user: ["text", "image", "file"],
  assistant: ["text", "reasoning"],
  system: ["text"],
};

const isBlank = (content: string | readonly PartInput[]): boolean =>
  typeof content === "string"
    ? content.trim() === ""
    : content.every((part) => (part.type === "text" || part.type === "reasoning") && part.text.trim() === "");

export const messageInput = z
  .strictObject({
    content: z.union([z.string(), z.array(partInput).max(MAX_PARTS)]),
    role: z.enum(["user", "assistant", "system"]).default("user"),
    on_busy: z.enum(["queue", "reject", "interrupt"]).default("queue"),
    run: z.boolean().default(true).openapi({ description: "false: append only, no turn" }),
    tools: toolsInput.nullable().optional().openapi({ description: "For this turn only, in place of the session's" }),
  })
  .superRefine(({ content, role, run, tools }, context) => {
    const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: "custom", path, message });
    if (isBlank(content)) refuse(["content"], "must not be empty");
    if (role !== "user" && run) refuse(["role"], "only user with run: true");
    if (tools && !run) refuse(["tools"], "only with run: true");
    for (const [index, { type }] of (typeof content === "string" ? [] : content).entries()) {
      if (!allowed[role].includes(type)) refuse(["content", index, "type"], `a message of role ${role} holds ${allowed[role].join(", ")}`);
    }
  })
  .openapi("SubmitMessage");

export function toParts(content: string | readonly PartInput[]): readonly Part[] {
  return typeof content === "string"
    ? [{ type: "text", text: content }]
    : content.map((part) => (part.type === "text" ? part : defined(part)));
}

export function toSubmitInput(input: z.infer<typeof messageInput>): Omit<SubmitInput, "idempotency"> {
  return {
    role: input.role,
    parts: toParts(input.content),
    run: input.run,
    onBusy: input.on_busy,
    tools: toTools(input.tools),
  };
}

const metadata = { provider_metadata: z.record(z.string(), z.unknown()).readonly().optional() };
const partView = documents<Part>()(
  z.union([
    text.extend(metadata),
    reasoning.extend(metadata),
    media.extend(metadata),
    z.object({ type: z.literal("tool_call"), call_id: z.string(), name: z.string(), arguments: z.string(), ...metadata }),
    z.object({ type: z.literal("tool_result"), call_id: z.string(), name: z.string(), output: z.string(), is_error: z.boolean() }),
  ]),
);

export const itemView = documents<DisplayItem>()(
  z
    .object({
      id: id("msg"),
      position: z.int(),
      kind: z.enum(["system", "user", "assistant", "tool_call", "tool_result"]),
      turn_id: idOrNull("trn"),
      created_at: time,
      parts: z.array(partView).readonly(),
      execution_id: idOrNull("exe"),
      incomplete: z.boolean().openapi({ description: "Cut off: stopped, failed or interrupted in the middle" }),
      tokens: z.int().openapi({ description: "Estimated" }),
    })
    .openapi("Item"),
);

export type AcceptedView = Omit<Accepted, "replayed">;

export const acceptedView = documents<AcceptedView>()(
  z
    .object({
      message_id: id("msg"),
      turn_id: idOrNull("trn"),
      position: z.int().nullable().openapi({ description: "Null while it waits in the queue" }),
      queued: z.boolean(),
      cursor: z.int().openapi({ description: "Read the live stream after this offset to see everything from message.accepted on" }),
    })
    .openapi("Accepted"),
);
