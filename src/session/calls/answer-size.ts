/** Bounds what one answer of the object may hold: it crosses RPC as one value, and an isolate has 128 MB in all. */
import type { ItemMeta } from "../../domain/message";

/**
 * The limit for content, in bytes of UTF-8 or UTF-16 units. RPC takes 32 MiB (docs/platform-facts.md), and a text may
 * cross with two bytes for each byte of UTF-8. The limit leaves ample room for everything else in an answer.
 */
export const MAX_ANSWER_BYTES = 4_000_000;

/** Bytes of a message's content: of all its items together. */
export const weighMessage = (items: readonly ItemMeta[]): number => items.reduce((sum, { bytes }) => sum + bytes, 0);

/** Takes rows from the first on while their total weight is at most `limit`. It always takes the first, so that no page is empty. */
export function takeWithin<T>(rows: readonly T[], { weigh, limit }: { weigh(row: T): number; readonly limit: number }): readonly T[] {
  let weight = 0;
  for (const [index, row] of rows.entries()) {
    weight += weigh(row);
    if (index > 0 && weight > limit) return rows.slice(0, index);
  }
  return rows;
}
