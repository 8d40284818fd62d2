/** The note that replaces a failed summary: the range it stands for, and the items it leaves in place. */
import { describe, expect, test } from "vitest";
import { fallbackNote, planNote } from "../../src/context/fallback-note";
import { NO_FILES } from "../../src/context/file-ops";
import type { Overlay } from "../../src/domain/compaction-events";
import { call, id, item, result, summaryPlan } from "../support/builders";
import { behind, buildSummary, chat, rounds } from "./planning";

const dropped = (n: number, from: number, to: number, items = to - from + 1): Overlay => ({
  id: id("ovl", n),
  kind: "dropped",
  from,
  to,
  items,
  tokens: 0,
});

describe("a note", () => {
  test("leaves the summaries that stand in the view, and begins after the newest of them, though the plan was to fold them", () => {
    const state = behind([buildSummary(1, 1, 6), buildSummary(2, 7, 10)], chat(8, 100, 11));
    const asked = summaryPlan(1, 16, {
      source: { from: 11, to: 16 },
      replaces: [id("ovl", 1), id("ovl", 2)],
      merge: true,
      generation: 3,
      split: 15,
    });

    const note = planNote(asked, state);

    expect(note?.plan).toEqual(summaryPlan(11, 16, { source: { from: 11, to: 16 } }));
    expect(note?.leaves.map(({ position }) => position)).toEqual([11, 12, 13, 14, 15, 16]);
  });

  test("takes in what was trimmed after them, and counts it", () => {
    const state = behind([dropped(3, 11, 14, 3), buildSummary(1, 1, 10)], chat(6, 100, 15));
    const asked = summaryPlan(1, 18, { replaces: [id("ovl", 1), id("ovl", 3)], merge: true });

    const note = planNote(asked, state);

    expect(note).toMatchObject({ plan: { range: { from: 11, to: 18 }, replaces: [id("ovl", 3)] }, trimmed: 3 });
    expect(note && fallbackNote(note, NO_FILES, 1_000)).toBe("[Compacted 7 messages: 2 user, 2 assistant, 3 trimmed before]");
  });

  test("leaves what was trimmed before them where it is", () => {
    const state = behind([dropped(3, 1, 4), buildSummary(1, 5, 10)], chat(6, 100, 11));
    expect(planNote(summaryPlan(1, 14, { replaces: [id("ovl", 3)] }), state)).toMatchObject({ plan: { replaces: [] }, trimmed: 0 });
  });

  test("keeps what the plan keeps, and what a summary left standing in its range, whole groups of it", () => {
    const items = [item(2, "user"), call(8, 8), result(9, 8), ...chat(4, 100, 11), item(15, "system"), ...chat(2, 100, 16)];
    const state = behind([buildSummary(1, 1, 8)], items);

    const note = planNote(summaryPlan(1, 15, { keeps: [15] }), state);

    expect(note?.plan.keeps).toEqual([15, 2, 8, 9]);
    expect(note?.leaves.map(({ position }) => position)).toEqual([11, 12, 13, 14]);
  });

  test("is none if only earlier overlays would leave", () => {
    const state = behind([buildSummary(1, 1, 8)], [item(2, "user"), ...chat(2, 100, 9)]);
    expect(planNote(summaryPlan(1, 10, { keeps: [9, 10] }), state)).toBeNull();
  });

  test("without a summary before it begins where the plan begins", () => {
    const state = behind([], [...chat(4, 100), ...rounds(1, 100, 5)]);
    expect(planNote(summaryPlan(1, 4), state)?.plan).toEqual(summaryPlan(1, 4));
  });
});
