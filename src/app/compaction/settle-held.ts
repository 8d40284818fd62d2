/** What background workers brought while it could not take effect is judged now, each once. */

import type { Settled } from "../session-api";
import { giveBack } from "./give-back";
import type { CompactionPorts } from "./plan-session";
import { type Inside, isCurrentLease, settleCompaction } from "./settle-compaction";
import type { Cast } from "./summarizers";

export interface HeldOutcomes {
  /** Those of them that are wanted, which are then held no more. */
  take(isWanted: (held: Settled) => boolean): Settled[];
  /** Resolves when one has arrived, or after `ms`. */
  arrival(ms: number): Promise<void>;
}

export interface HeldPorts extends CompactionPorts {
  readonly held: HeldOutcomes;
}

/**
 * True: another worker is to go on. Without the model's facts no result can be judged: the current one waits
 * on, the others come to nothing in any case.
 */
export function settleHeld(cast: Cast | null, ports: HeldPorts, inside: Inside | null = null): boolean {
  const held = ports.held.take((each) => cast !== null || !isCurrentLease(each, ports.writer.state));
  const settled = held.map((each) => {
    const { next } = settleCompaction({ ...each, inside }, cast, ports);
    // A part is done, and nobody reads the next one: the worker that brought it is gone.
    if (next === "continue") giveBack({ ...each, outcome: null }, ports);
    return next;
  });
  return settled.some((next) => next !== "done");
}
