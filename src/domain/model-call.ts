/** One call of a model, as the session remembers it: what it was for, what it cost, how it ended. */
export type CallPurpose = "turn" | "compaction" | "title";
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "other";
/** Token usage as one model call reported it. `input` includes cached tokens, which are counted once. */
export interface CallUsage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning: number;
}

/** Of two calls together; what was not reported adds nothing. */
export function plusUsage(one: CallUsage | null, other: CallUsage | null): CallUsage | null {
  if (!one || !other) return one ?? other;
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cached: one.cached + other.cached,
    reasoning: one.reasoning + other.reasoning,
  };
}

/** The class of a model's failure; the labels are those of `provider-errors.json`. */
export const FAILURE_KINDS = [
  "overflow",
  "output_cap",
  "payload",
  "rate_limit",
  "quota",
  "media",
  "invalid_param",
  "auth",
  "refused",
  "unavailable",
  "timeout",
  "aborted",
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];
