/** One call of a model, as the session remembers it: what it was for, what it cost, how it ended. */
export const CALL_PURPOSES = ["turn", "compaction", "title", "comparison"] as const;
export type CallPurpose = (typeof CALL_PURPOSES)[number];
/** What the ledger says a call was for (ADR 097: `source: context_compaction`). */
export type UsageSource = "turn" | "context_compaction" | "title" | "comparison";
export const usageSource = (purpose: CallPurpose): UsageSource => (purpose === "compaction" ? "context_compaction" : purpose);
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

/** What of the input the provider's cache neither held nor took. 0 where the parts say more than the whole. */
export const uncachedOf = ({ input, cached, cache_write = 0 }: CallUsage): number => Math.max(0, input - cached - cache_write);

/** What was generated, thinking included and counted once: more thinking than output was counted beside it. */
export const generatedOf = ({ output, reasoning }: CallUsage): number => (reasoning <= output ? output : output + reasoning);

/** A reported input below this share of the estimate is no count of the request: the ratio that is learned never falls below a half. */
const LEAST_SHARE = 0.25;

/**
 * Whether the reported input can be what the request weighed. Gateways that do not count send zeros, and some report what was not
 * read from a cache as if it were all. Such usage stays in the ledger as it was reported, and nothing is measured by it.
 */
export const isCount = ({ input, cached }: CallUsage, estimate: number): boolean =>
  input > 0 && input >= estimate * LEAST_SHARE && cached <= input;

/** What a request needed besides the session's state: with both, the same bytes are made again. Holds no credential. */
export interface AskedFor {
  /** The last event that the state had seen when it was read. */
  readonly seq: number;
  /** Epoch milliseconds: when it was sent. */
  readonly at: number;
  /** Tokens of the reply that it names; null: none are named. */
  readonly max_output: number | null;
  /** The model as the registry had it. */
  readonly model: AskedModel;
}

export interface AskedModel {
  readonly provider: string;
  readonly upstream_id: string;
  readonly base_url: string | null;
  /** Whose entry of the registry it was; absent: an older build did not record it. */
  readonly source?: "deployment" | "tenant";
  readonly context_window: number | null;
  readonly max_output: number;
  /** Absent: unknown. */
  readonly capabilities?: { readonly tools: boolean; readonly images: boolean; readonly files: boolean; readonly reasoning: boolean };
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
