/** Messages as clients write them. */
import { z } from "@hono/zod-openapi";
import type { SubmitInput } from "../../app/session-api";
import type { WrittenMessage } from "../../app/written-message";
import { MAX_TIME } from "../../contract/ids";
import { clientId, mediaInput, reasoningPart, textPart } from "../../contract/item";
import { speaker } from "../../contract/label";
import type { MessageFacts } from "../../domain/item-content";
import type { Part } from "../../domain/message";
import { toTurnInput, turnChoices } from "./generation";
import { metadataInput } from "./session";
import { callId, importedCalls, setByServer, toolsInput } from "./tool";

/** Maximum number of parts of one message: more than a person writes, and each part adds its own overhead to a request. */
const MAX_PARTS = 128;
/** An output may be empty; the rules below refuse an empty text elsewhere. */
const anyText = textPart.extend({ text: z.string() });
const partInput = z.discriminatedUnion("type", [anyText, reasoningPart, mediaInput]);
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

export const clientIdQuery = clientId
  .optional()
  .openapi({ description: "Only the message with this client_id, on whichever branch it is" });

/** A message as clients write it: the fields of the answer that they set, and those that only the server sets. */
const written = {
  content: z
    .union([z.string(), z.array(partInput).max(MAX_PARTS)], "must be a string or a list of parts")
    .optional()
    .openapi({ description: "Needed, unless a reply has tool_calls; of role tool the output, which may be empty" }),
  role: z.enum(["user", "assistant", "system", "tool"]).default("user"),
  tool_calls: importedCalls.optional().openapi({ description: "Of role assistant: the calls of a recorded reply" }),
  call_id: callId.optional().openapi({
    description: "Of role tool: the imported call that this is the result of; of several with the same id the first open one",
  }),
  is_error: z.boolean().optional().openapi({ description: "Of role tool: the call failed" }),
  name: speaker.nullable().optional().openapi({ description: "Who speaks: the model reads it in front of the text. Not of role tool" }),
  client_id: clientId
    .nullable()
    .optional()
    .openapi({ description: "The client's own id of the message, unique in the session. GET the messages with it to find the message" }),
  metadata: metadataInput.optional(),
  created_at: z
    .int()
    .min(0)
    .max(MAX_TIME)
    .optional()
    .openapi({ description: "When an imported message was said, in epoch milliseconds. Never used for order; ignored with run: true" }),
  incomplete: z.boolean().optional().openapi({ description: "Of role assistant: the recorded reply was cut off before its end" }),
  id: setByServer,
  position: setByServer,
  turn_id: setByServer,
  recorded_at: setByServer,
  tokens: setByServer,
  execution_id: setByServer,
  tool_name: setByServer,
  redacted: setByServer,
};
const writtenMessage = z.strictObject(written);
type Written = z.infer<typeof writtenMessage>;

const fields = writtenMessage.extend({
  on_busy: z.enum(["queue", "reject", "interrupt"]).default("queue"),
  run: z.boolean().optional().openapi({
    description: "false: append only, no turn; for recorded conversations. By default true for role user and false for the others",
  }),
  tools: toolsInput.nullable().optional().openapi({ description: "For this turn only, in place of the session's" }),
  ...turnChoices,
});
type Fields = z.infer<typeof fields>;

/** Whether the message starts a turn. */
const isRun = ({ run, role }: Pick<Fields, "run" | "role">): boolean => run ?? role === "user";

