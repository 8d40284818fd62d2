import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commonTo, isAmong, rangesWithin, toRanges, withRange } from "../../src/domain/branch";
import { decide } from "../../src/domain/decide";
import { fold } from "../../src/domain/evolve";
import { given, id, item, stored } from "../support/builders";

const positions = fc.uniqueArray(fc.integer({ min: 1, max: 40 })).map((all) => [...all].sort((one, other) => one - other));
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

describe("ranges of positions", () => {
  test("are the positions again", () => {
    fc.assert(
      fc.property(positions, (all) => {
        const ranges = toRanges(all);
        expect(ranges.flatMap(({ from, to }) => upTo(to - from + 1).map((n) => from + n - 1))).toEqual(all);
        expect(upTo(40).filter((position) => isAmong(ranges, position))).toEqual(all);
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

describe("copying into a fork", () => {
  const fork = { type: "SessionForked", from: id("ses", 9), position: 2, view: { overlays: [], reduced: [], reads: [] } } as const;
  const copy = { type: "CopyMessages", at: 1, items: [item(1, "user"), item(2, "assistant")], aside: false } as const;

  test("a page that comes twice is the same page", () => {
    const begun = given(fork);
    const once = decide(copy, begun);
    if (!once.ok) throw new Error(once.error.code);

    const then = fold(stored(once.value, begun.seq), begun);

    expect(then.next_position).toBe(3);
    expect(decide(copy, then)).toEqual({ ok: true, value: [] });
  });

  test("nothing is said in it before it is whole, and nothing is copied into it afterwards", () => {
    const begun = given(fork);
    const whole = given(fork, { type: "ForkCompleted" });
    const pins = { type: "SetPins", at: 1, pins: [] } as const;

    expect(decide(pins, begun)).toMatchObject({ ok: false, error: { code: "fork_unfinished" } });
    expect(decide(pins, whole)).toMatchObject({ ok: true });
    expect(decide(copy, whole)).toMatchObject({ ok: false, error: { code: "session_exists" } });
  });
});
