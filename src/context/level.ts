/** Sharing out what there is: whoever needs less than an even share has what it needs, and the others share the rest. */

/** The most that each may have, so that `sizes` cut to it come to `most` together; infinite: all of them fit. */
export function levelOf(sizes: readonly number[], most: number): number {
  const inOrder = [...sizes].sort((a, b) => a - b);
  let left = most;
  for (const [index, size] of inOrder.entries()) {
    const share = left / (inOrder.length - index);
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}
