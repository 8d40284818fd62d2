/** One model call as the session records it: its purpose, its cost and its outcome. */
export const CALL_PURPOSES = ["turn", "compaction", "title", "comparison"] as const;
export type CallPurpose = (typeof CALL_PURPOSES)[number];
/** The purpose of a call as the ledger names it. */
export type UsageSource = "turn" | "context_compaction" | "title" | "comparison";
export const usageSource = (purpose: CallPurpose): UsageSource => (purpose === "compaction" ? "context_compaction" : purpose);
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "other";
/** Token usage as one model call reported it. `input` includes cached tokens, each counted once. */
export interface CallUsage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  /** Reasoning tokens: part of `output`, or counted beside it, depending on the provider. */
  readonly reasoning: number;
  /** Part of `input` that was written to the provider's cache. Absent: not reported. */
  readonly cache_write?: number;
}

/** Sum of the usage of two calls. Null when neither reported any. */
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

/** Input tokens that the provider's cache neither held nor stored. 0 where the parts exceed the whole. */
export const toUncachedInput = ({ input, cached, cache_write = 0 }: CallUsage): number => Math.max(0, input - cached - cache_write);

/** Generated tokens, with reasoning counted once. More reasoning than output means that the provider counted it beside the output. */
export const toGeneratedTokens = ({ output, reasoning }: CallUsage): number => (reasoning <= output ? output : output + reasoning);

/** A reported input below this share of the estimate is not a count of the request. A learned ratio never falls below a half. */
const LEAST_SHARE = 0.25;

/**
 * Whether the reported input can be the weight of the request. Gateways that do not count report zeros, and some report
 * only the uncached part as the whole input. Such usage stays in the ledger as reported, but no measurement uses it.
 */
export const isCount = ({ input, cached }: CallUsage, estimate: number): boolean =>
  input > 0 && input >= estimate * LEAST_SHARE && cached <= input;

/** What a call was reserved with under the tenant's budgets (docs/budgets.md). */
export interface CallReservation {
  readonly id: number;
  /** The call was refused before any output, or never sent, so that it cost nothing. Absent: that is not known. */
  readonly free?: true;
}

/** What a request needed besides the session's state. Both together reproduce the same bytes. Contains no credential. */
export interface AskedFor {
  /** The last event that was applied to the state when the request was built. */
  readonly seq: number;
  /** Epoch milliseconds at which the request was sent. */
  readonly at: number;
  /** Maximum reply tokens that the request states. Null when it states none. */
  readonly max_output: number | null;
  /** The model as the registry had it. */
  readonly model: AskedModel;
  /** Generation settings that were set and that the request left out, because the model cannot express them. Absent: none. */
  readonly left_out?: readonly string[];
  /** The request was rendered in the plainest way, because the provider had refused the usual one. */
  readonly plain?: true;
}

export interface AskedModel {
  readonly provider: string;
  readonly upstream_id: string;
  readonly base_url: string | null;
  /** Whose registry entry it was. */
  readonly source: "deployment" | "tenant";
  readonly context_window: number | null;
  readonly max_output: number;
  /** Absent: unknown. */
  readonly capabilities?: { readonly tools: boolean; readonly images: boolean; readonly files: boolean; readonly reasoning: boolean };
  /** Where the endpoint differs from what is known of its name and address. Absent: nowhere. */
  readonly quirks?: Readonly<Record<string, string | number | boolean>>;
}

/** The class of a model's failure. The names are those of `provider-errors.json`. */
export const FAILURE_KINDS = [
  "overflow",
  "output_cap",
  "payload",
  "rate_limit",
  "quota",
  "media",
  "invalid_param",
  "auth",
  "not_found",
  "region",
  "refused",
  "unavailable",
  "timeout",
  "aborted",
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** A provider's own code and type of a failure, and the part of the request that it names: identifiers of at most 64 characters. */
export interface ReportedNames {
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  readonly param?: string | undefined;
}
