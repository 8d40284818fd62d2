/** Which vendor's words a refusal is written in: the path decides, because also an unknown route has one. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Refusal } from "../answer";
import { toAnthropicError } from "../anthropic/error-body";
import { toOpenAiError } from "../openai/error-body";

type ErrorFormat = (refusal: Refusal) => { readonly status: ContentfulStatusCode; readonly body: object };

const FORMATS: readonly (readonly [path: RegExp, format: ErrorFormat])[] = [
  [/^\/v1\/(?:responses|conversations|chat\/completions)(?:\/|$)/, toOpenAiError],
  [/^\/v1\/messages(?:\/|$)/, toAnthropicError],
];

/** Null for the native API, whose refusals are problem documents. */
export const findErrorFormat = (path: string): ErrorFormat | null => FORMATS.find(([pattern]) => pattern.test(path))?.[1] ?? null;
