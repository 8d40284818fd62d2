/** Between two turns: what was held back takes effect, the threshold is looked at, and the next message gets its turn. */
import { policyOf } from "../../context/policy-choice";
import type { CompactionTrigger } from "../../domain/compaction-events";
import { settleSpent } from "../compaction/lease-compaction";
import { type CompactionPorts, planSession, summarizes } from "../compaction/plan-session";
import type { HeldOutcomes } from "../compaction/settle-held";
import { settleHeld } from "../compaction/settle-held";
import { type Cast, resolveCast } from "../compaction/summarizers";
import type { ModelSpec } from "../ports";
import { applyRungs, limitsOf } from "../request/build-request";
import { resolveModel } from "../request/resolve-model";
import type { SessionPorts } from "../session-ports";

export interface AfterTurnPorts extends SessionPorts {
  readonly held: HeldOutcomes;
  readonly incarnation: string;
  /** Asks for another worker: what was held allows one more attempt, or was a part. */
  readonly wakeCompaction: () => void;
}

export async function afterTurn(ports: AfterTurnPorts): Promise<void> {
  const found = await resolveModel(ports.writer.state.settings.model, ports);
  const cast = found.ok ? await resolveCast(found.value, ports) : null;
  if (ports.writer.state.turn) return;
  settleBetweenTurns(cast, ports);
  ports.writer.execute({ type: "StartTurn", at: ports.clock(), incarnation: ports.incarnation });
}

function settleBetweenTurns(cast: Cast | null, ports: AfterTurnPorts): void {
  if (settleHeld(cast, ports)) ports.wakeCompaction();
  if (cast) settleSpent(cast, ports);
  const { last_turn, settings, compaction } = ports.writer.state;
  if (!cast || policyOf(settings.policy).trigger.at !== "after_response" || last_turn?.status !== "completed") return;
  // One that failed is asked for again after the next response, not at once.
  if (compaction.failed_after !== last_turn.id) requestCompaction(cast.spec, "threshold", ports);
}

/** After a response: when the policy says so, a compaction is asked for (FEAT-011, compact rule 1). True: something was done or asked. */
export function requestCompaction(spec: ModelSpec, trigger: CompactionTrigger, ports: CompactionPorts): boolean {
  const { writer, clock, ids } = ports;
  if (writer.state.compaction.requested) return false;
  const plan = planSession(spec, { trigger }, ports);
  if (plan.kind !== "compact") return false;
  if (!summarizes(plan)) return applyRungs(plan, { trigger: plan.trigger, limits: limitsOf(spec) }, ports);
  const asked = writer.execute({
    type: "RequestCompaction",
    at: clock(),
    compaction: ids.newId("cmp"),
    trigger: plan.trigger,
    options: null,
  });
  return asked.ok && asked.value.length > 0;
}
