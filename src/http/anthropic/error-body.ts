/** A refusal as the Anthropic API words it: `{type: "error", error: {type, message}, request_id}`. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Refusal, RouteAnswer } from "../answer";
import { OVERLOADED, toErrorBody } from "./turn-fault";

/** By reason: where Anthropic answers otherwise than we do. A client sends 409 again, which helps only where something is under way. */
const STATUSES: Readonly<Record<string, ContentfulStatusCode>> = {
  unknown_model: 404,
  model_gone: 404,
  default_model_gone: 404,
  cannot_fit: 400,
  call_not_open: 400,
  calls_unanswered: 400,
  idempotency_conflict: 400,
  overloaded: OVERLOADED,
  unavailable: OVERLOADED,
  models_unavailable: OVERLOADED,
  budgets_unavailable: OVERLOADED,
  storage_full: 500,
};

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

const toType = (status: number): string => TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");

/** Agents look for these words to tell that a conversation is too long. */
const toErrorMessage = (code: string, detail: string): string => (code === "cannot_fit" ? `prompt is too long. ${detail}` : detail);

/** The SDK asks for a thread in its tool loop, and does without one where it reads this code. */
const toDetails = ({ errors = [] }: RouteAnswer) =>
  errors.some(({ field }) => field === "thread") ? { error_code: "thread_unsupported_request", unsupported: ["thread"] } : null;

export function toAnthropicError({ code, answer, requestId }: Refusal) {
  const status = STATUSES[code] ?? answer.status;
  const details = toDetails(answer);
  const error = { type: toType(status), message: toErrorMessage(code, answer.detail), ...(details && { details }) };
  return { status, body: toErrorBody(error, requestId) };
}
