/** The two calls of a compaction worker: one leases the plan, the other records the outcome. */

import { applyDeferredResults } from "../../app/compaction/apply-deferred";
import { applyCompactionResult, isChunkAccepted, isCurrentLease } from "../../app/compaction/apply-result";
import { failUnpaid, leaseCompaction } from "../../app/compaction/lease-compaction";
import { resolveSummarizerCandidates, type SummarizerCandidates } from "../../app/compaction/summarizers";
import { MOST_OBTAINED } from "../../app/request/call-need";
import { resolveModel } from "../../app/request/resolve-model";
import type * as api from "../../app/session-api";
import type { CompactionId } from "../../domain/ids";
import { ok } from "../../lib/result";
import type { DeferredResultTable } from "../log/deferred-results";
import type { Session } from "../session";

/** A session with the results that workers brought and that wait. */
type WorkedSession = Session & { readonly deferred: DeferredResultTable };

/** Reserves what the call may cost before it hands out the lease. A refused reservation is no attempt. */
export async function leaseFor(session: WorkedSession, compaction: CompactionId): Promise<api.Outcome<api.LeaseOutcome>> {
  for (let obtained = 0; ; obtained++) {
    const leased = await tryLease(session, compaction);
    if (leased.kind !== "unpaid") return ok(leased);
    const got = obtained < MOST_OBTAINED ? await session.ports().budgets.obtain(leased.need) : null;
    if (got?.ok) continue;
    if (got?.error.code !== "budget_exhausted") return ok({ kind: "nothing", reason: "budgets_unreachable" });
    const found = await lookUp(session);
    if (!found || found === "unreachable") return ok({ kind: "nothing", reason: "budget" });
    return ok(failUnpaid(compaction, found, { ...session.ports(), inside: null }));
  }
}

async function tryLease(session: WorkedSession, compaction: CompactionId): Promise<ReturnType<typeof leaseCompaction>> {
  const found = await lookUp(session);
  if (found === "unreachable") return { kind: "nothing", reason: "models_unreachable" };
  const ports = session.ports();
  if (session.deferred.has(compaction)) {
    if (session.state.turn) return { kind: "nothing", reason: "held_for_turn_end" };
    // The turn has ended, or the outcome has arrived, while the models could not be looked up.
    applyDeferredResults(found, ports);
  }
  const leased = leaseCompaction(compaction, found, ports);
  // The session's model is gone, so its compaction has ended. Of the outcome that was held for it, only the model call
  // is recorded.
  if (!found) applyDeferredResults(null, ports);
  return leased;
}

/** A model that the tenant does not have ends the compaction. A failed look-up does not: it is reported as "unreachable". */
async function lookUp(session: Session): Promise<SummarizerCandidates | null | "unreachable"> {
  const found = await resolveModel(session.state.settings.model, session.ports());
  if (found.ok) return resolveSummarizerCandidates(found.value, session.ports());
  return found.error === "unavailable" ? "unreachable" : null;
}

/**
 * Records a worker's outcome. While a turn runs, or no model can be looked up, the outcome is held durably and takes
 * effect later (docs/compaction-protocol.md). A finished part and a draft do not wait for the turn, since neither changes the
 * view.
 */
export async function recordFor(session: WorkedSession, settled: api.CompactionResult): Promise<api.Outcome<api.ApplyOutcome>> {
  const found = await lookUp(session);
  const { state } = session;
  const isDraft = state.compaction.requested?.options?.draft === true;
  const waits = found === "unreachable" || (state.turn !== null && !isDraft && !(found && isChunkAccepted(settled, found, state)));
  if (waits && isCurrentLease(settled, state)) {
    session.deferred.add(settled);
    return ok({ next: "done" });
  }
  return ok(applyCompactionResult({ ...settled, inside: null }, found === "unreachable" ? null : found, session.ports()));
}