type Rule<T> = readonly [field: string, fault: string, isBroken: (message: T) => boolean];
/** Rules that concern several fields: the field at fault, what is wrong, and when the rule is broken. */
const writtenRules: readonly Rule<Written>[] = [
  ["content", "must not be empty", ({ role, content, tool_calls }) => role !== "tool" && isBlank(content ?? "") && !tool_calls?.length],
  ["content", "needed of role tool", ({ role, content }) => role === "tool" && content === undefined],
  ["tool_calls", "only of role assistant", ({ role, tool_calls }) => tool_calls !== undefined && role !== "assistant"],
  ["call_id", "needed of role tool", ({ role, call_id }) => role === "tool" && call_id === undefined],
  ["call_id", "only of role tool", ({ role, call_id }) => role !== "tool" && call_id !== undefined],
  ["is_error", "only of role tool", ({ role, is_error }) => role !== "tool" && is_error !== undefined],
  ["name", "not of role tool", ({ role, name }) => role === "tool" && typeof name === "string"],
  ["incomplete", "only of role assistant", ({ role, incomplete }) => role !== "assistant" && incomplete === true],
];
const runRules: readonly Rule<Fields>[] = [
  ["role", "only user with run: true", (message) => message.role !== "user" && isRun(message)],
  ["tools", "only with run: true", (message) => Boolean(message.tools) && !isRun(message)],
  ["generation", "only with run: true", (message) => Boolean(message.generation) && !isRun(message)],
  ["model", "only with run: true", (message) => Boolean(message.model) && !isRun(message)],
  ["system", "only with run: true", (message) => typeof message.system === "string" && !isRun(message)],
  ["note", "only with run: true", (message) => typeof message.note === "string" && !isRun(message)],
];

type Refuse = (path: (string | number)[], fault: string) => void;

function checkWritten(message: Written, refuse: Refuse): void {
  const { content, role } = message;
  for (const [field, fault, isBroken] of writtenRules) if (isBroken(message)) refuse([field], fault);
  for (const [index, part] of (typeof content === "object" ? content : []).entries()) {
    if (!allowed[role].includes(part.type))
      refuse(["content", index, "type"], `a message of role ${role} holds ${allowed[role].join(", ")}`);
    if (role !== "tool" && part.type === "text" && part.text === "") refuse(["content", index, "text"], "must not be empty");
  }
}

export const messageInput = fields
  .superRefine((message, context) => {
    const refuse: Refuse = (path, fault) => context.addIssue({ code: "custom", path, message: fault });
    for (const [field, fault, isBroken] of runRules) if (isBroken(message)) refuse([field], fault);
    checkWritten(message, refuse);
  })
  .openapi("SubmitMessage");

const MAX_BATCH = 1_000;
const batchItem = writtenMessage
  .superRefine((message, context) => checkWritten(message, (path, fault) => context.addIssue({ code: "custom", path, message: fault })))
  .openapi("WrittenMessage");

/** As many messages as one request may bring. */
export const writtenMessages = z.array(batchItem).max(MAX_BATCH);

export const batchInput = z
  .strictObject({ items: writtenMessages.min(1).openapi({ description: "In order. Messages of a list can be sent as they are" }) })
  .openapi("ImportMessages");

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
function toSaid(input: Written): WrittenMessage {
  const { role, content = "", call_id = "", is_error = false, tool_calls } = input;
  if (role === "tool") return { role, call_id, output: toText(content), is_error };
  const calls = tool_calls?.map(({ call_id: id, name, arguments: given }) => ({ call_id: id, name, arguments: given }));
  return { role, parts: isBlank(content) ? [] : toParts(content), ...(calls && { calls }) };
}

/** `isAsked`: the message starts a turn. */
export const toWritten = (item: Written, isAsked = false): WrittenMessage => ({ ...toSaid(item), about: toFacts(item, isAsked) });

export function toSubmitInput(
  input: z.infer<typeof messageInput>,
  { tools, idempotency }: Pick<SubmitInput, "tools" | "idempotency">,
): SubmitInput {
  const run = isRun(input);
  const asked = { run, onBusy: input.on_busy, tools, idempotency, ...(run && toTurnInput(input)) };
  return { ...toSaid(input), about: toFacts(input, run), ...asked };
}

/** A message that starts a turn is said now, whatever the copy that the client sends says of its time. */
const toFacts = (
  { name = null, client_id = null, metadata = {}, created_at, incomplete = false }: Written,
  run: boolean,
): MessageFacts => ({ name, client_id, metadata, said_at: run ? null : (created_at ?? null), incomplete });

const toText = (content: Content): string =>
  typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("");
