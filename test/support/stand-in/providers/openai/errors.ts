/** The form of OpenAI's refusals on both of its APIs. */
import type { Received, Refusal } from "../script.ts";
import { bracketPath, type Fault } from "../shape.ts";

export const OPENAI_KEY = "sk-proj-stand-in";

export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

export const openAiError = (error: Pick<OpenAiError, "message"> & Partial<OpenAiError>): { readonly error: OpenAiError } => ({
  error: { type: "invalid_request_error", param: null, code: null, ...error },
});

export const refuseWith = (error: Pick<OpenAiError, "message"> & Partial<OpenAiError>): Refusal => ({
  status: 400,
  body: openAiError(error),
});

export function refuseFault(fault: Fault): Refusal {
  const param = bracketPath(fault.path);
  if (fault.problem === "missing")
    return refuseWith({ message: `Missing required parameter: '${param}'.`, param, code: "missing_required_parameter" });
  if (fault.problem === "unknown") return refuseWith({ message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" });
  if (fault.problem === "type")
    return refuseWith({ message: `Invalid type for '${param}': ${fault.expected}.`, param, code: "invalid_type" });
  return refuseWith({ message: `Invalid value for '${param}': ${fault.expected}.`, param, code: "invalid_value" });
}

export function refuseTooLong({
  path,
  value,
  most,
}: {
  readonly path: string;
  readonly value: string;
  readonly most: number;
}): Refusal | null {
  if (value.length <= most) return null;
  const message = `Invalid '${path}': string too long. Expected a string with maximum length ${most}, but got a string with length ${value.length} instead.`;
  return refuseWith({ message, param: path, code: "string_above_max_length" });
}

export function refuseAddress({ path, headers }: Received, expected: string): Refusal | null {
  if (path !== expected) return { status: 404, body: openAiError({ message: `Invalid URL (POST ${path})` }) };
  if (headers.authorization === undefined) {
    const message =
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
    return { status: 401, body: openAiError({ message }) };
  }
  if (headers.authorization !== `Bearer ${OPENAI_KEY}`) {
    return {
      status: 401,
      body: openAiError({
        message: "Incorrect API key provided: sk-wrong. You can find your API key at https://platform.openai.com/account/api-keys.",
        code: "invalid_api_key",
      }),
    };
  }
  return null;
}

export const refuseOverflow = ({ input, window }: { readonly input: number; readonly window: number }): Refusal | null =>
  input <= window
    ? null
    : refuseWith({
        message: `This model's maximum context length is ${window} tokens. However, your messages resulted in ${input} tokens. Please reduce the length of the messages.`,
        param: "messages",
        code: "context_length_exceeded",
      });
