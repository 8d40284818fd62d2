/** Failures in a provider's own words, and what they are to be taken for. */
import type { FailureKind } from "../../../src/domain/model-call";
import type { Refusal } from "../../support/stand-in/providers/script.ts";

export interface ProviderFailure {
  readonly kind: FailureKind;
  /** What happened. */
  readonly title: string;
  readonly refusal: Refusal;
  /** Milliseconds that the provider asks to wait. */
  readonly retry_after_ms?: number;
  /** Tokens that would fit. */
  readonly limit?: number;
  /** The whole window, where the limit is only what the request left of it. */
  readonly window?: number;
}

/** The same, inside a stream that has begun. */
export interface EventFailure {
  readonly kind: FailureKind;
  readonly title: string;
  readonly event: unknown;
  /** Default: null. An event has none but what it says itself. */
  readonly status?: number;
  readonly retry_after_ms?: number;
  readonly limit?: number;
}

export interface ProviderFailures {
  readonly refusals: readonly ProviderFailure[];
  readonly events: readonly EventFailure[];
  /** Classes that the provider has no words for. */
  readonly unheard?: readonly FailureKind[];
}
