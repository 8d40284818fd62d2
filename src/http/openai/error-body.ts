/** A refusal as the OpenAI API words it: `{error: {message, type, param, code}}`. Its SDKs read `code` and `param`. */
import { z } from "@hono/zod-openapi";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Refusal } from "../answer";

/** Reasons that OpenAI has a code for. Its clients compare these texts. The others keep ours. */
const CODES: Readonly<Record<string, string>> = {
  unauthorized: "invalid_api_key",
  unknown_model: "model_not_found",
  model_gone: "model_not_found",
  default_model_gone: "model_not_found",
  cannot_fit: "context_length_exceeded",
  message_not_found: "item_not_found",
  turn_not_found: "response_not_found",
  turn_running: "conversation_locked",
  queue_full: "conversation_locked",
  rate_limited: "rate_limit_exceeded",
  budget_exhausted: "insufficient_quota",
};

/** Sentences that OpenAI has a code for. */
const SENTENCES: readonly (readonly [text: RegExp, code: string])[] = [
  [/^Previous response with id '.*' not found\.$/s, "previous_response_not_found"],
  [/^Missing required parameter: /, "missing_required_parameter"],
  [/^Item with id '.*' not found\.$/s, "item_not_found"],
];

const findCode = (code: string, message: string): string => SENTENCES.find(([text]) => text.test(message))?.[1] ?? CODES[code] ?? code;

const STATUSES: Readonly<Record<string, ContentfulStatusCode>> = { unknown_model: 404, cannot_fit: 400 };

function toType(status: number): string {
  if (status === 402) return "insufficient_quota";
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** `input.2.content` as OpenAI writes it: `input[2].content`. */
const toParam = (field: string): string => field.replace(/\.(\d+)(?=\.|$)/g, "[$1]");

/** A detail that is a whole sentence is one that OpenAI's clients know. Others name their field. */
function toMessage({ detail, errors = [] }: Refusal["answer"]): string {
  const [first, ...more] = errors;
  if (first?.detail.endsWith(".") && more.length === 0) return first.detail;
  return errors.reduce((text, { field }) => text.replaceAll(field, toParam(field)), detail);
}

/** Refusals in words of ours that a client of OpenAI's does not know. They name no parameter. */
const TEXTS: Readonly<Record<string, string>> = {
  session_not_found: "There is no such conversation.",
  turn_not_found: "There is no such response.",
};

const tooLongAnswer = z.object({ fit: z.object({ floor: z.number(), limit: z.number() }) });

/** Agents look for OpenAI's own words to tell that a conversation is too long, and compact it then. */
function toTooLong({ extra, detail }: Refusal["answer"]): string {
  const found = tooLongAnswer.safeParse(extra);
  if (!found.success) return `Your input exceeds the context window of this model. ${detail}`;
  const { floor, limit } = found.data.fit;
  return `This model's maximum context length is ${limit} tokens. However, your messages resulted in about ${floor} tokens.`;
}

/** `content`: the parameter that holds the conversation. */
export function toOpenAiError({ code, answer }: Refusal, content: "input" | "messages" = "input") {
  const text = code === "cannot_fit" ? toTooLong(answer) : TEXTS[code];
  const named = text === undefined ? answer.errors?.[0]?.field : undefined;
  const field = code === "cannot_fit" ? content : named;
  const param = field === undefined ? null : toParam(field);
  const message = text ?? toMessage(answer);
  const known = findCode(code, message);
  const status = known === "item_not_found" ? 404 : (STATUSES[code] ?? answer.status);
  const error = { message, type: toType(status), param, code: known };
  return { status, body: { error } };
}
