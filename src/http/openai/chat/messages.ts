/** The messages of a chat completion: their shapes, and what each says in our words. */
import { z } from "@hono/zod-openapi";
import type { ImportedCall } from "../../../app/written-message";
import type { FieldError } from "../../../contract/problem";
import { type ExecutionId, parseId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import { isMediaInput, type PartInput } from "../../schemas/message";
import { callId, importedCalls } from "../../schemas/tool";
import { toComparedText } from "../../surface/new-messages";
import type { CopiedMessage } from "../../surface/start-from-copy";
import { toFieldErrors } from "../../validation";
import { type ReadPart, readContent } from "../items/read-content";

const MAX_PARTS = 128;
const MAX_NAME = 64;

const name = z.string().max(MAX_NAME).nullish();
const call = z.object({
  id: callId,
  type: z.literal("function", "only function calls are supported").default("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
});
const message = z.discriminatedUnion("role", [
  z.object({ role: z.literal(["system", "developer"]), content: z.unknown().optional(), name }),
  z.object({ role: z.literal("user"), content: z.unknown().optional(), name }),
  z.object({
    role: z.literal("assistant"),
    content: z.unknown().optional(),
    refusal: z.string().nullish(),
    tool_calls: z.array(call).nullish(),
    function_call: z.null("is not supported: use tool_calls").optional(),
    name,
  }),
  z.object({ role: z.literal("tool"), content: z.unknown().optional(), tool_call_id: callId }),
]);
type Given = z.infer<typeof message>;

export interface CompletionMessage extends CopiedMessage {
  readonly parts: readonly ReadPart[];
  readonly calls: readonly ImportedCall[];
  readonly name: string | null;
}

/** The id of a call as clients of chat completions know it. The provider's own may repeat. */
export const toCallName = (execution: string): string => `call_${execution.slice("exe_".length)}`;
/** Null for an id that this service has not given: the provider's own, or one of another service. */
export const parseCallName = (id: string): ExecutionId | null =>
  id.startsWith("call_") ? parseId("exe", `exe_${id.slice("call_".length)}`) : null;

type Read<T> = Result<T, readonly FieldError[]>;

export function readChatMessages(given: readonly unknown[]): Read<readonly CompletionMessage[]> {
  const found: CompletionMessage[] = [];
  for (const [index, each] of given.entries()) {
    const field = `messages.${index}`;
    const parsed = message.safeParse(each);
    const read = parsed.success ? readMessage(parsed.data, field) : err(within(field, toFieldErrors(parsed.error.issues)));
    if (!read.ok) return read;
    found.push(read.value);
  }
  return ok(found);
}

const within = (at: string, errors: readonly FieldError[]): readonly FieldError[] =>
  errors.map(({ field, detail }) => ({ field: field === "body" ? at : `${at}.${field}`, detail }));

const refuse = (field: string, detail: string): Read<never> => err([{ field, detail }]);

function readMessage(given: Given, field: string): Read<CompletionMessage> {
  const content = readParts(given, `${field}.content`);
  if (!content.ok) return content;
  const parts = content.value;
  if (parts.length > MAX_PARTS) return refuse(`${field}.content`, `at most ${MAX_PARTS} parts`);
  const file = given.role === "user" ? undefined : parts.find(({ part }) => isMediaInput(part));
  if (file) return refuse(file.field, `a message of role ${given.role} holds text`);
  const said = { field, parts, calls: [], text: toComparedText(parts.map(({ part }) => part)) };
  switch (given.role) {
    case "system":
    case "developer":
      return ok({ ...said, role: "system", name: null });
    case "user":
      return isBlank(said.text) ? refuse(`${field}.content`, "must not be empty") : ok({ ...said, role: "user", name: given.name || null });
    case "assistant": {
      const calls = readCalls(given.tool_calls ?? [], field);
      return calls.ok ? ok({ ...said, role: "assistant", calls: calls.value, name: given.name || null }) : calls;
    }
    case "tool":
      return ok({ ...said, role: "tool", answers: given.tool_call_id, name: null });
  }
}

const isBlank = (text: string): boolean => text.trim() === "";

/** A name that no provider takes would make the request to the model fail. */
function readCalls(calls: readonly z.infer<typeof call>[], field: string): Read<readonly ImportedCall[]> {
  const given = calls.map(({ id, function: { name: called, arguments: written } }) => ({ call_id: id, name: called, arguments: written }));
  const checked = importedCalls.safeParse(given);
  if (checked.success) return ok(given);
  const errors = toFieldErrors(checked.error.issues).map((each) => ({
    ...each,
    field: each.field.replace(/^(\d+)\.name$/, "$1.function.name"),
  }));
  return err(within(`${field}.tool_calls`, errors));
}

const looseText = z.looseObject({ type: z.string(), text: z.string().optional() });
const parts = {
  image_url: z.object({ image_url: z.object({ url: z.string() }) }),
  file: z.object({
    file: z.object({ file_data: z.string().nullish(), file_id: z.string().nullish(), filename: z.string().nullish() }),
  }),
  input_audio: z.object({ input_audio: z.object({ data: z.string(), format: z.string().regex(/^[a-z0-9]{1,16}$/) }) }),
};

/** Parts of a chat completion as the parts of a response, which `readContent` reads. */
function toResponsePart(given: unknown, field: string): Read<object> {
  const named = looseText.safeParse(given);
  if (!named.success) return refuse(`${field}.type`, "required");
  const { type } = named.data;
  if (type === "text" || type === "refusal") return ok(named.data);
  const parse = <S extends z.ZodType>(shape: S, use: (part: z.infer<S>) => object): Read<object> => {
    const parsed = shape.safeParse(given);
    return parsed.success ? ok(use(parsed.data)) : err(within(field, toFieldErrors(parsed.error.issues)));
  };
  switch (type) {
    case "image_url":
      return parse(parts.image_url, ({ image_url: { url } }) => ({ type: "input_image", image_url: url }));
    case "file":
      return parse(parts.file, ({ file }) => ({ type: "input_file", ...file }));
    case "input_audio":
      return parse(parts.input_audio, ({ input_audio: { data, format } }) => ({
        type: "input_file",
        file_data: `data:audio/${format === "mp3" ? "mpeg" : format};base64,${data}`,
      }));
    default:
      return refuse(`${field}.type`, "must be text, image_url, file or input_audio");
  }
}

function readParts({ content, ...rest }: Given, field: string): Read<readonly ReadPart[]> {
  const refused = rest.role === "assistant" && rest.refusal ? [{ type: "refusal", refusal: rest.refusal }] : [];
  if (content === null || content === undefined) {
    if (rest.role !== "assistant") return refuse(field, "required");
    return readThrough(refused, field);
  }
  if (typeof content === "string") return readThrough([...(content === "" ? [] : [{ type: "text", text: content }]), ...refused], field);
  if (!Array.isArray(content)) return refuse(field, "must be a string or a list of parts");
  const shaped: object[] = [];
  for (const [index, given] of content.entries()) {
    const part = toResponsePart(given, `${field}.${index}`);
    if (!part.ok) return part;
    shaped.push(part.value);
  }
  return readThrough([...shaped, ...refused], field);
}

function readThrough(shaped: readonly object[], field: string): Read<readonly ReadPart[]> {
  const read = readContent(shaped, field);
  return read.ok ? read : err([read.error]);
}

/** The content of a result. It may be empty. */
export const toOutput = ({ parts: said }: CompletionMessage): string =>
  said.map(({ part }: { readonly part: PartInput }) => (part.type === "text" ? part.text : "")).join("");
