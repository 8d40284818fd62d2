/** Counts in the tenant's object what was granted of each rate in the present window. It is on disk, because the object may restart in a window. */
import { planBlock, type RateAsk, type RateGrant, windowEnd } from "../../app/rate-grants";
import type { SyncSql } from "../../lib/sync-sql";

export interface RateWindows {
  /** Grants a block for each ask. Call it inside a transaction. */
  grant(asks: readonly RateAsk[], now: number): readonly RateGrant[];
  /** What was granted of a rate in the present window. */
  readGranted(subject: string, now: number): number;
}

export function createRateWindows(sql: SyncSql): RateWindows {
  const readGranted = (subject: string, now: number): number =>
    sql.rows<{ granted: number }>("SELECT granted FROM rate_windows WHERE subject = ? AND ends_at = ?", subject, windowEnd(now))[0]
      ?.granted ?? 0;

  function grantOne({ subject, limit, want }: RateAsk, now: number): RateGrant {
    const ends_at = windowEnd(now);
    const before = readGranted(subject, now);
    const { granted, left } = planBlock({ limit, want }, before);
    // The first grant of a window ends the counts of earlier ones, so that the table has as many rows as a minute has subjects.
    if (before === 0) sql.rows("DELETE FROM rate_windows WHERE ends_at < ?", ends_at);
    if (granted > 0)
      sql.rows(
        "INSERT INTO rate_windows (subject, ends_at, granted) VALUES (?1, ?2, ?3) ON CONFLICT (subject, ends_at) DO UPDATE SET granted = granted + ?3",
        subject,
        ends_at,
        granted,
      );
    return { subject, granted, left, ends_at };
  }
  return { readGranted, grant: (asks, now) => asks.map((ask) => grantOne(ask, now)) };
}
