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

/** All of them, which are then held no more. */
export function takeOutcomes(sql: Sql): HeldOutcome[] {
  const rows = sql.all<{ compaction: CompactionId; token: number; outcome: string }>(
    "SELECT compaction, token, outcome FROM pending_outcomes",
  );
  if (rows.length > 0) dropOutcomes(sql);
  return rows.map(({ compaction, token, outcome }) => ({ compaction, token, outcome: JSON.parse(outcome) as HeldOutcome["outcome"] }));
}

export const dropOutcomes = (sql: Sql): void => void sql.all("DELETE FROM pending_outcomes");
