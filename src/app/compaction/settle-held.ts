/** Judges results that background workers brought while they could not take effect, each of them once. */

import type { Settled } from "../session-api";
import { giveBack } from "./give-back";
import type { CompactionPorts } from "./plan-session";
import { type Inside, isCurrentLease, settleCompaction } from "./settle-compaction";
import type { Cast } from "./summarizers";

export interface HeldOutcomes {
  /** Removes and returns the held results for which `isWanted` is true. */
  take(isWanted: (held: Settled) => boolean): Settled[];
  /** Resolves when a result has arrived, or after `ms`. */
  arrival(ms: number): Promise<void>;
}

export interface HeldPorts extends CompactionPorts {
  readonly held: HeldOutcomes;
}

/**
 * Returns true when another worker should continue. `cast` null: the model's limits are unknown, and no result can be judged. The current
 * lease's result then stays held, while the others are only recorded as spent.
 */
export function settleHeld(cast: Cast | null, ports: HeldPorts, inside: Inside | null = null): boolean {
  const held = ports.held.take((each) => cast !== null || !isCurrentLease(each, ports.writer.state));
  const settled = held.map((each) => {
    const { next } = settleCompaction({ ...each, inside }, cast, ports);
    // The part is stored, but the worker that brought it is gone: no call for the next part is running.
    if (next === "continue") giveBack({ ...each, outcome: null }, ports);
    return next;
  });
  return settled.some((next) => next !== "done");
}
