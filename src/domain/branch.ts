/**
 * Lines of a conversation. Positions are given once and never again, so a branch is told by what it leaves out: the positions of
 * other lines. A session that was never rewound leaves out nothing, and pays nothing.
 */
import type { CoveredRange } from "./compaction-events";

/** The line that goes on. */
export interface BranchState {
  /** From 1; the session's first is 1. */
  readonly number: number;
  /** Positions of other lines, in order, apart from one another. */
  readonly elsewhere: readonly CoveredRange[];
  /** Positions of cut-off replies that a retry took back on this line: on others that share them they are said still. In order, apart. */
  readonly taken_back: readonly CoveredRange[];
  /** How many there are. */
  readonly count: number;
}

export const FIRST_BRANCH: BranchState = { number: 1, elsewhere: [], taken_back: [], count: 1 };

/** So many lines of one session at most: each may add a range to what a read has to pass over. */
export const MAX_BRANCHES = 500;

/** `ranges` and one more, in order and apart. */
export function withRange(ranges: readonly CoveredRange[], more: CoveredRange): readonly CoveredRange[] {
  if (more.from > more.to) return ranges;
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of [...ranges, more].sort((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/** The parts of `range` that none of `elsewhere` covers, in order. */
export function rangesWithin(elsewhere: readonly CoveredRange[], range: CoveredRange): readonly CoveredRange[] {
  const found: CoveredRange[] = [];
  let from = range.from;
  for (const gap of elsewhere) {
    if (gap.to < from) continue;
    if (gap.from > range.to) break;
    if (gap.from > from) found.push({ from, to: gap.from - 1 });
    from = gap.to + 1;
  }
  return from <= range.to ? [...found, { from, to: range.to }] : found;
}

/** Whether a position is in one of the ranges: of a branch's left-out ones, whether it is of another line. */
export const isAmong = (ranges: readonly CoveredRange[], position: number): boolean =>
  ranges.some(({ from, to }) => position >= from && position <= to);

/** Positions that follow one another, as ranges. */
export function toRanges(positions: Iterable<number>): readonly CoveredRange[] {
  const ranges: { from: number; to: number }[] = [];
  for (const position of positions) {
    const last = ranges.at(-1);
    if (last && last.to === position - 1) last.to = position;
    else ranges.push({ from: position, to: position });
  }
  return ranges;
}

/** The last position that two lines have in common; both left-out lists belong to a conversation of `last` positions. */
export function commonTo(one: readonly CoveredRange[], other: readonly CoveredRange[], last: number): number {
  const firstApart = [...one, ...other]
    .flatMap(({ from, to }) => [from, to + 1])
    .filter((position) => position <= last && isAmong(one, position) !== isAmong(other, position));
  return firstApart.length > 0 ? Math.min(...firstApart) - 1 : last;
}
