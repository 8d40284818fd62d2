/** A refusal as the OpenAI API words it: `{error: {message, type, param, code}}`. Its SDKs read `code` and `param`. */
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
  turn_running: "conversation_locked",
  queue_full: "conversation_locked",
};

const STATUSES: Readonly<Record<string, ContentfulStatusCode>> = { unknown_model: 404, cannot_fit: 400 };

function toType(status: number): string {
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

/** Clients look for these words to tell that a conversation is too long. */
const toTooLong = (detail: string): string => `This model's maximum context length is exceeded. ${detail}`;

/** `content`: the parameter that holds the conversation. */
export function toOpenAiError({ code, answer }: Refusal, content: "input" | "messages" = "input") {
  const status = STATUSES[code] ?? answer.status;
  const isTooLong = code === "cannot_fit";
  const field = isTooLong ? content : answer.errors?.[0]?.field;
  const param = field === undefined ? null : toParam(field);
  const message = isTooLong ? toTooLong(answer.detail) : toMessage(answer);
  const error = { message, type: toType(status), param, code: CODES[code] ?? code };
  return { status, body: { error } };
}
