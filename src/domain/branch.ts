/**
 * Branches of a conversation. A position is given once and never reused, so a branch is defined by the positions that
 * it leaves out: those of other branches. A session that was never rewound leaves out nothing.
 */
import type { CoveredRange } from "./compaction-events";

/** The current branch. */
export interface BranchState {
  /** The number of the branch. A session's first branch is 1. */
  readonly number: number;
  /** Positions of other branches, in order and not adjacent. */
  readonly elsewhere: readonly CoveredRange[];
  /**
   * Positions of cut-off replies that a retry took back on this branch, in order and not adjacent. Branches that share
   * them still show them.
   */
  readonly taken_back: readonly CoveredRange[];
  /** Number of branches in the session. */
  readonly count: number;
}

export const FIRST_BRANCH: BranchState = { number: 1, elsewhere: [], taken_back: [], count: 1 };

/** Maximum number of branches in one session. Each may add a range that every read has to skip. */
export const MAX_BRANCHES = 500;

/** Adds a range. The result is in order, and adjacent ranges are merged. */
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

/** The positions that no model reads on the branch, in order: those of other branches, and replies that a retry took back. */
export const listUnread = ({ elsewhere, taken_back }: Pick<BranchState, "elsewhere" | "taken_back">): readonly CoveredRange[] =>
  taken_back.reduce(withRange, elsewhere);

/** Whether one of the ranges includes the position. With a branch's `elsewhere`: whether the position belongs to another branch. */
export const isAmong = (ranges: readonly CoveredRange[], position: number): boolean =>
  ranges.some(({ from, to }) => position >= from && position <= to);

/** The positions as ranges. `positions` must be in order. */
export function toRanges(positions: Iterable<number>): readonly CoveredRange[] {
  const ranges: { from: number; to: number }[] = [];
  for (const position of positions) {
    const last = ranges.at(-1);
    if (last && last.to === position - 1) last.to = position;
    else ranges.push({ from: position, to: position });
  }
  return ranges;
}

/** The last position that two branches have in common, given what each leaves out. `last`: the last position of the conversation. */
export function commonTo(one: readonly CoveredRange[], other: readonly CoveredRange[], last: number): number {
  const firstApart = [...one, ...other]
    .flatMap(({ from, to }) => [from, to + 1])
    .filter((position) => position <= last && isAmong(one, position) !== isAmong(other, position));
  return firstApart.length > 0 ? Math.min(...firstApart) - 1 : last;
}
