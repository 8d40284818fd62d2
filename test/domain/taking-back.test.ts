/** Reverting a change of the view, and taking over a lease. */
import { describe, expect, test } from "vitest";
import type { Command, EpochChange } from "../../src/domain/commands";
import type { EpochOp, InlineWork } from "../../src/domain/compaction-events";
import type { SessionState } from "../../src/domain/state";
import { id, item, play, RECEIPT, summaryPlan, turnId, viewing } from "../support/builders";

const items = Array.from({ length: 6 }, (_, index) => item(index + 1, index % 2 === 0 ? "user" : "assistant"));
const epoch = (base_epoch: number, op: EpochOp): EpochChange => ({ base_epoch, ops: [op], receipt: RECEIPT });
const drop = (n: number, position: number): EpochOp => ({
  op: "drop",
  overlay: id("ovl", n),
  from: position,
  to: position,
  replaces: [],
  items: 1,
});
const change = (n: number, position: number): Command => ({
  type: "ChangeEpoch",
  at: n,
  compaction: id("cmp", n),
  trigger: "guard",
  change: epoch(n - 1, drop(n, position)),
});
const revert = (reverts: number, base_epoch: number): Command => ({
  type: "RevertCompaction",
  at: 50,
  compaction: id("cmp", 9),
  reverts: id("cmp", reverts),
  change: epoch(base_epoch, { op: "revert", compaction: id("cmp", reverts), to: 6, overlays: [], items, reduced: [] }),
});
const reset: Command = {
  type: "ResetSummary",
  at: 50,
  compaction: id("cmp", 9),
  change: epoch(2, { op: "reset", to: 6, overlays: [], items, reduced: [] }),
};
const twice = (): SessionState => play([change(1, 1), change(2, 3)], viewing(items)).state;
const inTurn = (state: SessionState): SessionState => ({
  ...state,
  turn: {
    id: turnId(1),
    incarnation: "a",
    attempt: 1,
    stalled_lives: 1,
    started_at: 0,
    phase: "generating",
    open_calls: [],
    tools: null,
    calls: 0,
    rounds: 0,
  },
});

describe("a compaction is reverted", () => {
  test("the newest one first", () => {
    expect(play([revert(1, 2)], twice()).rejected).toBe("not_newest");
    expect(play([revert(2, 2)], twice()).state.compaction.committed.map((each) => each.id)).toEqual([id("cmp", 1)]);
  });

  test("once", () => {
    expect(play([revert(2, 2), revert(2, 3)], twice()).rejected).toBe("not_newest");
  });

  test("not when the view has moved since it was asked for, and not inside a turn", () => {
    expect(play([revert(2, 1)], twice()).rejected).toBe("stale");
    expect(play([revert(2, 2)], inTurn(twice())).rejected).toBe("turn_running");
    expect(play([reset], inTurn(twice())).rejected).toBe("turn_running");
  });

  test("and a reset leaves nothing to take back", () => {
    expect(play([reset], twice()).state).toMatchObject({ compaction: { committed: [] }, view: { overlays: [], items } });
  });
});

test("a lease that is taken over has a higher token, and what the lower one brings decides to nothing", () => {
  const request: Command = { type: "RequestCompaction", at: 10, compaction: id("cmp", 1), trigger: "threshold", options: null };
  const lease = (at: number, inline: InlineWork | null): Command => ({
    type: "LeaseCompaction",
    at,
    compaction: id("cmp", 1),
    plan: { base_epoch: 0, ...summaryPlan(1, 2) },
    expiresAt: at + 100,
    attemptLimit: 5,
    inline,
  });
  const failure: Command = {
    type: "FailCompaction",
    inside: null,
    at: 40,
    compaction: id("cmp", 1),
    token: 1,
    failure: "empty",
    attemptLimit: 5,
    call: null,
    fallback: null,
  };
  const held = play([request, lease(20, null)], viewing(items));

  expect(play([lease(30, null)], held.state).rejected).toBe("lease_held");
  const taken = play([lease(30, { trigger: "inline", incarnation: "life-1" })], held.state);
  expect(taken.state.compaction.lease?.token).toBe(2);
  expect(play([failure], taken.state).rejected).toBe("stale");
});
