/** Plans a session's next compaction. Worker, turn, person and dry run all use this function. */
import type { Plan } from "../../context/plan";
import { planCompaction } from "../../context/planner";
import type { Policy } from "../../context/policy";
import { toPolicy } from "../../context/policy-choice";
import { closedBreaker } from "../../domain/breaker";
import type { CompactionOptions, CompactionTrigger } from "../../domain/compaction-events";
import type { RequestedCompaction } from "../../domain/compaction-work";
import type { SessionState } from "../../domain/state";
import type { ModelSpec } from "../ports";
import { toModelLimits } from "../request/build-request";
import type { SessionPorts } from "../session-ports";

export type CompactionPorts = Pick<SessionPorts, "writer" | "content" | "clock" | "ids" | "log">;

interface PlanRequest {
  readonly trigger: CompactionTrigger;
  readonly options?: CompactionOptions | null;
}

/** The options that a person gave apply to manual work only, not to what a turn needs after it has taken the compaction over. */
export const optionsFor = (trigger: CompactionTrigger, requested: RequestedCompaction | null): CompactionOptions | null =>
  trigger === "manual" ? (requested?.options ?? null) : null;

export function planSession(
  spec: ModelSpec,
  { trigger, options = null }: PlanRequest,
  { writer, clock }: Pick<CompactionPorts, "writer" | "clock">,
): Plan {
  // A manual request resets the breaker (docs/compaction-by-hand.md). The plan therefore assumes a closed breaker, and a dry run shows the real one
  // beside it.
  const { compaction } = writer.state;
  const state = trigger === "manual" ? { ...writer.state, compaction: { ...compaction, ...closedBreaker } } : writer.state;
  return planCompaction({ state, limits: toModelLimits(spec), policy: askedPolicy(state, options), trigger, now: clock(), options });
}

/** Whether a plan would ask a model. */
export const summarizes = (plan: Plan): boolean => plan.kind === "compact" && plan.rungs.some((rung) => rung.rung === "summarize");

/**
 * The policy for a compaction with these options. Another policy contributes only its rules for summaries; a named model is asked, and no
 * other.
 */
export function askedPolicy({ settings }: Pick<SessionState, "settings">, options: CompactionOptions | null): Policy {
  const policy = toPolicy(settings.policy);
  const { model, policy: other } = options ?? {};
  if (model === undefined && other === undefined) return policy;
  const summary = other === undefined ? policy.summary : toPolicy(other).summary;
  return { ...policy, summary: model === undefined ? summary : { ...summary, models: [model] } };
}

/** The policy of the requested compaction; the session's own when there is none. */
export const policyUnderWay = (state: SessionState): Policy => askedPolicy(state, state.compaction.requested?.options ?? null);
