/** Failures in a provider's own words, with the class that each must be given. */
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
  /** The complete window, where the stated limit is only the rest that the request left. */
  readonly window?: number;
}

/** A failure inside a stream that has begun. */
export interface EventFailure {
  readonly kind: FailureKind;
  readonly title: string;
  readonly event: unknown;
  /** Default: null. An error event inside a stream has no status of its own. */
  readonly status?: number;
  readonly retry_after_ms?: number;
  readonly limit?: number;
}

export interface ProviderFailures {
  readonly refusals: readonly ProviderFailure[];
  readonly events: readonly EventFailure[];
  /** Classes for which the provider has no error. */
  readonly unheard?: readonly FailureKind[];
}
