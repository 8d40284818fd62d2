/** Asking for a compaction: after a response, by hand. Rungs that need no model are taken at once. */
import type { CompactionTrigger } from "../../domain/compaction-events";
import type { ModelSpec } from "../ports";
import { applyRungs, limitsOf } from "./build-request";
import { type CompactionPorts, planSession, summarizes } from "./plan-session";

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
