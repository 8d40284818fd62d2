/** What a provider reports of a model's limits when it is asked about the model. */
import type { Result } from "../../lib/result";
import type { ModelSpec } from "../ports";

/** In tokens; absent when the provider does not report it. At least one is present. */
export interface ProbedLimits {
  readonly context_window?: number;
  readonly max_output?: number;
}

/**
 * `unsupported`: this provider cannot be asked (embedded, Workers AI). `no_key`: the key is missing. `unreachable`: no answer in time.
 * `refused`: any status but success, including redirects. `malformed`: not JSON, or larger than the read limit. `unknown_model`: the
 * provider's list does not have the model. `no_limits`: the list has it, without a limit.
 */
const PROBE_FAULTS = ["unsupported", "no_key", "unreachable", "refused", "malformed", "unknown_model", "no_limits"] as const;

export interface ProbeFailure {
  readonly reason: (typeof PROBE_FAULTS)[number];
  /** HTTP status, if the provider answered. */
  readonly status: number | null;
}

export type ProbeLimits = (model: ModelSpec) => Promise<Result<ProbedLimits, ProbeFailure>>;
