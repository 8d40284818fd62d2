/** Keeps a summariser's outcome durably while a turn runs, until it may take effect. */
import type { DeferredResults } from "../../app/compaction/apply-deferred";
import type { CompactionResult } from "../../app/session-api";
import type { CompactionId } from "../../domain/ids";
import type { Signal } from "../signal";
import type { Sql } from "./sql";

/** The column `place`: which chunk the outcome is, and where the part ended. */
type Place = Pick<CompactionResult, "part" | "next">;

type Row = {
  readonly compaction: CompactionId;
  readonly token: number;
  readonly outcome: string;
  readonly place: string;
};

export class DeferredResultTable implements DeferredResults {
  readonly #sql: Sql;
  readonly #arrivals: Signal;

  constructor(sql: Sql, arrivals: Signal) {
    this.#sql = sql;
    this.#arrivals = arrivals;
  }

  add({ compaction, token, outcome, part, next }: CompactionResult): void {
    const query =
      "INSERT INTO pending_outcomes (compaction, token, outcome, place) VALUES (?, ?, ?, ?) ON CONFLICT (compaction) DO UPDATE SET token = excluded.token, outcome = excluded.outcome, place = excluded.place";
    const place: Place = { part, next };
    this.#sql.all(query, compaction, token, JSON.stringify(outcome), JSON.stringify(place));
    this.#arrivals.give();
  }

  has(compaction: CompactionId): boolean {
    return this.#sql.all("SELECT 1 AS one FROM pending_outcomes WHERE compaction = ?", compaction).length > 0;
  }

  take(isWanted: (held: CompactionResult) => boolean): CompactionResult[] {
    const wanted = this.#sql.all<Row>("SELECT compaction, token, outcome, place FROM pending_outcomes").map(readRow).filter(isWanted);
    for (const { compaction } of wanted) this.#sql.all("DELETE FROM pending_outcomes WHERE compaction = ?", compaction);
    return wanted;
  }

  arrival(ms: number): Promise<void> {
    return this.#arrivals.next(ms);
  }
}

function readRow({ compaction, token, outcome, place }: Row): CompactionResult {
  const { part, next } = JSON.parse(place) as Place;
  return { compaction, token, outcome: JSON.parse(outcome) as CompactionResult["outcome"], part, next };
}
