/** What a summariser brought while a turn ran: kept durably until it may take effect. */
import type { HeldOutcome } from "../../app/held-outcomes";
import type { CompactionId } from "../../domain/ids";
import type { Sql } from "./sql";

export function holdOutcome(sql: Sql, held: HeldOutcome): void {
  const query =
    "INSERT INTO pending_outcomes (compaction, token, outcome) VALUES (?, ?, ?) ON CONFLICT (compaction) DO UPDATE SET token = excluded.token, outcome = excluded.outcome";
  sql.all(query, held.compaction, held.token, JSON.stringify(held.outcome));
}

export const isHeld = (sql: Sql, compaction: CompactionId): boolean =>
  sql.all("SELECT 1 AS one FROM pending_outcomes WHERE compaction = ?", compaction).length > 0;

/** Those of them that are wanted, which are then held no more. */
export function takeOutcomes(sql: Sql, isWanted: (held: HeldOutcome) => boolean): HeldOutcome[] {
  const rows = sql.all<{ compaction: CompactionId; token: number; outcome: string }>(
    "SELECT compaction, token, outcome FROM pending_outcomes",
  );
  const wanted = rows.map((row): HeldOutcome => ({ ...row, outcome: JSON.parse(row.outcome) as HeldOutcome["outcome"] })).filter(isWanted);
  for (const { compaction } of wanted) sql.all("DELETE FROM pending_outcomes WHERE compaction = ?", compaction);
  return wanted;
}
