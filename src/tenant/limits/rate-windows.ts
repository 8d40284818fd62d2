/** Counts in the tenant's object what was granted of each rate in the present window. It is on disk, because the object may restart in a window. */
import { planBlock, type RateAsk, type RateGrant, windowEnd } from "../../app/rate-grants";
import type { SyncSql } from "../../lib/sync-sql";

export interface RateWindows {
  /** Grants a block for each ask, or none at all where one has nothing left. Call it inside a transaction. */
  grant(asks: readonly RateAsk[], now: number): readonly RateGrant[];
  /** What was granted of a rate in the present window. */
  readGranted(subject: string, now: number): number;
}

export function createRateWindows(sql: SyncSql): RateWindows {
  const read = (subject: string, now: number): Window =>
    sql.rows<{ granted: number; used: number }>(
      "SELECT granted, used FROM rate_windows WHERE subject = ? AND ends_at = ?",
      subject,
      windowEnd(now),
    )[0] ?? NOTHING;

  function grantOne(ask: RateAsk, before: Window, now: number): RateGrant {
    const { subject } = ask;
    const ends_at = windowEnd(now);
    // A report that comes twice cannot make more used than was granted.
    const used = Math.min(before.granted, before.used + (ask.ends_at === ends_at ? ask.used : 0));
    const { granted, left } = planBlock(ask, { granted: before.granted, used });
    // The first grant of a window ends the counts of earlier ones, so that the table has as many rows as a minute has subjects.
    if (before.granted === 0) sql.rows("DELETE FROM rate_windows WHERE ends_at < ?", ends_at);
    if (granted > 0)
      sql.rows(
        "INSERT INTO rate_windows (subject, ends_at, granted, used) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (subject, ends_at) DO UPDATE SET granted = ?3, used = ?4",
        subject,
        ends_at,
        before.granted + granted,
        used + Math.min(ask.need, granted),
      );
    return { subject, granted, left, ends_at };
  }

  function grant(asks: readonly RateAsk[], now: number): readonly RateGrant[] {
    const windows = asks.map((ask) => ({ ...read(ask.subject, now), limit: ask.limit }));
    // A request needs a unit of each of its limits: what would be granted of the others would not be used.
    const isRefused = windows.some(({ limit, granted }) => granted >= limit);
    if (!isRefused) return asks.map((ask, index) => grantOne(ask, windows[index] ?? NOTHING, now));
    return asks.map(({ subject, limit }, index) => {
      const left = Math.max(0, limit - (windows[index] ?? NOTHING).granted);
      return { subject, granted: 0, left, ends_at: windowEnd(now) };
    });
  }
  return { readGranted: (subject, now) => read(subject, now).granted, grant };
}

interface Window {
  readonly granted: number;
  readonly used: number;
}

const NOTHING: Window = { granted: 0, used: 0 };
