/**
 * OpenAI's items as our messages. Several items are one reply: the reasoning, text and calls that follow each other. `items.ts` is the
 * way back. A refusal names the field as the client wrote it, such as `input.2.content.0.image_url`.
 */
import { z } from "@hono/zod-openapi";
import type { WrittenMessage } from "../../../app/written-message";
import type { FieldError } from "../../../contract/problem";
import type { ItemId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import { type Content, type PartInput, toParts } from "../../schemas/message";
import { callId, toolName } from "../../schemas/tool";
import { toFunctionName, toTextArguments } from "./call-forms";
import { OpenedItems } from "./compaction-item";
import { CopiedItem } from "./copied-item";
import { parseItemName } from "./item-names";
import { parseAt, type ReadPart, readContent } from "./read-content";
import { MAX_PARTS, type ReadInput, type ReadMessage, Transcript } from "./transcript";

type Read<T> = Result<T, FieldError>;

export const MAX_ITEMS = 1_000;
const MAX_REASON = 4_000;

/** What the model reads of a server's call that came without a result. Our own lists show such a call while it runs, and if its end was lost. */
export const NO_OUTPUT = "[No result: this call had not ended, or its result was lost.]";
/** What the model reads as a result that is files alone. */
export const FILES_FOLLOW = "[The result is in the files of the next message.]";

const anyStatus = z.string().nullish();
const anyId = z.string().nullish();
const shapes = {
  message: z.looseObject({
    role: z.enum(["user", "assistant", "system", "developer"]),
    content: z.unknown(),
    id: anyId,
    status: anyStatus,
  }),
  reasoning: z.looseObject({
    id: anyId,
    status: anyStatus,
    summary: z.array(z.looseObject({ text: z.string() })).nullish(),
    content: z.array(z.looseObject({ text: z.string() })).nullish(),
  }),
  function_call: z.looseObject({
    call_id: callId,
    name: toolName,
    namespace: toolName.nullish(),
    arguments: z.string(),
    status: anyStatus,
  }),
  function_call_output: z.looseObject({ call_id: callId, output: z.unknown(), status: anyStatus }),
  custom_tool_call: z.looseObject({ call_id: callId, name: toolName, namespace: toolName.nullish(), input: z.string(), status: anyStatus }),
  mcp_call: z.looseObject({
    id: callId.nullish(),
    name: toolName,
    arguments: z.string(),
    approval_request_id: anyId,
    output: z.string().nullish(),
    error: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
  }),
  mcp_approval_request: z.looseObject({ id: callId, name: toolName, arguments: z.string() }),
  mcp_approval_response: z.looseObject({
    approval_request_id: z.string(),
    approve: z.boolean(),
    reason: z.string().max(MAX_REASON).nullish(),
  }),
};
type Shapes = { readonly [T in keyof typeof shapes]: z.infer<(typeof shapes)[T]> };

interface ReadingInput {
  /** Requests for approval are calls, as in the conversation that the input repeats. Absent: the server knows them, and nothing is read. */
  readonly withRequests?: boolean;
}

/** `field`: what the request calls the items. A string is one user's message. */
export function readInputItems(input: unknown, field: string, { withRequests = false }: ReadingInput = {}): Read<ReadInput> {
  if (typeof input === "string")
    return input.trim() === ""
      ? err({ field, detail: "must not be empty" })
      : readList(new Transcript(), [{ role: "user", content: input }], () => field);
  if (!Array.isArray(input)) return err({ field, detail: "must be a string or a list of items" });
  if (input.length > MAX_ITEMS) return err({ field, detail: `at most ${MAX_ITEMS} items` });
  return readList(new Transcript(withRequests), input, (index) => `${field}.${index}`);
}

function readList(transcript: Transcript, items: readonly unknown[], nameField: (index: number) => string): Read<ReadInput> {
  for (const [index, item] of items.entries()) {
    const read = readItem(transcript, item, nameField(index));
    if (!read.ok) return read;
  }
  return ok(transcript.finish());
}

const typed = z.looseObject({ type: z.string().nullish() });

function readItem(transcript: Transcript, item: unknown, field: string): Read<null> {
  if (item instanceof OpenedItems) return readOpened(transcript, item, field);
  if (item instanceof CopiedItem) return readCopied(transcript, item, field);
  const named = typed.safeParse(item);
  if (!named.success) return err({ field, detail: "must be an item" });
  const type = named.data.type ?? "message";
  switch (type) {
    case "message":
      return parseAt(shapes[type], { given: item, field }, (read) => readMessage(transcript, read, field));
    case "reasoning":
      return parseAt(shapes[type], { given: item, field }, (read) => readReasoning(transcript, read, field));
    case "function_call":
      return parseAt(shapes[type], { given: item, field }, ({ status, ...call }) =>
        transcript.addCall({ ...call, name: toCalledName(call) }, { field, status, names: null }),
      );
    case "custom_tool_call":
      return parseAt(shapes[type], { given: item, field }, ({ status, input, ...call }) =>
        transcript.addCall({ ...call, name: toCalledName(call), arguments: toTextArguments(input) }, { field, status, names: null }),
      );
    case "function_call_output":
    case "custom_tool_call_output":
      return parseAt(shapes.function_call_output, { given: item, field }, (read) => readOutput(transcript, read, field));
    case "mcp_call":
      return parseAt(shapes[type], { given: item, field }, (read) => readServerCall(transcript, read, field));
    case "mcp_approval_response":
      return parseAt(shapes[type], { given: item, field }, (read) => readApproval(transcript, read, field));
    case "mcp_approval_request":
      return readRequest(transcript, item, field);
    // The server said it before, and knows it; and tools are no part of the conversation.
    case "mcp_list_tools":
    case "additional_tools":
      return ok(null);
    default:
      return err({ field: `${field}.type`, detail: `items of type ${type.slice(0, 64)} are not supported` });
  }
}

const toCalledName = ({ name, namespace }: Pick<Shapes["function_call"], "name" | "namespace">): string =>
  toFunctionName({ name, namespace: namespace ?? null });

/** All of it came in one item of the client, which a refusal names. */
function readOpened(transcript: Transcript, { items }: OpenedItems, field: string): Read<null> {
  for (const item of items) {
    const read = readItem(transcript, item, field);
    if (!read.ok) return err({ ...read.error, field });
  }
  return ok(null);
}

function readCopied(transcript: Transcript, { copied, approved }: CopiedItem, field: string): Read<null> {
  if (approved !== null) transcript.noteApproved(approved);
  if (!copied) return ok(null);
  const toParts = (parts: readonly ReadPart["part"][]) => parts.map((part): ReadPart => ({ part, field, isStored: true }));
  switch (copied.kind) {
    case "message":
      return transcript.addMessage({ role: copied.role, field, parts: toParts(copied.parts) });
    case "said":
      return transcript.addParts({ parts: toParts(copied.parts), names: copied.reply, status: toStatus(copied), field });
    case "call": {
      if (approved !== null && transcript.hasRequest(approved) && copied.result && copied.result !== "none")
        return transcript.addResult({ role: "tool", field, ...copied.result, call_id: approved }, { isBeside: true });
      const added = transcript.addCall(copied.call, { field, status: toStatus(copied), names: copied.reply });
      if (!added.ok || !copied.result) return added;
      const result = copied.result === "none" ? { call_id: copied.call.call_id, output: NO_OUTPUT, is_error: true } : copied.result;
      return transcript.addResult({ role: "tool", field, ...result }, { isBeside: true });
    }
    case "result":
      return transcript.addResult({ role: "tool", field, ...copied.result }, { isBeside: false });
  }
}

const toStatus = ({ incomplete }: { readonly incomplete: boolean }): string => (incomplete ? "incomplete" : "completed");

/** The reply that the item is a part of. */
const readNamed = (name: string | null | undefined): ItemId | null => parseItemName(name ?? "")?.id ?? null;

function readMessage(transcript: Transcript, { role, content, id, status }: Shapes["message"], field: string): Read<null> {
  const parts = readContent(content, `${field}.content`);
  if (!parts.ok) return parts;
  if (parts.value.length > MAX_PARTS) return err({ field: `${field}.content`, detail: `at most ${MAX_PARTS} parts` });
  const isUser = role === "user";
  const fault = isUser ? undefined : parts.value.find(({ part }) => part.type !== "text");
  if (fault) return err({ field: fault.field, detail: `a message of role ${role} holds text` });
  if (role === "assistant") return transcript.addParts({ parts: parts.value, names: readNamed(id), status, field });
  if (parts.value.every(({ part }) => part.type === "text" && part.text.trim() === ""))
    return err({ field: `${field}.content`, detail: "must not be empty" });
  return transcript.addMessage({ role: isUser ? "user" : "system", field, parts: parts.value });
}

/** Reasoning that only its provider can read says nothing here. */
function readReasoning(transcript: Transcript, { id, status, summary, content }: Shapes["reasoning"], field: string): Read<null> {
  const parts = [...(summary ?? []), ...(content ?? [])].flatMap(({ text }): ReadPart[] =>
    text === "" ? [] : [{ part: { type: "reasoning", text }, field }],
  );
  return transcript.addParts({ parts, names: readNamed(id), status, field });
}

/** A result of ours is text. Its files follow all results of the reply, as a message of the user. */
function readOutput(transcript: Transcript, { call_id, output, status }: Shapes["function_call_output"], field: string): Read<null> {
  const read = readContent(output, `${field}.output`);
  if (!read.ok) return read;
  const texts = typeof output === "string" ? [output] : read.value.flatMap(({ part }) => (part.type === "text" ? [part.text] : []));
  const files = read.value.filter(({ part }) => part.type !== "text");
  if (files.length >= MAX_PARTS) return err({ field: `${field}.output`, detail: `at most ${MAX_PARTS - 1} files` });
  const text = texts.length === 0 && files.length > 0 ? FILES_FOLLOW : texts.join("");
  const result = { role: "tool", field, call_id, output: text, is_error: status === "incomplete" } as const;
  return transcript.addResult(result, { isBeside: false, files });
}

/** Where requests are not read as calls, no fault of one refuses the input. */
function readRequest(transcript: Transcript, given: unknown, field: string): Read<null> {
  const request = shapes.mcp_approval_request.safeParse(given);
  if (!request.success) return ok(null);
  const { id: call_id, name, arguments: written } = request.data;
  return transcript.addRequest({ call_id, name, arguments: written }, field);
}

function readServerCall(transcript: Transcript, call: Shapes["mcp_call"], field: string): Read<null> {
  // Some clients take the names of items off before they store them.
  const { id = null, name, arguments: given, approval_request_id: request, output, error } = call;
  const own = id ?? field.replaceAll(".", "_");
  if (request) transcript.noteApproved(request);
  const call_id = request && transcript.hasRequest(request) ? request : own;
  const added = call_id === own ? transcript.addCall({ call_id, name, arguments: given }, { field, names: null }) : ok(null);
  if (!added.ok) return added;
  const text = output ?? (error === null || error === undefined ? NO_OUTPUT : toErrorText(error));
  const is_error = output === null || output === undefined;
  return transcript.addResult({ role: "tool", field, call_id, output: text, is_error }, { isBeside: true });
}

const texts = z.array(z.looseObject({ text: z.string() }));

/** An error's own text: of a list of texts, as tools answer, of a message, or of what it is as JSON. */
function toErrorText(error: NonNullable<Shapes["mcp_call"]["error"]>): string {
  if (typeof error === "string") return error;
  const content = texts.safeParse(error.content);
  if (content.success) return content.data.map(({ text }) => text).join("");
  return typeof error.message === "string" ? error.message : JSON.stringify(error);
}

function readApproval(transcript: Transcript, given: Shapes["mcp_approval_response"], field: string): Read<null> {
  const { approval_request_id: request, approve, reason = null } = given;
  return transcript.addApproval({ field, request, approve, reason });
}

/** The messages as a session takes them. `contents`: their parts, in order, with what was looked up of their files. */
export function toWrittenMessages(messages: readonly ReadMessage[], contents: readonly Content[]): readonly WrittenMessage[] {
  return messages.map((message, index) => {
    if (message.role === "tool") {
      const { role, call_id, output, is_error } = message;
      return { role, call_id, output, is_error };
    }
    const { role, calls, incomplete } = message;
    const content = contents[index] ?? toContent(message);
    return { role, parts: toParts(content), ...(calls.length > 0 && { calls }), ...(incomplete && { about: { incomplete } }) };
  });
}

/** The parts of a message, whose files are still to be looked up. A result has none. */
export const toContent = (message: ReadMessage): PartInput[] => (message.role === "tool" ? [] : message.parts.map(({ part }) => part));
