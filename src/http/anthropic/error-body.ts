/** A refusal as the Anthropic API words it: `{type: "error", error: {type, message}, request_id}`. */
import type { Refusal } from "../answer";

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
};

const toType = (status: number): string => TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");

export function toAnthropicError({ answer, requestId }: Refusal) {
  const { status, detail } = answer;
  return { status, body: { type: "error", error: { type: toType(status), message: detail }, request_id: requestId } };
}
