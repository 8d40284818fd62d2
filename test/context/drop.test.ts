import { describe, expect, test } from "vitest";
import { viewGroups } from "../../src/context/cut";
import { dropRungs } from "../../src/context/drop";
import type { Overlay } from "../../src/domain/compaction-events";
import { id, item, sized, viewing } from "../support/builders";

const trimmed = (n: number, from: number, to: number): Overlay => ({
  id: id("ovl", n),
  kind: "dropped",
  from,
  to,
  items: to - from + 1,
  tokens: 0,
});

function dropping(overlays: readonly Overlay[], kept: readonly number[], going: readonly number[]) {
  const items = kept.map((position) => item(position, "user"));
  const state = viewing(items);
  const groups = viewGroups(state).filter((group) => going.includes(group.from));
  return dropRungs(sized({ ...state, view: { ...state.view, overlays } }), groups, "a test");
}

describe("dropping", () => {
  test("a trimmed range between two groups that go is taken into one drop, once", () => {
    const rungs = dropping([trimmed(1, 1, 15), trimmed(2, 17, 23)], [16, 24, 25], [16, 24]);
    expect(rungs).toMatchObject([{ rung: "drop", from: 1, to: 24, items: 24, replaces: [id("ovl", 1), id("ovl", 2)] }]);
  });

  test("a trimmed range that no group touches stays as it is", () => {
    const rungs = dropping([trimmed(1, 1, 3), trimmed(2, 5, 6)], [4, 7, 8, 9], [8]);
    expect(rungs).toMatchObject([{ rung: "drop", from: 8, to: 8, items: 1, replaces: [] }]);
  });

  test("groups with something kept between them are drops of their own", () => {
    const rungs = dropping([], [1, 2, 3, 4], [1, 2, 4]);
    expect(rungs).toMatchObject([
      { from: 1, to: 2, items: 2 },
      { from: 4, to: 4, items: 1 },
    ]);
  });
});
