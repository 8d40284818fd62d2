/** What background workers brought while a turn ran: it takes effect between turns, or where a turn waits for it (docs/design.md §5). */
import type { CompactionId } from "../domain/ids";
import type { SummaryOutcome } from "./session-api";

export interface HeldOutcome {
  readonly compaction: CompactionId;
  readonly token: number;
  readonly outcome: SummaryOutcome;
}

export interface HeldOutcomes {
  /** Those of them that are wanted, which are then held no more. */
  take(isWanted: (held: HeldOutcome) => boolean): HeldOutcome[];
  /** Resolves when one has arrived, or after `ms`. */
  arrival(ms: number): Promise<void>;
}
