/** The response resource. Every key is always there, also while the response is under way. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { CallUsage } from "../../../domain/model-call";
import type { CompactionItem, OpenAiItem } from "../items/item-types";
import type { ResponseAsked } from "./asked";

export type LegEnd =
  | { readonly status: "queued" | "in_progress" | "completed" | "cancelled" }
  | { readonly status: "incomplete"; readonly reason: "max_output_tokens" | "content_filter" }
  | { readonly status: "failed"; readonly error: { readonly code: string; readonly message: string } };

export interface ResponseHead {
  readonly id: string;
  /** Epoch seconds. */
  readonly created_at: number;
  readonly asked: ResponseAsked;
  /** The first item of the output. Null: the request did not have its conversation compacted. */
  readonly compaction: CompactionItem | null;
}

/** The type of each code, and the status of an answer that is the error alone. */
const ERRORS: Readonly<Record<string, readonly [type: string, status: ContentfulStatusCode]>> = {
  context_length_exceeded: ["invalid_request_error", 400],
  rate_limit_exceeded: ["rate_limit_error", 429],
  insufficient_quota: ["insufficient_quota", 429],
};
const BROKEN = ["server_error", 500] as const;

interface EndError {
  readonly code: string;
  readonly message: string;
}

/** A response that failed, as an answer of OpenAI's API that its clients throw. */
export function toErrorAnswer({ code, message }: EndError) {
  const [type, status] = ERRORS[code] ?? BROKEN;
  return { status, body: { error: { message, type, param: null, code } } };
}

interface ResponseState {
  readonly end: LegEnd;
  /** Epoch seconds of the last message. */
  readonly completed_at: number | null;
  readonly output: readonly OpenAiItem[];
  readonly usage: CallUsage | null;
}

export function toResponseUsage({ input, output, cached, reasoning, cache_write = 0 }: CallUsage) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: cache_write },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

export function buildResponse({ id, created_at, asked }: ResponseHead, { end, completed_at, output, usage }: ResponseState) {
  const { surface: _, added: __, compaction: ___, conversation, ...echoed } = asked;
  return {
    id,
    object: "response",
    created_at,
    status: end.status,
    completed_at: end.status === "completed" ? completed_at : null,
    error: end.status === "failed" ? end.error : null,
    incomplete_details: end.status === "incomplete" ? { reason: end.reason } : null,
    output,
    usage: usage && toResponseUsage(usage),
    ...echoed,
    ...(conversation !== null && { conversation: { id: conversation } }),
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
  };
}
