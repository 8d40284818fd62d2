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
  turn_running: "conversation_locked",
  queue_full: "conversation_locked",
};

const STATUSES: Readonly<Record<string, ContentfulStatusCode>> = { unknown_model: 404 };

function toType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

export function toOpenAiError({ code, answer }: Refusal) {
  const status = STATUSES[code] ?? answer.status;
  const param = answer.errors?.[0]?.field ?? null;
  const error = { message: answer.detail, type: toType(status), param, code: CODES[code] ?? code };
  return { status, body: { error } };
}
