/** Messages as clients write them. */
import { z } from "@hono/zod-openapi";
import type { SubmitInput } from "../../app/session-api";
import { mediaInput, reasoningPart, textPart } from "../../contract/item";
import type { Part } from "../../domain/message";
import { toTurnInput, turnChoices } from "./generation";
import { callId, importedCalls, toolsInput } from "./tool";

/** Maximum number of parts of one message: more than a person writes, and each part adds its own overhead to a request. */
const MAX_PARTS = 128;
const partInput = z.discriminatedUnion("type", [textPart, reasoningPart, mediaInput]);
export type PartInput = z.infer<typeof partInput>;
export type Content = string | PartInput[];
export type MediaPartInput = z.infer<typeof mediaInput>;
export const isMediaInput = (part: PartInput): part is MediaPartInput => part.type === "image" || part.type === "file";
type Role = SubmitInput["role"];

const allowed: Readonly<Record<Role, readonly PartInput["type"][]>> = {
  user: ["text", "image", "file"],
  assistant: ["text", "reasoning"],
  system: ["text"],
  tool: ["text"],
};

const isBlank = (content: Content): boolean =>
  typeof content === "string"
    ? content.trim() === ""
    : content.every((part) => (part.type === "text" || part.type === "reasoning") && part.text.trim() === "");

const fields = z.strictObject({
  content: z
    .union([z.string(), z.array(partInput).max(MAX_PARTS)], "must be a string or a list of parts")
    .optional()
    .openapi({ description: "Needed, unless a reply has tool_calls; of role tool the output, which may be empty" }),
  role: z.enum(["user", "assistant", "system", "tool"]).default("user"),
  on_busy: z.enum(["queue", "reject", "interrupt"]).default("queue"),
  run: z.boolean().default(true).openapi({ description: "false: append only, no turn; for recorded conversations" }),
  tool_calls: importedCalls.optional().openapi({ description: "Of role assistant: the calls of a recorded reply" }),
  call_id: callId.optional().openapi({
    description: "Of role tool: the imported call that this is the result of; of several with the same id the first open one",
  }),
  is_error: z.boolean().optional().openapi({ description: "Of role tool: the call failed" }),
  tools: toolsInput.nullable().optional().openapi({ description: "For this turn only, in place of the session's" }),
  ...turnChoices,
});
type Fields = z.infer<typeof fields>;

/** Rules that concern several fields: the field at fault, what is wrong, and when the rule is broken. */
const rules: readonly (readonly [field: string, fault: string, isBroken: (message: Fields) => boolean])[] = [
  ["content", "must not be empty", ({ role, content, tool_calls }) => role !== "tool" && isBlank(content ?? "") && !tool_calls?.length],
  ["content", "needed of role tool", ({ role, content }) => role === "tool" && content === undefined],
  ["role", "only user with run: true", ({ role, run }) => role !== "user" && run],
  ["tools", "only with run: true", ({ tools, run }) => Boolean(tools) && !run],
  ["generation", "only with run: true", ({ generation, run }) => Boolean(generation) && !run],
  ["model", "only with run: true", ({ model, run }) => Boolean(model) && !run],
  ["tool_calls", "only of role assistant", ({ role, tool_calls }) => tool_calls !== undefined && role !== "assistant"],
  ["call_id", "needed of role tool", ({ role, call_id }) => role === "tool" && call_id === undefined],
  ["call_id", "only of role tool", ({ role, call_id }) => role !== "tool" && call_id !== undefined],
  ["is_error", "only of role tool", ({ role, is_error }) => role !== "tool" && is_error !== undefined],
];

export const messageInput = fields
  .superRefine((message, context) => {
    const { content, role } = message;
    const refuse = (path: (string | number)[], fault: string) => context.addIssue({ code: "custom", path, message: fault });
    for (const [field, fault, isBroken] of rules) if (isBroken(message)) refuse([field], fault);
    for (const [index, { type }] of (typeof content === "object" ? content : []).entries()) {
      if (!allowed[role].includes(type)) refuse(["content", index, "type"], `a message of role ${role} holds ${allowed[role].join(", ")}`);
    }
  })
  .openapi("SubmitMessage");

/** The new content of a user's message. */
export const editInput = z
  .strictObject({
    content: z
      .union([z.string(), z.array(partInput).max(MAX_PARTS)], "must be a string or a list of parts")
      .refine((content) => !isBlank(content), "must not be empty")
      .refine(
        (content) => typeof content === "string" || content.every(({ type }) => allowed.user.includes(type)),
        `a message of role user holds ${allowed.user.join(", ")}`,
      ),
    tools: toolsInput.nullable().optional().openapi({ description: "For this turn only, in place of the session's" }),
    ...turnChoices,
  })
  .openapi("EditMessage");

export function toParts(content: Content): readonly Part[] {
  return typeof content === "string"
    ? [{ type: "text", text: content }]
    : content.map((part) => (isMediaInput(part) ? toMediaPart(part) : part));
}

/** `take-files` has looked up what is stored of a file, and the schema has demanded the rest. */
function toMediaPart({ type, url, file_id, media_type, bytes, tokens, name }: MediaPartInput): Part {
  const named = { type, ...(name !== undefined && { name }) };
  if (media_type !== undefined && url !== undefined) return { ...named, url, media_type };
  if (media_type !== undefined && file_id !== undefined && bytes !== undefined && tokens !== undefined)
    return { ...named, file_id, media_type, bytes, tokens };
  throw new TypeError("A file of a message was not looked up");
}

/** A reply without text consists of its calls alone. */
export function toSubmitInput(
  input: z.infer<typeof messageInput>,
  { tools, idempotency }: Pick<SubmitInput, "tools" | "idempotency">,
): SubmitInput {
  const { role, content = "", run, on_busy: onBusy, call_id = "", is_error = false, tool_calls: calls } = input;
  const asked = { run, onBusy, tools, idempotency, ...(run && toTurnInput(input)) };
  if (role === "tool") return { role, call_id, output: toText(content), is_error, ...asked };
  return { role, parts: isBlank(content) ? [] : toParts(content), ...(calls && { calls }), ...asked };
}

const toText = (content: Content): string =>
  typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("");
