/** What a provider says of a model's limits when it is asked for the model itself. */
import type { Result } from "../../lib/result";
import type { ModelSpec } from "../ports";

/** In tokens; absent: the provider does not say. At least one is there. */
export interface ProbedLimits {
  readonly context_window?: number;
  readonly max_output?: number;
}

/**
 * `unsupported`: this provider is not asked (embedded, Workers AI). `no_key`: there is none to ask with. `unreachable`: no answer in time. `refused`: an answer
 * that is no success, a redirect among them. `malformed`: not JSON, or more than is read. `unknown_model`: its list does not
 * have the model. `no_limits`: it has, and names no limit.
 */
const PROBE_FAULTS = ["unsupported", "no_key", "unreachable", "refused", "malformed", "unknown_model", "no_limits"] as const;

export interface ProbeFailure {
  readonly reason: (typeof PROBE_FAULTS)[number];
  /** HTTP status, if the provider answered. */
  readonly status: number | null;
}

export type ProbeLimits = (model: ModelSpec) => Promise<Result<ProbedLimits, ProbeFailure>>;
