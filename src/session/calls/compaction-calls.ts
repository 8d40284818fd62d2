/** A compaction worker's two calls: the plan under a lease, and what came of it. */

import { leaseCompaction } from "../../app/compaction/lease-compaction";
import { isCurrentLease, isPartDone, settleCompaction } from "../../app/compaction/settle-compaction";
import { settleHeld } from "../../app/compaction/settle-held";
import { type Cast, resolveCast } from "../../app/compaction/summarizers";
import { resolveModel } from "../../app/request/resolve-model";
import type * as api from "../../app/session-api";
import type { CompactionId } from "../../domain/ids";
import { ok } from "../../lib/result";
import { isHeld } from "../log/held-outcomes";
import type { SessionRuntime } from "../runtime";

export async function leaseFor(runtime: SessionRuntime, compaction: CompactionId): Promise<api.Outcome<api.LeaseOutcome>> {
  const found = await lookUp(runtime);
  if (found === "unreachable") return ok({ kind: "nothing", reason: "models_unreachable" });
  const ports = runtime.ports();
  if (isHeld(runtime.deps.sql, compaction)) {
    if (runtime.state.turn) return ok({ kind: "nothing", reason: "held_for_turn_end" });
    // Its turn ended, or it came, while the models were out of reach.
    settleHeld(found, ports);
  }
  const leased = leaseCompaction(compaction, found, ports);
  // The model is gone and the compaction with it: what was held for it comes to nothing.
  if (!found) settleHeld(null, ports);
  return ok(leased);
}

/** Unlike a model that the tenant does not have, one that cannot be looked up is no reason to give up. */
async function lookUp(runtime: SessionRuntime): Promise<Cast | null | "unreachable"> {
  const found = await resolveModel(runtime.state.settings.model, runtime.ports());
  if (found.ok) return resolveCast(found.value, runtime.ports());
  return found.error === "unavailable" ? "unreachable" : null;
}

/** While a turn runs an outcome is kept, durably, and takes effect when it ends (docs/design.md §5). A part that is done changes no view, nor does a draft. */
export async function recordFor(runtime: SessionRuntime, settled: api.Settled): Promise<api.Outcome<api.SettleOutcome>> {
  const found = await lookUp(runtime);
  const { state } = runtime;
  const isDraft = state.compaction.requested?.options?.draft === true;
  const waits = found === "unreachable" || (state.turn !== null && !isDraft && !(found && isPartDone(settled, found, state)));
  if (waits && isCurrentLease(settled, state)) {
    runtime.hold(settled);
    return ok({ next: "done" });
  }
  return ok(settleCompaction({ ...settled, inside: null }, found === "unreachable" ? null : found, runtime.ports()));
}
