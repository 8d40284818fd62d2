/** Judges results that background workers brought while they could not take effect, each of them once. */

import type { CompactionResult } from "../session-api";
import { applyCompactionResult, isCurrentLease, type ResultPorts, type WaitingTurn } from "./apply-result";
import type { SummarizerCandidates } from "./summarizers";

export interface DeferredResults {
  /** Removes and returns the held results for which `isWanted` is true. */
  take(isWanted: (held: CompactionResult) => boolean): CompactionResult[];
  /** Resolves when a result has arrived, or after `ms`. */
  arrival(ms: number): Promise<void>;
}

export interface DeferredResultPorts extends ResultPorts {
  readonly held: DeferredResults;
}

/**
 * Returns true when another worker should continue. `candidates` null: the model's limits are unknown, and no result can be judged. The
 * current lease's result then stays held, while the others are only recorded as spent.
 */
export function applyDeferredResults(
  candidates: SummarizerCandidates | null,
  ports: DeferredResultPorts,
  inside: WaitingTurn | null = null,
): boolean {
  const held = ports.held.take((each) => candidates !== null || !isCurrentLease(each, ports.writer.state));
  const outcomes = held.map((each) => {
    // If it is a part, it is stored, but the worker that brought it is gone: no call for the next part will run.
    const { next } = applyCompactionResult({ ...each, leaves: true, inside }, candidates, ports);
    return next;
  });
  return outcomes.some((next) => next !== "done");
}
