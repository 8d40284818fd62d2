/** A compaction worker's two calls: the plan under a lease, and what came of it. */

import { leaseCompaction, settleCompaction } from "../app/compact-session";
import type * as api from "../app/session-api";
import type { CompactionId } from "../domain/ids";
import { ok } from "../lib/result";
import { resolveQuietly } from "./read-calls";
import type { SessionRuntime } from "./runtime";

export async function leaseFor(runtime: SessionRuntime, compaction: CompactionId): Promise<api.Outcome<api.LeaseOutcome>> {
  if (isHeld(runtime, compaction)) return ok({ kind: "nothing", reason: "held_for_turn_end" });
  const spec = await resolveQuietly(runtime);
  return ok(leaseCompaction(compaction, spec, runtime.ports()));
}

const isHeld = (runtime: SessionRuntime, compaction: CompactionId): boolean =>
  runtime.deps.sql.all("SELECT 1 AS one FROM pending_outcomes WHERE compaction = ?", compaction).length > 0;

/** While a turn runs the outcome is kept, durably, and takes effect when it ends (docs/design.md §5). */
export async function recordFor(
  runtime: SessionRuntime,
  input: Parameters<api.SessionApi["recordCompaction"]>[1],
): ReturnType<api.SessionApi["recordCompaction"]> {
  const spec = await resolveQuietly(runtime);
  const { compaction, token, outcome } = input;
  if (runtime.state.turn) {
    const { requested, lease } = runtime.state.compaction;
    if (requested?.id === compaction && lease?.token === token) runtime.hold({ compaction, token, outcome });
    return ok({ next: "done" });
  }
  if (!spec) return ok({ next: "done" });
  return ok({ next: settleCompaction({ compaction, token, outcome }, spec, runtime.ports()) });
}
