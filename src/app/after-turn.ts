/** Between two turns: what was held back takes effect, the threshold is looked at, and the next message gets its turn. */
import { policyOf } from "../context/policy-choice";
import type { HeldOutcomes } from "./held-outcomes";
import type { ModelSpec } from "./ports";
import { requestCompaction } from "./request-compaction";
import { resolveModel } from "./resolve-model";
import type { SessionPorts } from "./session-ports";
import { isCurrentLease, settleCompaction } from "./settle-compaction";

export interface AfterTurnPorts extends SessionPorts {
  readonly held: HeldOutcomes;
  readonly incarnation: string;
  /** Asks for another worker: a held failure allows one more attempt. */
  readonly wakeCompaction: () => void;
}

export async function afterTurn(ports: AfterTurnPorts): Promise<void> {
  const found = await resolveModel(ports.writer.state.settings.model, ports);
  if (ports.writer.state.turn) return;
  settleBetweenTurns(found.ok ? found.value : null, ports);
  ports.writer.execute({ type: "StartTurn", at: ports.clock(), incarnation: ports.incarnation });
}

/** Without the model's facts no result can be judged: the current one waits on, the others come to nothing in any case. */
function settleBetweenTurns(spec: ModelSpec | null, ports: AfterTurnPorts): void {
  for (const held of ports.held.take((each) => spec !== null || !isCurrentLease(each, ports.writer.state))) {
    if (settleCompaction({ ...held, next: null, inside: null }, spec, ports).next === "retry") ports.wakeCompaction();
  }
  const { last_turn, settings } = ports.writer.state;
  const inBackground = policyOf(settings.policy).trigger.at === "after_response";
  if (spec && inBackground && last_turn?.status === "completed") requestCompaction(spec, "threshold", ports);
}
