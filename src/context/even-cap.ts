/** Fair sharing: an entry that needs less than an even share gets what it needs, and the others share the rest. */

/** The maximum size per entry, so that `sizes` cut to it sum up to `most`. Infinity when all of them fit. */
export function toEvenCap(sizes: readonly number[], most: number): number {
  const inOrder = [...sizes].sort((a, b) => a - b);
  let left = most;
  for (const [index, size] of inOrder.entries()) {
    const share = left / (inOrder.length - index);
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}
