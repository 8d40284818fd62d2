/** Between two turns: what was held back takes effect, the threshold is looked at, and the next message gets its turn. */
import { policyOf } from "../../context/policy-choice";
import type { HeldOutcomes } from "../compaction/held-outcomes";
import { settleSpent } from "../compaction/lease-compaction";
import { requestCompaction } from "../compaction/request-compaction";
import { resolveModel } from "../compaction/resolve-model";
import { settleHeld } from "../compaction/settle-held";
import { type Cast, resolveCast } from "../compaction/summarizers";
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
