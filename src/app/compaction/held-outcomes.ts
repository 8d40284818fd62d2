/** What background workers brought while it could not be judged: it is, between turns or where a turn waits for it (docs/design.md §5). */
import type { Settled } from "../session-api";

export interface HeldOutcomes {
  /** Those of them that are wanted, which are then held no more. */
  take(isWanted: (held: Settled) => boolean): Settled[];
  /** Resolves when one has arrived, or after `ms`. */
  arrival(ms: number): Promise<void>;
}
