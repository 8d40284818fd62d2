/** How long a session's summaries really were: whoever plays its log again has no model to write others. */
import type { CompactionView } from "../app/control-views";
import type { CoveredRange } from "../domain/compaction-events";

const keyOf = ({ from, to }: CoveredRange): string => `${from}-${to}`;

export class RecordedSummaries {
  readonly #lengths = new Map<string, number>();
  #written = 0;
  #read = 0;

  /** A note, which no model wrote, is no summary's length. */
  learn({ ops, receipt }: Pick<CompactionView, "ops" | "receipt">): void {
    for (const op of ops) {
      if (op.op !== "summarize" || op.mode === null) continue;
      this.#lengths.set(keyOf(op), op.tokens);
      // Of what was summarised before the receipt does not say what it weighed.
      if (!receipt || op.generation > 0 || op.replaces.length > 0) continue;
      this.#written += op.tokens;
      this.#read += Math.max(0, receipt.tokens_before - receipt.tokens_after) + op.tokens;
    }
  }

  /** Raw tokens of the summary over exactly this range; null: there was none. */
  lengthOf(range: CoveredRange): number | null {
    return this.#lengths.get(keyOf(range)) ?? null;
  }

  /** Tokens of a summary over those of its source, all of them together; null: none was made. */
  get share(): number | null {
    return this.#read > 0 ? Math.min(1, this.#written / this.#read) : null;
  }
}
