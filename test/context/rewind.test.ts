/** The view after a rewind depends on the position alone. */
import { describe, expect, test } from "vitest";
import { type GoingBack, type ViewThen, viewAt } from "../../src/context/rewind";
import type { Overlay } from "../../src/domain/compaction-events";
import type { OverlayId } from "../../src/domain/ids";
import type { ItemMeta } from "../../src/domain/message";
import { initialState } from "../../src/domain/state";
import { id } from "../support/builders";

const summary = (n: number, from: number, to: number): Overlay => ({
  id: id("ovl", n) as OverlayId,
  kind: "summary",
  from,
  to,
  items: to - from + 1,
  tokens: 10,
  boundary_timestamp: 0,
  generation: 0,
});

const item = (position: number): ItemMeta => ({
  id: id("msg", position),
  kind: position % 2 === 1 ? "user" : "assistant",
  position,
  turn: null,
  at: 0,
  bytes: 1,
  tokens: 1,
});

/** 20 positions, of which the newest summary stands for 1 to 12. */
function goingBack(to: number, changes: Partial<GoingBack> = {}): GoingBack {
  const items = [13, 14, 15, 16, 17, 18, 19, 20].map(item);
  const view = { ...initialState.view, overlays: [summary(2, 1, 12)], items };
  return { state: { view }, to, elsewhere: [], earlier: [], mustShow: null, ...changes };
}

const then = (changes: Partial<ViewThen>): ViewThen => ({
  overlays: [summary(1, 1, 4)],
  shown: [{ from: 5, to: 10 }],
  reduced: [],
  to: 10,
  sharedTo: 100,
  ...changes,
});

describe("the view at a position", () => {
  test("is the present one while nothing in it stands for what is left", () => {
    expect(viewAt(goingBack(16))).toMatchObject({ overlays: [{ to: 12 }], shown: [{ from: 13, to: 16 }], continues: true });
  });

  test("is an earlier one up to there, where the present summary stands for more", () => {
    const found = viewAt(goingBack(8, { earlier: [then({})] }));

    expect(found).toMatchObject({ overlays: [{ to: 4 }], shown: [{ from: 5, to: 8 }], continues: false });
  });

  test("shows what came between the earlier view and the step back, of this branch alone", () => {
    const found = viewAt(goingBack(11, { earlier: [then({ shown: [{ from: 5, to: 7 }], to: 7 })], elsewhere: [{ from: 9, to: 10 }] }));

    expect(found.shown).toEqual([
      { from: 5, to: 7 },
      { from: 8, to: 8 },
      { from: 11, to: 11 },
    ]);
  });

  test("takes of a view of another branch what both share, and none whose summary stands for more than that", () => {
    const other = then({ sharedTo: 6, shown: [{ from: 5, to: 10 }], to: 10 });
    const beyond = then({ sharedTo: 3 });

    const found = viewAt(goingBack(11, { earlier: [beyond, other], elsewhere: [{ from: 7, to: 10 }] }));

    expect(found.overlays).toMatchObject([{ to: 4 }]);
    expect(found.shown).toEqual([
      { from: 5, to: 6 },
      { from: 11, to: 11 },
    ]);
  });

  test("shows what is answered next, as it is", () => {
    const covers = then({ overlays: [summary(3, 1, 7)], shown: [{ from: 8, to: 10 }] });
    const less = then({ overlays: [], shown: [{ from: 1, to: 10 }], reduced: [{ position: 7, tokens: 1, how: "cleared" }] });
    const whole = then({ overlays: [], shown: [{ from: 1, to: 10 }] });

    const found = viewAt(goingBack(7, { earlier: [covers, less, whole], mustShow: 7 }));

    expect(found).toMatchObject({ overlays: [], reduced: [], shown: [{ from: 1, to: 7 }] });
  });

  test("is everything where nothing is known of the past", () => {
    expect(viewAt(goingBack(5))).toMatchObject({ overlays: [], shown: [{ from: 1, to: 5 }] });
  });
});
