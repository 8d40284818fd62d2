/**
 * What a page sends: `{id, messages, trigger, messageId}` as the AI SDK's transport builds it, or `{id, message}`. Only the last
 * message counts, and of the messages before it what answers a call: the server has the conversation.
 */
import { z } from "@hono/zod-openapi";
import type { ApprovalInput, ToolResultInput, TurnInput } from "../../app/session-api";
import { mediaInput } from "../../contract/item";
import { externalId } from "../../contract/label";
import type { FieldError } from "../../contract/problem";
import type { ToolCallView } from "../../contract/tool";
import { parseId, type TurnId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import { generationInput, toTurnInput, turnChoices } from "../schemas/generation";
import type { PartInput } from "../schemas/message";
import { metadataInput } from "../schemas/session";
import { writeOutput } from "./ui-message";
import type { Had } from "./ui-stream";

const MAX_ID = 128;
const MAX_REASON = 4_000;
const messageId = z.string().min(1).max(MAX_ID);

const anyPart = z.looseObject({ type: z.string() });
const uiMessage = z.looseObject({
  id: messageId.optional(),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(anyPart).max(4_096),
  metadata: z.unknown().optional(),
});
export type GivenMessage = z.infer<typeof uiMessage>;

const envelope = z.looseObject({
  id: externalId,
  messages: z.array(z.unknown()).optional(),
  message: z.unknown().optional(),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  messageId: messageId.nullish(),
  model: turnChoices.model,
  generation: generationInput.nullable().optional(),
  system: z.unknown().optional(),
  tools: z.unknown().optional(),
});

export interface ChatInput {
  /** The chat's id. */
  readonly id: string;
  readonly trigger: "submit-message" | "regenerate-message";
  readonly messageId: string | null;
  /** The message that the request is about. Null: the request has none, which only a regeneration may. */
  readonly last: GivenMessage | null;
  /** Where the request has that message: `message`, `messages.4`. */
  readonly field: string;
  /** The assistant's messages that may answer calls, the newest first. */
  readonly replies: readonly GivenMessage[];
  readonly turn: TurnInput;
  /** What the page sends of the turn's instructions, unread. */
  readonly instructions: { readonly system: unknown; readonly tools: unknown };
  /** The fields that only a key may send. */
  readonly needsKey: "model" | "generation" | null;
}

const stopBody = z.looseObject({ messageId: messageId.nullish() });

/** The turn whose message a page stops. Null: the page names none. */
export function parseStop(body: unknown): Result<TurnId | null, Issues> {
  const parsed = stopBody.safeParse(body);
  if (!parsed.success) return err(parsed.error.issues);
  const { messageId: named } = parsed.data;
  const turn = named ? parseId("trn", named) : null;
  if (!named || turn) return ok(turn);
  return err([{ code: "custom", path: ["messageId"], message: "must be the id of an assistant's message of this chat", input: named }]);
}

const isReply = (message: GivenMessage): boolean => message.role === "assistant";

type Issues = readonly z.core.$ZodIssue[];

export function parseChat(body: unknown): Result<ChatInput, Issues> {
  const parsed = envelope.safeParse(body);
  if (!parsed.success) return err(parsed.error.issues);
  const { id, messages = [], message, trigger, messageId: named = null, model, generation, system, tools } = parsed.data;
  const isSingle = message !== undefined && message !== null;
  const path = isSingle ? ["message"] : ["messages", Math.max(messages.length - 1, 0)];
  const given = isSingle ? message : messages.at(-1);
  if (given === undefined && trigger === "submit-message")
    return err([{ code: "custom", path: ["messages"], message: "must hold the message to send", input: undefined }]);
  const last = given === undefined ? ok(null) : parseMessage(given, path);
  if (!last.ok) return last;
  // Older messages are the client's copies. One that is not understood is none of this request's business.
  const older = messages.map((each) => uiMessage.safeParse(each)).flatMap((each) => (each.success ? [each.data] : []));
  const replies = [...(isSingle ? [] : older.filter(isReply)), ...(isSingle && last.value && isReply(last.value) ? [last.value] : [])];
  const needsKey = model ? "model" : generation ? "generation" : null;
  return ok({
    id,
    trigger,
    messageId: named,
    last: last.value,
    field: path.join("."),
    replies: replies.toReversed(),
    turn: toTurnInput({ model, generation }),
    instructions: { system, tools },
    needsKey,
  });
}

function parseMessage(given: unknown, path: readonly (string | number)[]): Result<GivenMessage, Issues> {
  const parsed = uiMessage.safeParse(given);
  if (parsed.success) return ok(parsed.data);
  return err(parsed.error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] })));
}

const textPart = z.looseObject({ type: z.literal("text"), text: z.string() });
const filePart = z.looseObject({ mediaType: z.string().min(1), url: z.string().min(1), filename: z.string().optional() });
const metadata = z
  .record(z.string(), z.unknown())
  .transform((entries) => Object.fromEntries(Object.entries(entries).map(toEntry)))
  .pipe(metadataInput);

/** Our metadata holds texts. A page's numbers and objects are kept as JSON. */
const toEntry = ([name, value]: readonly [string, unknown]): readonly [string, string] => [
  name,
  typeof value === "string" ? value : (JSON.stringify(value) ?? ""),
];

