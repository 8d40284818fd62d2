/**
 * Rates are counted in windows of a minute, which begin with the minutes of the clock. The tenant's object grants blocks of a window's units
 * to their holders (isolates and sessions), and subtracts each block when it grants it: all holders together never use more than the limit in
 * a window. What a holder does not use of its blocks ends with the window. All holders together have at most `UNUSED_SHARE` of the limit in
 * units that are not reported as used, so at most that share is lost, however many holders there are.
 */

export const RATE_WINDOW_MS = 60_000;

/** A holder's request for a block. */
export interface RateAsk {
  /** What is counted, and for whom: `requests tenant`. */
  readonly subject: string;
  /** The most units of a window. */
  readonly limit: number;
  /** Units that the holder uses at once. 0: it asks before it has used up its last block. */
  readonly need: number;
  /** How many units the holder would have. At least `need`. */
  readonly want: number;
  /** Units that the holder has used since its last ask, `need` of that ask aside, in the window that ends at `ends_at`. */
  readonly used: number;
  /** In epoch milliseconds. */
  readonly ends_at: number;
}

export interface RateGrant {
  readonly subject: string;
  /** The units of the block. */
  readonly granted: number;
  /** The units that the window still has, for all holders. With 0 no more is granted. */
  readonly left: number;
  /** When the window ends, in epoch milliseconds. */
  readonly ends_at: number;
}

/** Names what is counted for an owner of a limit. `id`: of the key or the end user; empty for the tenant itself. */
export const requestSubject = (of: string, id: string): string => `requests ${of} ${id}`;
export const callSubject = (of: string, id: string): string => `model_calls ${of} ${id}`;

export const windowEnd = (now: number): number => (Math.floor(now / RATE_WINDOW_MS) + 1) * RATE_WINDOW_MS;

/** The share of a limit that holders may have unused. */
const UNUSED_SHARE = 0.1;

/** The most that a holder gets beyond its need: half of what holders may have unused, so that others get some, too. `unused`: what they have. */
export const countBeside = (limit: number, unused: number): number =>
  Math.max(0, Math.ceil((Math.floor(limit * UNUSED_SHARE) - unused) / 2));

/** Plans a block. `before`: in this window. */
export function planBlock(
  { limit, need, want }: Pick<RateAsk, "limit" | "need" | "want">,
  before: { readonly granted: number; readonly used: number },
): Pick<RateGrant, "granted" | "left"> {
  const left = Math.max(0, limit - before.granted);
  const beside = Math.min(Math.max(0, want - need), countBeside(limit, before.granted - before.used));
  const block = Math.min(left, need + beside);
  return { granted: block, left: left - block };
}
