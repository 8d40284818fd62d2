/**
 * Runs between two turns: applies compaction results that were held back, checks the compaction threshold, and starts the next queued
 * message's turn.
 */
import { toPolicy } from "../../context/policy-choice";
import type { CompactionTrigger } from "../../domain/compaction-events";
import type { DeferredResults } from "../compaction/apply-deferred";
import { applyDeferredResults } from "../compaction/apply-deferred";
import { failExhaustedCompaction } from "../compaction/lease-compaction";
import { type CompactionPorts, planSession, summarizes } from "../compaction/plan-session";
import { resolveSummarizerCandidates, type SummarizerCandidates } from "../compaction/summarizers";
import type { ModelSpec } from "../ports";
import { applyRungs, toModelLimits } from "../request/build-request";
import { resolveModel } from "../request/resolve-model";
import type { SessionPorts } from "../session-ports";

export interface AfterTurnPorts extends SessionPorts {
  readonly held: DeferredResults;
  readonly incarnation: string;
  /** Wakes another worker, because a held result failed with attempts left, or was one part of several. */
  readonly wakeCompaction: () => void;
}

export async function afterTurn(ports: AfterTurnPorts): Promise<void> {
  const found = await resolveModel(ports.writer.state.settings.model, ports);
  const candidates = found.ok ? await resolveSummarizerCandidates(found.value, ports) : null;
  if (ports.writer.state.turn) return;
  applyResultsBetweenTurns(candidates, ports);
  ports.writer.execute({ type: "StartTurn", at: ports.clock(), incarnation: ports.incarnation });
}

function applyResultsBetweenTurns(candidates: SummarizerCandidates | null, ports: AfterTurnPorts): void {
  if (applyDeferredResults(candidates, ports)) ports.wakeCompaction();
  if (candidates) failExhaustedCompaction(candidates, ports);
  const { last_turn, settings, compaction } = ports.writer.state;
  if (settings.throwaway) return;
  if (!candidates || toPolicy(settings.policy).trigger.at !== "after_response" || last_turn?.status !== "completed") return;
  // A compaction that failed is requested again after the next response, not at once.
  if (compaction.failed_after !== last_turn.id) requestCompaction(candidates.spec, "threshold", ports);
}

/**
 * Compacts or requests a compaction when the policy says so (docs/policy.md, rule 3). Returns true when the view changed or a compaction
 * was requested.
 */
export function requestCompaction(spec: ModelSpec, trigger: CompactionTrigger, ports: CompactionPorts): boolean {
  const { writer, clock, ids } = ports;
  if (writer.state.compaction.requested) return false;
  const plan = planSession(spec, { trigger }, ports);
  if (plan.kind !== "compact") return false;
  if (!summarizes(plan)) return applyRungs(plan, { trigger: plan.trigger, limits: toModelLimits(spec) }, ports);
  const asked = writer.execute({
    type: "RequestCompaction",
    at: clock(),
    compaction: ids.newId("cmp"),
    trigger: plan.trigger,
    options: null,
  });
  return asked.ok && asked.value.length > 0;
}
