/**
 * Rates are counted in windows of a minute, which begin with the minutes of the clock. The tenant's object grants blocks of a window's units
 * to their holders (isolates and sessions), and subtracts each block when it grants it: all holders together never use more than the limit in
 * a window. What a holder does not use of its blocks ends with the window.
 */

export const RATE_WINDOW_MS = 60_000;

/** A holder's request for a block. */
export interface RateAsk {
  /** What is counted, and for whom: `requests tenant`. */
  readonly subject: string;
  /** The most units of a window. */
  readonly limit: number;
  /** How many units the holder would use. */
  readonly want: number;
}

export interface RateGrant {
  readonly subject: string;
  /** The units of the block. 0: the window has none left. */
  readonly granted: number;
  /** The units that the window still has, for all holders. */
  readonly left: number;
  /** When the window ends, in epoch milliseconds. */
  readonly ends_at: number;
}

/** Names what is counted for an owner of a limit. `id`: of the key or the end user; empty for the tenant itself. */
export const requestSubject = (of: string, id: string): string => `requests ${of} ${id}`;
export const callSubject = (of: string, id: string): string => `model_calls ${of} ${id}`;

export const windowEnd = (now: number): number => (Math.floor(now / RATE_WINDOW_MS) + 1) * RATE_WINDOW_MS;

/** Plans a block. It is at most half of what is left, so that one holder cannot take what others need. `granted`: in this window, before. */
export function planBlock({ limit, want }: Pick<RateAsk, "limit" | "want">, granted: number): Pick<RateGrant, "granted" | "left"> {
  const left = Math.max(0, limit - granted);
  const block = Math.min(Math.max(1, want), Math.ceil(left / 2));
  return { granted: block, left: left - block };
}
