import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commonTo, isElsewhere, rangesWithin, toRanges, withRange } from "../../src/domain/branch";

const positions = fc.uniqueArray(fc.integer({ min: 1, max: 40 })).map((all) => [...all].sort((one, other) => one - other));
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

describe("ranges of positions", () => {
  test("are the positions again", () => {
    fc.assert(
      fc.property(positions, (all) => {
        const ranges = toRanges(all);
        expect(ranges.flatMap(({ from, to }) => upTo(to - from + 1).map((n) => from + n - 1))).toEqual(all);
        expect(upTo(40).filter((position) => isElsewhere(ranges, position))).toEqual(all);
      }),
    );
  });

  test("with one more hold what either held, in order and apart", () => {
    fc.assert(
      fc.property(positions, fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 12 }), (all, from, length) => {
        const more = upTo(length).map((n) => from + n - 1);
        const merged = withRange(toRanges(all), { from, to: from + length - 1 });
        expect(merged).toEqual(toRanges([...new Set([...all, ...more])].sort((one, other) => one - other)));
      }),
    );
  });

  test("within a range are what the left-out ones leave of it", () => {
    fc.assert(
      fc.property(positions, fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }), (all, from, to) => {
        const left = upTo(40).filter((position) => position >= from && position <= to && !all.includes(position));
        expect(rangesWithin(toRanges(all), { from, to })).toEqual(toRanges(left));
      }),
    );
  });
});

test("two lines part behind the last position that neither has alone", () => {
  fc.assert(
    fc.property(positions, positions, (one, other) => {
      const apart = upTo(40).find((position) => one.includes(position) !== other.includes(position));
      expect(commonTo(toRanges(one), toRanges(other), 40)).toBe((apart ?? 41) - 1);
    }),
  );
});
