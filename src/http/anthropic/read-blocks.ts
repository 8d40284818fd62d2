/** Content blocks of a request as our parts, calls and results. */
import { z } from "@hono/zod-openapi";
import type { ToolResultInput } from "../../app/session-api";
import type { ImportedCall } from "../../app/written-message";
import { mediaInput } from "../../contract/item";
import type { FieldError } from "../../contract/problem";
import { type ExecutionId, parseId } from "../../domain/ids";
import type { PartInput } from "../schemas/message";
import { callId, toolName } from "../schemas/tool";
import type { GivenBlock, MessageParam } from "./request-body";

const TOOL_USE = "toolu_";
const ULID_LENGTH = 26;

/** A call's execution in Anthropic's form: unique in all of the conversation, which a provider's own id need not be. */
export const toToolUseId = (execution: string): string => `${TOOL_USE}${execution.slice(-ULID_LENGTH)}`;

/** Null: the call was made elsewhere, and has its provider's id. */
export const parseToolUseId = (id: string): ExecutionId | null =>
  id.startsWith(TOOL_USE) ? parseId("exe", `exe_${id.slice(TOOL_USE.length)}`) : null;

/** A message of the request. `results` come before the message's own parts. */
export interface BlockMessage {
  readonly role: MessageParam["role"];
  readonly parts: readonly PartInput[];
  readonly calls: readonly ImportedCall[];
  readonly results: readonly ReadResult[];
}
interface ReadResult extends Pick<ToolResultInput, "output" | "is_error"> {
  /** The call's id, as the client wrote it. */
  readonly id: string;
  /** `messages.4.content.0` */
  readonly at: string;
}

/** Blocks that cannot be read are reported in `errors`, by their field. */
interface Reader {
  readonly errors: FieldError[];
}
type Field = string;

const base64 = z.object({ type: z.literal("base64"), media_type: z.string().min(1), data: z.string().min(1) });
const link = z.object({ type: z.literal("url"), url: z.string().min(1) });
const stored = z.object({ type: z.literal("file"), file_id: z.string().min(1) });
const plain = z.object({ type: z.literal("text"), data: z.string() });
const textBlock = z.object({ type: z.literal("text"), text: z.string() });
const citations = z.object({ enabled: z.literal(false, "citations are not supported").optional() }).nullish();

const imageBlock = z.object({ type: z.literal("image"), source: z.discriminatedUnion("type", [base64, link, stored]) });
type ImageSource = z.infer<typeof imageBlock>["source"];
const innerContent = z.union([z.string(), z.array(z.discriminatedUnion("type", [textBlock, imageBlock]))]);
const documentBlock = z.object({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [base64, link, stored, plain, z.object({ type: z.literal("content"), content: innerContent })]),
  title: z.string().nullish(),
  context: z.string().nullish(),
  citations,
});
type DocumentBlock = z.infer<typeof documentBlock>;
const searchBlock = z.object({
  type: z.literal("search_result"),
  source: z.string(),
  title: z.string(),
  content: z.array(textBlock),
  citations,
});
/** What the client's search for tools found. Every tool of the request is offered, so that the model need not wait for it. */
const referenceBlock = z.object({ type: z.literal("tool_reference"), tool_name: z.string() });
const callBlock = z.object({ type: z.literal("tool_use"), id: callId, name: toolName, input: z.unknown() });
const thinkingBlock = z.object({ type: z.literal("thinking"), thinking: z.string() });
const resultBlock = z.object({
  type: z.literal("tool_result"),
  tool_use_id: callId,
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
  is_error: z.boolean().nullish(),
});

