/** Branches in an evaluation: messages of another branch are in no later request. */
import { expect, test } from "vitest";
import type { Overlay } from "../../src/domain/compaction-events";
import type { StoredEvent } from "../../src/domain/events";
import { applyRewind } from "../../src/domain/evolve-branch";
import { onOwnLine } from "../../src/evaluate/log-branches";
import { LogRecord } from "../../src/evaluate/log-record";
import { id, item, viewing } from "../support/builders";

test("a view goes back to its own: an overlay of that line alone stays, one that reaches beyond it gives its messages back", () => {
  const items = Array.from({ length: 10 }, (_, index) => item(index + 1, index % 2 === 0 ? "user" : "assistant"));
  const record = new LogRecord();
  for (const meta of items) record.learn(meta, []);
  const state = viewing(items.slice(6));
  const of = (from: number, to: number): Overlay => {
    const covered = { from, to, items: to - from + 1, tokens: 9, boundary_timestamp: 1, generation: 0 };
    return { kind: "summary", id: id("ovl", from), ...covered };
  };
  const compacted = { ...state, next_position: 11, view: { ...state.view, overlays: [of(1, 2), of(3, 6)] } };
  const event: StoredEvent & { type: "HistoryRewound" } = {
    type: "HistoryRewound",
    seq: 1,
    at: 1,
    to: 4,
    items: [],
    line: {
      branch: 2,
      elsewhere: [{ from: 5, to: 10 }],
      taken_back: [],
      messages: 4,
      last_turn: null,
      overlays: [],
      reduced: [],
      keeps: [],
      continues: false,
    },
  };

  const own = onOwnLine(event, compacted, record);
  const after = own.type === "HistoryRewound" ? applyRewind(compacted, { ...own, type: "HistoryRewound" }) : compacted;

  expect(after.view.overlays.map(({ from, to }) => [from, to])).toEqual([[1, 2]]);
  expect(after.view.items.map(({ position }) => position)).toEqual([3, 4]);
});
