/** By which policy a compaction is done: the session's, but for what was asked for this one alone. */
import type { Policy } from "../../context/policy";
import { policyOf } from "../../context/policy-choice";
import type { CompactionOptions } from "../../domain/compaction-events";
import type { SessionState } from "../../domain/state";

/** Of another policy only its rules for summaries hold; who is named to write it is asked, and nobody else. */
export function askedPolicy({ settings }: Pick<SessionState, "settings">, options: CompactionOptions | null): Policy {
  const policy = policyOf(settings.policy);
  const { model, policy: other } = options ?? {};
  if (model === undefined && other === undefined) return policy;
  const summary = other === undefined ? policy.summary : policyOf(other).summary;
  return { ...policy, summary: model === undefined ? summary : { ...summary, models: [model] } };
}

/** Of the compaction under way; the session's own where there is none. */
export const policyUnderWay = (state: SessionState): Policy => askedPolicy(state, state.compaction.requested?.options ?? null);
