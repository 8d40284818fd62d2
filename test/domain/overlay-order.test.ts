/** Overlays are ordered by their ends, regardless of their beginnings: a summary's place in the chain is the end of its source. */
import { expect, test } from "vitest";
import type { EpochOp, Overlay } from "../../src/domain/compaction-events";
import { evolve } from "../../src/domain/evolve";
import type { SessionState } from "../../src/domain/state";
import { overlayAt, toWeighedView } from "../../src/domain/view";
import { id, item, RECEIPT, viewing } from "../support/builders";

const summary = (n: number, from: number, to: number): Overlay => ({
  ...{ id: id("ovl", n), kind: "summary", from, to },
  ...{ items: 1, tokens: 1, boundary_timestamp: 1, generation: 0 },
});
const dropped = (n: number, from: number, to: number): Overlay => ({ id: id("ovl", n), kind: "dropped", from, to, items: 1, tokens: 0 });

function showing(overlays: readonly Overlay[], positions: readonly number[]): SessionState {
  const state = viewing(positions.map((position) => item(position, "user")));
  return { ...state, view: toWeighedView({ ...state.view, overlays }) };
}

function changed(state: SessionState, op: EpochOp): SessionState {
  const change = { base_epoch: state.view.epoch, epoch: state.view.epoch + 1, ops: [op], receipt: RECEIPT };
  return evolve(state, { type: "EpochChanged", trigger: "manual", compaction: id("cmp", 1), ...change, seq: state.seq + 1, at: 1 });
}

const summarize = (n: number, from: number, to: number): EpochOp => ({
  ...{ op: "summarize", overlay: id("ovl", n), from, to, replaces: [], keeps: [], items: 1 },
  ...{ tokens: 1, bytes: 1, boundary_timestamp: 1, generation: 0, mode: "transcript", read: { ranges: [], overlays: [] } },
});

const spans = ({ view }: SessionState): readonly (readonly [string, number, number])[] =>
  view.overlays.map(({ kind, from, to }) => [kind, from, to]);

test("a summary that goes back for a message that an earlier one left standing is still the newest", () => {
  // A note replaced a failed summary, and left the question at 9 in the view.
  const state = showing([summary(1, 1, 10), summary(2, 11, 15)], [9, 16, 17, 18]);
  const { view } = changed(state, summarize(3, 9, 17));
  expect(view.overlays.map(({ id: overlay }) => overlay)).toEqual([id("ovl", 1), id("ovl", 2), id("ovl", 3)]);
});

test("what a summary left standing and was trimmed later comes before it, as what lies within another does", () => {
  const state = showing([summary(1, 1, 10)], [4, 10, 11, 12]);
  const drop = (n: number, at: number): EpochOp => ({ op: "drop", overlay: id("ovl", n), from: at, to: at, replaces: [], items: 1 });
  const trimmed = [drop(2, 4), drop(3, 10), drop(4, 11)].reduce(changed, state);
  expect(spans(trimmed)).toEqual([
    ["dropped", 4, 4],
    ["dropped", 10, 10],
    ["summary", 1, 10],
    ["dropped", 11, 11],
  ]);
});

test("a view that comes back from an older log is put in order", () => {
  const overlays = [summary(1, 1, 10), summary(3, 9, 17), summary(2, 11, 15)];
  const back: EpochOp = { op: "revert", compaction: id("cmp", 9), to: 18, overlays, items: [], reduced: [] };
  expect(spans(changed(showing([], [18]), back)).map(([, , to]) => to)).toEqual([10, 15, 17]);
});

test("a position has left the view by the innermost overlay around it", () => {
  const { view } = showing([summary(1, 1, 10), dropped(2, 4, 4), dropped(3, 10, 10)], [11]);
  expect([3, 4, 10].map((position) => overlayAt(view, position)?.kind)).toEqual(["summary", "dropped", "dropped"]);
  expect(overlayAt(view, 11)).toBeNull();
});
