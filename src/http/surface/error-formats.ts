/** Which vendor's words a refusal is written in: the path decides, because also an unknown route has one. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Refusal } from "../answer";
import { toAnthropicError } from "../anthropic/error-body";
import { toRpcError } from "../mcp/error-body";
import { toOpenAiError } from "../openai/error-body";

type ErrorFormat = (refusal: Refusal) => { readonly status: ContentfulStatusCode; readonly body: object };

/** Vendors whose clients read rates in fields of their own. */
export type Vendor = "openai" | "anthropic";

const FORMATS: readonly (readonly [path: RegExp, format: ErrorFormat, vendor: Vendor | null])[] = [
  [/^\/v1\/chat\/completions(?:\/|$)/, (refusal) => toOpenAiError(refusal, "messages"), "openai"],
  [/^\/v1\/(?:responses|conversations)(?:\/|$)/, (refusal) => toOpenAiError(refusal), "openai"],
  [/^\/v1\/messages(?:\/|$)/, toAnthropicError, "anthropic"],
  [/^\/mcp(?:\/|$)/, toRpcError, null],
];

/** One address for the clients of all: the native API's, OpenAI's, and Anthropic's, which name their version. */
const SHARED = /^\/v1\/models(?:\/|$)/;

interface Asked {
  readonly path: string;
  /** The header `anthropic-version`. */
  readonly anthropicVersion: string | undefined;
}

/** Null for the native API, whose refusals are problem documents. */
export const findErrorFormat = ({ path, anthropicVersion }: Asked): ErrorFormat | null =>
  SHARED.test(path) && anthropicVersion !== undefined ? toAnthropicError : (FORMATS.find(([pattern]) => pattern.test(path))?.[1] ?? null);

/** Null where rates are in the fields of the draft alone. */
export const findVendor = (path: string): Vendor | null => FORMATS.find(([pattern]) => pattern.test(path))?.[2] ?? null;

/** What a problem document has beside its own members where OpenAI's client may read it. */
export const findErrorMembers = ({ path }: Pick<Asked, "path">, refusal: Refusal): object =>
  SHARED.test(path) ? toOpenAiError(refusal).body : {};
