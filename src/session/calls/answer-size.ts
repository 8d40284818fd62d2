/** How much one answer of the object may hold: it crosses RPC as one value, and an isolate has 128 MB for all that it does. */

/**
 * Of content, in bytes of UTF-8 or units of UTF-16. RPC takes 32 MiB (docs/platform-facts.md), and a text may cross with
 * two bytes for each of UTF-8: far enough below that it is no question what else an answer holds.
 */
export const MAX_ANSWER_BYTES = 4_000_000;

/** The rows from the first on that weigh at most `limit` together; the first one always, so that no page is empty. */
export function takeWithin<T>(rows: readonly T[], { weigh, limit }: { weigh(row: T): number; readonly limit: number }): readonly T[] {
  let weight = 0;
  for (const [index, row] of rows.entries()) {
    weight += weigh(row);
    if (index > 0 && weight > limit) return rows.slice(0, index);
  }
  return rows;
}
