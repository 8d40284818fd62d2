/** How long to wait after failures in a row. Times in milliseconds. */

interface BackOff {
  readonly first: number;
  readonly longest: number;
}

/** Twice as long after each failure: `first` after none before, `longest` at most. */
export const backOff = (failures: number, { first, longest }: BackOff): number => Math.min(longest, first * 2 ** failures);
