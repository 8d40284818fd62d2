/** The plan of a session's next compaction, as everything that asks for one gets it: worker, turn, person and dry run. */
import type { Plan } from "../../context/plan";
import { planCompaction } from "../../context/planner";
import type { Policy } from "../../context/policy";
import { policyOf } from "../../context/policy-choice";
import { closedBreaker } from "../../domain/breaker";
import type { CompactionOptions, CompactionTrigger } from "../../domain/compaction-events";
import type { RequestedCompaction, SessionState } from "../../domain/state";
import type { ModelSpec } from "../ports";
import { limitsOf } from "../request/build-request";
import type { SessionPorts } from "../session-ports";

export type CompactionPorts = Pick<SessionPorts, "writer" | "content" | "clock" | "ids" | "log">;

interface PlanRequest {
  readonly trigger: CompactionTrigger;
  readonly options?: CompactionOptions | null;
}

/** How far a person wanted to go holds for the work that was asked for, not for what a turn needs once it has taken that over. */
export const optionsFor = (trigger: CompactionTrigger, requested: RequestedCompaction | null): CompactionOptions | null =>
  trigger === "manual" ? (requested?.options ?? null) : null;

export function planSession(
  spec: ModelSpec,
  { trigger, options = null }: PlanRequest,
  { writer, clock }: Pick<CompactionPorts, "writer" | "clock">,
): Plan {
  // A request by hand resets the breaker (docs/design.md §5): a dry run shows what would then be done, and the breaker as it is beside it.
  const { compaction } = writer.state;
  const state = trigger === "manual" ? { ...writer.state, compaction: { ...compaction, ...closedBreaker } } : writer.state;
  return planCompaction({ state, limits: limitsOf(spec), policy: askedPolicy(state, options), trigger, now: clock(), options });
}

/** Whether a plan would ask a model. */
export const summarizes = (plan: Plan): boolean => plan.kind === "compact" && plan.rungs.some((rung) => rung.rung === "summarize");

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
