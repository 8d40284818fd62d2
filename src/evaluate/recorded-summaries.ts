/** The real lengths of a session's summaries. A log is played again without a model that could write others. */
import type { CompactionView } from "../contract/compaction";
import type { CoveredRange } from "../domain/compaction-events";

const toKey = ({ from, to }: CoveredRange): string => `${from}-${to}`;

export class RecordedSummaries {
  readonly #lengths = new Map<string, number>();
  #written = 0;
  #read = 0;

  /** Ignores notes, because no model wrote them. */
  learn({ ops, receipt }: Pick<CompactionView, "ops" | "receipt">): void {
    for (const op of ops) {
      if (op.op !== "summarize" || op.mode === null) continue;
      this.#lengths.set(toKey(op), op.tokens);
      // The receipt does not say what already summarised content weighed.
      if (!receipt || op.generation > 0 || op.replaces.length > 0) continue;
      this.#written += op.tokens;
      this.#read += Math.max(0, receipt.tokens_before.tokens - receipt.tokens_after.tokens) + op.tokens;
    }
  }

  /** Raw tokens of the summary over exactly this range; null when there was none. */
  findLength(range: CoveredRange): number | null {
    return this.#lengths.get(toKey(range)) ?? null;
  }

  /** Tokens of all summaries divided by those of their sources; null when none was made. */
  get share(): number | null {
    return this.#read > 0 ? Math.min(1, this.#written / this.#read) : null;
  }
}
