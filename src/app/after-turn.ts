/** Between two turns: what was held back takes effect, the threshold is looked at, and the next message gets its turn. */
import type { CompactionId } from "../domain/ids";
import { isCurrent, requestCompaction, settleCompaction } from "./compact-session";
import type { ModelSpec } from "./ports";
import { resolveModel } from "./resolve-model";
import type { SummaryOutcome } from "./session-api";
import type { SessionPorts } from "./session-ports";

/** An outcome that arrived while a turn ran: a background result takes effect between turns (docs/design.md §5). */
export interface HeldOutcome {
  readonly compaction: CompactionId;
  readonly token: number;
  readonly outcome: SummaryOutcome;
}

export interface HeldOutcomes {
  /** Those of them that are wanted, which are then held no more. */
  take(isWanted: (held: HeldOutcome) => boolean): HeldOutcome[];
}

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
  for (const held of ports.held.take((each) => spec !== null || !isCurrent(each, ports.writer.state))) {
    if (settleCompaction(held, spec, ports) === "retry") ports.wakeCompaction();
  }
  if (spec && ports.writer.state.last_turn?.status === "completed") requestCompaction(spec, "threshold", ports);
}