/** A message and the field that names it: `messages.4`. */
export function readMessage({ role, content }: MessageParam, field: Field, errors: FieldError[]): BlockMessage {
  const blocks: readonly GivenBlock[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const read: Drafted = { parts: [], calls: [], results: [], shown: [] };
  for (const [index, block] of blocks.entries()) {
    const at = typeof content === "string" ? `${field}.content` : `${field}.content.${index}`;
    if (!ALLOWED[role].has(block.type))
      errors.push({ field: `${at}.type`, detail: `${block.type} is not supported in a message of role ${role}` });
    else readBlock(block, { at, read, errors });
  }
  return { role, calls: read.calls, results: read.results, parts: [...read.shown, ...read.parts] };
}

const ALLOWED: Readonly<Record<MessageParam["role"], ReadonlySet<string>>> = {
  user: new Set(["text", "image", "document", "search_result", "tool_result"]),
  assistant: new Set(["text", "thinking", "redacted_thinking", "tool_use"]),
  system: new Set(["text"]),
};

interface Drafted {
  readonly parts: PartInput[];
  readonly calls: ImportedCall[];
  readonly results: ReadResult[];
  /** Images of results: a result is text, so they follow it in a message. */
  readonly shown: PartInput[];
}
interface Place extends Reader {
  readonly at: Field;
  readonly read: Drafted;
}

/** Null with an error in `errors`. */
function parse<T>(schema: z.ZodType<T>, block: unknown, { at, errors }: Pick<Place, "at" | "errors">): T | null {
  const parsed = schema.safeParse(block);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  errors.push({ field: [at, ...(issue?.path ?? [])].map(String).join("."), detail: issue?.message ?? "invalid" });
  return null;
}

function readBlock(block: GivenBlock, place: Place): void {
  const { read } = place;
  if (block.type === "tool_use") {
    const call = parse(callBlock, block, place);
    if (call) read.calls.push({ call_id: call.id, name: call.name, arguments: JSON.stringify(call.input ?? {}) });
  } else if (block.type === "tool_result") readResult(block, place);
  else if (block.type === "thinking") {
    const thought = parse(thinkingBlock, block, place);
    if (thought && thought.thinking !== "") read.parts.push({ type: "reasoning", text: thought.thinking });
  } else read.parts.push(...toParts(block, place));
}

/** Blocks that a message and a result share. Thinking that only Anthropic can read says nothing here. */
function toParts(block: GivenBlock, place: Pick<Place, "at" | "errors">): PartInput[] {
  if (block.type === "text") {
    const text = parse(textBlock, block, place)?.text ?? "";
    return text === "" ? [] : [{ type: "text", text }];
  }
  if (block.type === "image") {
    const image = parse(imageBlock, block, place);
    return image ? readMedia({ type: "image", source: image.source }, place) : [];
  }
  if (block.type === "document") {
    const document = parse(documentBlock, block, place);
    return document ? readDocument(document, place) : [];
  }
  return readFound(block, place);
}

/** What a search of the client found. */
function readFound(block: GivenBlock, place: Pick<Place, "at" | "errors">): PartInput[] {
  if (block.type === "search_result") {
    const found = parse(searchBlock, block, place);
    return found ? [{ type: "text", text: [found.title, found.source, ...found.content.map(({ text }) => text)].join("\n") }] : [];
  }
  if (block.type !== "tool_reference") return [];
  const found = parse(referenceBlock, block, place);
  return found ? [{ type: "text", text: `The tool ${found.tool_name} can be called.\n` }] : [];
}

const MAX_NAME = 255;
const IMAGE_TYPES: Readonly<Record<string, string>> = { jpg: "jpeg", jpeg: "jpeg", png: "png", gif: "gif", webp: "webp" };

/** The media type of an address is what its ending says. */
function guessType(type: "image" | "file", url: string): string {
  const ending = /\.(\w+)(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? "";
  return type === "file" ? "application/pdf" : `image/${IMAGE_TYPES[ending] ?? "*"}`;
}

interface Media {
  readonly type: "image" | "file";
  readonly source: ImageSource;
  readonly name?: string;
}

function readMedia({ type, source, ...named }: Media, place: Pick<Place, "at" | "errors">): PartInput[] {
  const checked = mediaInput.safeParse({ type, ...named, ...toAddress(type, source) });
  if (checked.success) return [checked.data];
  const detail = checked.error.issues[0]?.message ?? "invalid";
  place.errors.push({ field: `${place.at}.source`, detail });
  return [];
}

function toAddress(type: Media["type"], source: ImageSource) {
  if (source.type === "file") return { file_id: source.file_id };
  if (source.type === "url") return { url: source.url, media_type: guessType(type, source.url) };
  return { url: `data:${source.media_type};base64,${source.data}`, media_type: source.media_type };
}

/** A text document is text, which every model reads. */
function readDocument({ source, title, context }: DocumentBlock, place: Pick<Place, "at" | "errors">): PartInput[] {
  const head = [title, context].filter((text) => typeof text === "string" && text !== "").join("\n");
  const intro: PartInput[] = head === "" ? [] : [{ type: "text", text: head }];
  if (source.type === "text") return [...intro, ...toTexts(source.data)];
  if (source.type === "content") return [...intro, ...readInnerContent(source.content, place)];
  const about: PartInput[] = context ? [{ type: "text", text: context }] : [];
  return [...about, ...readMedia({ type: "file", source, ...(title ? { name: title.slice(0, MAX_NAME) } : {}) }, place)];
}

const toTexts = (text: string): PartInput[] => (text === "" ? [] : [{ type: "text", text }]);

function readInnerContent(content: z.infer<typeof innerContent>, place: Pick<Place, "at" | "errors">): PartInput[] {
  if (typeof content === "string") return toTexts(content);
  return content.flatMap((block) =>
    block.type === "text" ? toTexts(block.text) : readMedia({ type: "image", source: block.source }, place),
  );
}

const IN_RESULT: ReadonlySet<string> = new Set(["text", "image", "document", "search_result", "tool_reference"]);

function readResult(block: GivenBlock, place: Place): void {
  const result = parse(resultBlock, block, place);
  if (!result) return;
  const { tool_use_id: id, content, is_error } = result;
  const parts = typeof content === "string" ? toTexts(content) : (content ?? []).flatMap((inner, index) => readInner(inner, index, place));
  const media = parts.filter(({ type }) => type === "image" || type === "file");
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const output = media.length > 0 ? [...texts, `[${media.length} attached: see the next message]`].join("\n") : texts.join("");
  place.read.results.push({ id, at: place.at, output, is_error: is_error ?? false });
  if (media.length > 0) place.read.shown.push({ type: "text", text: `Attached to the result of ${id}:` }, ...media);
}

function readInner(inner: GivenBlock, index: number, { at, errors }: Place): PartInput[] {
  const field = `${at}.content.${index}`;
  if (IN_RESULT.has(inner.type)) return toParts(inner, { at: field, errors });
  errors.push({ field: `${field}.type`, detail: `${inner.type} is not supported in a tool_result` });
  return [];
}
