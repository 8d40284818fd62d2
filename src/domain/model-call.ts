/** One call of a model, as the session remembers it: what it was for, what it cost, how it ended. */
export type CallPurpose = "turn" | "compaction" | "title";
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "other";
/** Token usage as one model call reported it. `input` includes cached tokens, which are counted once. */
export interface CallUsage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  /** Part of `output`, or beside it: providers differ. */
  readonly reasoning: number;
  /** Part of `input` that was written to the provider's cache; absent: not reported. */
  readonly cache_write?: number;
}

/** Of two calls together; what was not reported adds nothing. */
export function plusUsage(one: CallUsage | null, other: CallUsage | null): CallUsage | null {
  if (!one || !other) return one ?? other;
  const cache_write = (one.cache_write ?? 0) + (other.cache_write ?? 0);
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cached: one.cached + other.cached,
    reasoning: one.reasoning + other.reasoning,
    ...(cache_write > 0 ? { cache_write } : {}),
  };
}

/** A reported input below this share of the estimate is no count of the request: the ratio that is learned never falls below a half. */
const LEAST_SHARE = 0.25;

/**
 * Whether the reported input can be what the request weighed. Gateways that do not count send zeros, and some report what was not
 * read from a cache as if it were all. Such usage stays in the ledger as it was reported, and nothing is measured by it.
 */
export const isCount = ({ input, cached }: CallUsage, estimate: number): boolean =>
  input > 0 && input >= estimate * LEAST_SHARE && cached <= input;

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
