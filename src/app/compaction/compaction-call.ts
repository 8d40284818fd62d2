/** A summariser's call as the ledger keeps it. */
import type { ModelCall } from "../../domain/commands";
import type { CompactionFailure } from "../../domain/compaction-events";
import { FAILURE_KINDS, type FailureKind } from "../../domain/model-call";
import type { SessionState } from "../../domain/state";
import type { Settled } from "../session-api";

export function compactionCall({ outcome, token }: Pick<Settled, "outcome" | "token">, state: SessionState): ModelCall {
  const { model, estimate, usage, ms, cost } = outcome;
  return {
    turn: null,
    purpose: "compaction",
    model,
    epoch: state.view.epoch,
    up_to: state.next_position - 1,
    usage,
    estimate,
    request_digest: null,
    outcome: outcome.ok ? outcome.finish : toCallOutcome(outcome.failure),
    ms,
    lease: token,
    ...(cost === undefined ? {} : { cost }),
  };
}

/** A call that was never judged by the provider is recorded as ours. */
export const toCallOutcome = (failure: CompactionFailure): ModelCall["outcome"] => (isModelFailure(failure) ? failure : "internal");

const isModelFailure = (failure: CompactionFailure): failure is FailureKind => FAILURE_KINDS.some((kind) => kind === failure);
