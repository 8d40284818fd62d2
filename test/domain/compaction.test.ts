import { describe, expect, test } from "vitest";
import type { Command, EpochChange } from "../../src/domain/commands";
import type { EpochOp } from "../../src/domain/compaction-events";
import type { SessionState } from "../../src/domain/state";
import { id, item, play, RECEIPT, summaryPlan, viewing } from "../support/builders";

const CMP = id("cmp", 1);
const range = { from: 1, to: 2 };

const summarize = (n: number, change: Partial<Extract<EpochOp, { op: "summarize" }>> = {}): EpochOp => ({
  op: "summarize",
  overlay: id("ovl", n),
  ...range,
  replaces: [],
  tokens: 5,
  bytes: 20,
  items: 2,
  boundary_timestamp: 3,
  keeps: [],
  generation: 0,
  mode: "transcript",
  read: { ranges: [], overlays: [] },
  ...change,
});
const epoch = (ops: readonly EpochOp[], base_epoch = 0): EpochChange => ({ base_epoch, ops, receipt: RECEIPT });

const request: Command = { type: "RequestCompaction", at: 10, compaction: CMP, trigger: "threshold", options: null };
const lease = (at: number, base_epoch = 0): Command => ({
  type: "LeaseCompaction",
  at,
  compaction: CMP,
  plan: { base_epoch, ...summaryPlan(1, 2) },
  expiresAt: at + 100,
  attemptLimit: 2,
  inline: null,
});
const record = (token: number, change: EpochChange = epoch([summarize(1)])): Command => ({
  type: "RecordCompaction",
  at: 50,
  compaction: CMP,
  token,
  change,
  call: null,
  inside: null,
});
const failure = (token: number | null, fallback: EpochChange | null = null): Command => ({
  type: "FailCompaction",
  inside: null,
  at: 60,
  compaction: CMP,
  token,
  failure: "empty",
  attemptLimit: 2,
  call: null,
  fallback,
});
const drop: EpochOp = { op: "drop", overlay: id("ovl", 9), ...range, replaces: [], items: 2 };

const four = (): SessionState => viewing([item(1, "user"), item(2, "assistant"), item(3, "user"), item(4, "assistant")]);
const leased = (): SessionState => play([request, lease(20)], four()).state;

describe("a summary is committed", () => {
  test("once: the range leaves the view, the originals are not touched, the epoch moves", () => {
    const { state } = play([record(1)], leased());
    expect(state.view).toMatchObject({
      epoch: 1,
      overlays: [{ kind: "summary", from: 1, to: 2, items: 2 }],
      items: [{ position: 3 }, { position: 4 }],
    });
    expect(play([record(1)], state).rejected).toBe("stale");
  });

  test("only under the newest lease", () => {
    const taken = play([lease(200)], leased()).state;
    expect(play([record(1)], taken).rejected).toBe("stale");
    expect(play([record(2)], taken).rejected).toBeNull();
  });

  test("only over the range and the overlays that were leased", () => {
    expect(play([record(1, epoch([summarize(1, { to: 3 })]))], leased()).rejected).toBe("stale");
    expect(play([record(1, epoch([summarize(1, { replaces: [id("ovl", 3)] })]))], leased()).rejected).toBe("stale");
  });

  test("only on the epoch that it was drafted for", () => {
    const late = play([record(1, epoch([summarize(1)], 1))], leased());
    expect(late).toMatchObject({ rejected: "stale", events: [] });
    const { compaction, ...state } = leased();
    const older = { ...state, compaction: { ...compaction, lease: compaction.lease && { ...compaction.lease, base_epoch: 7 } } };
    expect(play([record(1)], older).rejected).toBe("stale");
  });

  test("never inside a turn", () => {
    const state = leased();
    const turn = {
      id: id("trn", 1),
      incarnation: "a",
      attempt: 1,
      stalled_lives: 1,
      started_at: 1,
      phase: "generating",
      open_calls: [],
      tools: null,
      calls: 0,
      rounds: 0,
    } as const;
    expect(play([record(1)], { ...state, turn })).toMatchObject({ rejected: "stale" });
  });

  test("not when the view has moved since, which voids it and says so", () => {
    const moved = play([{ type: "ChangeEpoch", at: 30, compaction: id("cmp", 2), trigger: "guard", change: epoch([drop]) }], leased());
    expect(moved.events).toMatchObject([{ type: "CompactionFailed", failure: "superseded", final: true }, { type: "EpochChanged" }]);
    expect(moved.state.compaction).toMatchObject({ requested: null, lease: null, failures: 0 });
    expect(play([record(1)], moved.state).rejected).toBe("stale");
  });
});

