/** What a client sends over the WebSocket of responses, and what refuses it. */
import { z } from "@hono/zod-openapi";
import { err, ok, type Result } from "../../../lib/result";
import { utf8Bytes } from "../../../lib/text-bytes";
import { LONG_BODY_LIMIT } from "../../body";
import { findJsonFault } from "../../json-check";
import { type HttpError, toRefusal } from "../../problem";
import { toFieldErrors } from "../../validation";
import { toOpenAiError } from "../error-body";

/** `stream` is implied. */
const createMessage = z
  .looseObject({
    type: z.literal("response.create", "must be response.create"),
    stream_id: z.string().min(1).max(128).nullish(),
    stream: z.unknown().optional(),
    stream_options: z.unknown().optional(),
    background: z.union([z.literal(false), z.null()], "not over a WebSocket").optional(),
    generate: z.boolean().nullish(),
    previous_response_id: z.unknown().optional(),
    store: z.unknown().optional(),
  })
  .transform(({ type: _, stream: __, stream_options: ___, background: ____, generate, stream_id: lane, ...body }) => ({
    lane: lane ?? null,
    warmsUp: generate === false,
    body,
  }));
export type CreateMessage = z.infer<typeof createMessage>;

const refuse = (detail: string): Result<never, HttpError> => err({ code: "invalid_request", errors: [{ field: "body", detail }] });

export function parseSocketMessage(message: string | ArrayBuffer): Result<CreateMessage, HttpError> {
  if (typeof message !== "string") return refuse("must be a text frame");
  if (isTooLarge(message)) return err({ code: "body_too_large", limit: LONG_BODY_LIMIT });
  const json = parseJson(message);
  if (!json.ok) return json;
  const parsed = createMessage.safeParse(json.value);
  return parsed.success ? ok(parsed.data) : err({ code: "invalid_request", errors: toFieldErrors(parsed.error.issues) });
}

export const isTooLarge = (message: string | ArrayBuffer): boolean =>
  typeof message === "string"
    ? message.length > LONG_BODY_LIMIT || utf8Bytes(message) > LONG_BODY_LIMIT
    : message.byteLength > LONG_BODY_LIMIT;

function parseJson(text: string): Result<unknown, HttpError> {
  try {
    const fault = findJsonFault(text);
    return fault ? err({ code: "invalid_request", errors: [fault] }) : ok(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return refuse("not JSON");
    throw error;
  }
}

interface Refused {
  readonly status: number;
  readonly error: { readonly code: string; readonly message: string; readonly param: string | null };
}

/** `lane`: the `stream_id` of the request. */
export const toErrorMessage = ({ status, error }: Refused, lane: string | null = null): string =>
  JSON.stringify({ type: "error", status, error: { type: "invalid_request_error", ...error }, ...(lane !== null && { stream_id: lane }) });

export function toRefusalMessage(
  error: HttpError,
  { requestId, lane }: { readonly requestId: string; readonly lane: string | null },
): string {
  const { status, body } = toOpenAiError(toRefusal(error, requestId));
  return toErrorMessage({ status, error: body.error }, lane);
}