export interface UserMessage {
  /** The client's own id, null if the message has none. */
  readonly id: string | null;
  readonly content: PartInput[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** The content of a user's message. `step-start` and data parts are the page's own. */
export function readSaid({ id, parts, metadata: about }: GivenMessage): Result<UserMessage, readonly FieldError[]> {
  const errors: FieldError[] = [];
  const content = parts.flatMap((part, index): PartInput[] => {
    const read = readPart(part);
    if (typeof read !== "string") return read;
    errors.push({ field: `parts.${index}`, detail: read });
    return [];
  });
  const kept = about === undefined || about === null ? ok({}) : readMetadata(about);
  if (!kept.ok) errors.push(kept.error);
  if (errors.length === 0 && content.every((part) => part.type === "text" && part.text.trim() === ""))
    errors.push({ field: "parts", detail: "must hold a text or a file" });
  return errors.length > 0 || !kept.ok ? err(errors) : ok({ id: id ?? null, content, metadata: kept.value });
}

function readMetadata(about: unknown): Result<Record<string, string>, FieldError> {
  const parsed = metadata.safeParse(about);
  if (parsed.success) return ok(parsed.data);
  return err({ field: "metadata", detail: parsed.error.issues[0]?.message ?? "must be an object" });
}

/** The part as the native API takes it, or what is wrong with it. */
function readPart(part: GivenMessage["parts"][number]): PartInput[] | string {
  if (part.type === "step-start" || part.type.startsWith("data-")) return [];
  if (part.type === "text") {
    const text = textPart.safeParse(part);
    if (!text.success) return "text must be a string";
    return text.data.text === "" ? [] : [{ type: "text", text: text.data.text }];
  }
  return part.type === "file" ? readFile(part) : "a message of a user holds text and files";
}

/** An address that the history showed. */
const STORED = /\/v1\/files\/(fil_[0-9A-Z]{26})\/content(?:\?|$)/;

function readFile(part: GivenMessage["parts"][number]): PartInput[] | string {
  const file = filePart.safeParse(part);
  if (!file.success) return "mediaType and url must be strings";
  const { mediaType, url, filename } = file.data;
  const type = /^image(?:\/|$)/.test(mediaType) ? "image" : "file";
  const stored = STORED.exec(url.startsWith("data:") ? "" : url)?.[1];
  const where = stored ? { file_id: stored } : { url, media_type: mediaType.includes("/") ? mediaType : `${mediaType}/*` };
  const media = mediaInput.safeParse({ type, ...where, ...(filename ? { name: filename } : {}) });
  return media.success ? [media.data] : (media.error.issues[0]?.message ?? "must be a file");
}

const toolPart = z.looseObject({
  toolCallId: z.string(),
  state: z.string(),
  output: z.unknown().optional(),
  errorText: z.string().optional(),
  providerExecuted: z.boolean().optional(),
  approval: z.looseObject({ id: z.string(), approved: z.boolean().optional(), reason: z.string().max(MAX_REASON).optional() }).optional(),
});

export interface Answers {
  readonly results: readonly ToolResultInput[];
  readonly approvals: readonly ApprovalInput[];
}

type AnsweredPart = z.infer<typeof toolPart>;

const readCalls = (parts: GivenMessage["parts"]): AnsweredPart[] => parts.flatMap((part) => toolPart.safeParse(part).data ?? []);

export const hasAnswers = ({ results, approvals }: Answers): boolean => results.length + approvals.length > 0;

/** What the message says about calls that are open. It also shows calls that were answered before. */
export function readAnswers({ parts }: GivenMessage, open: readonly ToolCallView[]): Answers {
  const given = readCalls(parts).flatMap((part) => open.flatMap((call) => (call.id === part.toolCallId ? [{ part, call }] : [])));
  return {
    results: given.flatMap(({ part, call }) => (call.runs === "client" ? toResult(part) : [])),
    approvals: given.flatMap(({ part, call }) => (call.approval === "pending" ? toApproval(part) : [])),
  };
}

/** What the message's newest step says about calls that may be open: the model is asked for another step only when they are answered. */
export function guessAnswers({ parts }: GivenMessage): Answers {
  const calls = readCalls(newestStep(parts));
  return {
    results: calls.flatMap((part) => (part.providerExecuted ? [] : toResult(part))),
    approvals: calls.flatMap((part) => (part.state === "approval-responded" ? toApproval(part) : [])),
  };
}

const newestStep = (parts: GivenMessage["parts"]): GivenMessage["parts"] =>
  parts.slice(parts.findLastIndex(({ type }) => type === "step-start") + 1);

function toResult({ toolCallId, state, output, errorText = "" }: AnsweredPart): ToolResultInput[] {
  const execution_id = parseId("exe", toolCallId);
  if (!execution_id) return [];
  const answered = { execution_id, call_id: null };
  if (state === "output-available") return [{ ...answered, output: writeOutput(output), is_error: false }];
  return state === "output-error" ? [{ ...answered, output: errorText, is_error: true }] : [];
}

function toApproval({ toolCallId, approval }: AnsweredPart): ApprovalInput[] {
  const execution_id = parseId("exe", toolCallId);
  if (approval?.approved === undefined || !execution_id) return [];
  return [{ execution_id, approved: approval.approved, reason: approval.reason ?? null }];
}

/** How many steps the client has of a message. */
export const countSteps = ({ parts }: GivenMessage): number => parts.filter(({ type }) => type === "step-start").length;

/** What the client has of the calls of the message's newest step. */
export function listHad({ parts }: GivenMessage): Had {
  const calls = readCalls(newestStep(parts));
  const name = (inState: (state: string) => boolean) =>
    new Set(calls.flatMap(({ state, toolCallId }) => (inState(state) ? toolCallId : [])));
  return { results: name((state) => state.startsWith("output-")), approvals: name((state) => state === "approval-responded") };
}