describe("a lease", () => {
  test("is one worker's at a time", () => {
    expect(play([lease(30)], leased()).rejected).toBe("lease_held");
  });

  test("that ran out counts as an attempt and gives way to a higher token", () => {
    const { events } = play([lease(200)], leased());
    expect(events).toMatchObject([
      { type: "CompactionFailed", failure: "lease_expired", token: 1, final: false },
      { type: "CompactionStarted", token: 2, attempt: 2 },
    ]);
  });

  test("is not given for a plan of another epoch, nor for a compaction that is over", () => {
    expect(play([request, lease(20, 3)], four()).rejected).toBe("stale");
    expect(play([lease(20)], four()).rejected).toBe("stale");
  });
});

describe("a failed summary", () => {
  test("is tried once more, and the view stays as it was", () => {
    const before = leased();
    const { state, events } = play([failure(1, epoch([drop]))], before);
    expect(events).toMatchObject([{ type: "CompactionFailed", final: false }]);
    expect(state.view).toEqual(before.view);
    expect(state.compaction.requested).not.toBeNull();
  });

  test("that fails again lets the oldest groups leave the view, in the same step", () => {
    const { state, events } = play([failure(1), lease(70), failure(2, epoch([drop]))], leased());
    expect(events.slice(-2)).toMatchObject([
      { type: "CompactionFailed", final: true },
      { type: "EpochChanged", trigger: "fallback" },
    ]);
    expect(state.view.overlays).toMatchObject([{ kind: "dropped", items: 2 }]);
    expect(state.compaction).toMatchObject({ requested: null, lease: null, failures: 1 });
  });

  test("reported late, or twice, decides to nothing", () => {
    expect(play([failure(1), failure(1)], leased()).rejected).toBe("stale");
  });
});

test("a compaction is asked for once, however often the threshold is seen to be passed", () => {
  expect(play([request, { ...request, compaction: id("cmp", 2) } as Command], four()).events).toHaveLength(1);
});

test("a drop in the middle leaves the message that asked where it is", () => {
  const middle: EpochOp = { ...drop, from: 2, to: 3 };
  const { state } = play([{ type: "ChangeEpoch", at: 5, compaction: CMP, trigger: "guard", change: epoch([middle]) }], four());
  expect(state.view.items.map((entry) => entry.position)).toEqual([1, 4]);
});

test("a newer summary takes the place of the overlays it names, and reverting it brings them back", () => {
  const once = play([record(1)], leased()).state;
  const wider = summarize(2, { to: 3, replaces: [id("ovl", 1)], items: 3 });
  const change = (ops: readonly EpochOp[], base: number): Command => ({
    type: "ChangeEpoch",
    at: 70,
    compaction: CMP,
    trigger: "manual",
    change: epoch(ops, base),
  });
  const twice = play([change([wider], 1)], once).state;
  expect(twice.view.overlays.map((overlay) => overlay.id)).toEqual([id("ovl", 2)]);
  const back = play(
    [change([{ op: "revert", compaction: CMP, to: 4, overlays: once.view.overlays, items: once.view.items, reduced: [] }], 2)],
    twice,
  ).state;
  expect(back.view).toMatchObject({ overlays: once.view.overlays, items: once.view.items });
});
