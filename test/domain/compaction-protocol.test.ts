/** Who may do what to a compaction that is under way (docs/compaction-protocol.md). */
import { describe, expect, test } from "vitest";
import type { Command, EpochChange } from "../../src/domain/commands";
import type { ChunkProgress, CompactionTrigger, EpochOp } from "../../src/domain/compaction-events";
import type { SessionState } from "../../src/domain/state";
import { RUNNING } from "../context/planning";
import { id, item, play, RECEIPT, summaryPlan, turnId, viewing } from "../support/builders";

const CMP = id("cmp", 1);
const four = (): SessionState => viewing([item(1, "user"), item(2, "assistant"), item(3, "user"), item(4, "assistant")]);

const request = (trigger: CompactionTrigger = "threshold", n = 1): Command => ({
  type: "RequestCompaction",
  at: 10,
  compaction: id("cmp", n),
  trigger,
  options: null,
});
const lease = (at: number, change: Partial<Extract<Command, { type: "LeaseCompaction" }>> = {}): Command => ({
  type: "LeaseCompaction",
  at,
  compaction: CMP,
  plan: { base_epoch: 0, ...summaryPlan(1, 2) },
  expiresAt: at + 100,
  attemptLimit: 2,
  inline: null,
  ...change,
});
const INLINE = { trigger: "inline", incarnation: "a" } as const;
const summarize: EpochOp = {
  op: "summarize",
  overlay: id("ovl", 1),
  from: 1,
  to: 2,
  replaces: [],
  tokens: 5,
  bytes: 20,
  items: 2,
  boundary_timestamp: 3,
  keeps: [],
  generation: 0,
  mode: "transcript",
  read: { ranges: [], overlays: [] },
};
const epoch = (ops: readonly EpochOp[], base_epoch = 0): EpochChange => ({ base_epoch, ops, receipt: RECEIPT });
type RecordCommand = Extract<Command, { type: "RecordCompaction" }>;
const record = (token: number, inside: RecordCommand["inside"] = null, other: Partial<RecordCommand> = {}): Command => ({
  type: "RecordCompaction",
  at: 50,
  compaction: CMP,
  token,
  change: epoch([summarize]),
  call: null,
  inside,
  ...other,
});
const part = (position: number, parts = 1): ChunkProgress => ({
  summary: { body: id("bod", parts), bytes: 9, tokens: 3 },
  stage: "history",
  history: null,
  position,
  chars: 0,
  parts,
});
const call = {
  turn: null,
  purpose: "compaction",
  model: "test-model",
  epoch: 0,
  up_to: 2,
  usage: null,
  estimate: 10,
  request_digest: null,
  outcome: "stop",
  ms: 5,
  lease: 1,
} as const;
const progress = (token: number, folded = part(2), at = 40): Command => ({
  type: "ProgressCompaction",
  at,
  compaction: CMP,
  token,
  expiresAt: at + 100,
  part: folded,
  call,
});
const failure = (token: number): Command => ({
  type: "FailCompaction",
  at: 60,
  compaction: CMP,
  token,
  failure: "empty",
  attemptLimit: 2,
  call: null,
  fallback: null,
  inside: null,
});
const running = (state: SessionState): SessionState => ({ ...state, turn: RUNNING });
const RUN = { turn: turnId(1), incarnation: "a" };
const leased = (): SessionState => play([request(), lease(20)], four()).state;

describe("a chunk of a summary", () => {
  test("is kept, and its worker may go on for longer", () => {
    const { state } = play([progress(1)], leased());
    expect(state.compaction.requested?.folded).toEqual(part(2));
    expect(state.compaction.lease?.expires_at).toBe(140);
  });

  test("is kept also while a turn runs: it changes nothing that is shown", () => {
    expect(play([progress(1)], running(leased())).rejected).toBeNull();
  });

  test("of an older lease decides to nothing", () => {
    expect(play([lease(30, { inline: INLINE }), progress(1)], leased()).rejected).toBe("stale");
  });

  test("is there for the next attempt, and gone with the compaction", () => {
    const retried = play([progress(1), failure(1), lease(70)], leased()).state;
    expect(retried.compaction.requested?.folded).toEqual(part(2));
    expect(play([record(2)], retried).state.compaction.requested).toBeNull();
  });
});

describe("inside a turn", () => {
  test("the turn that waits for it takes the running lease with a higher token, and commits", () => {
    const { state, rejected } = play([lease(30, { inline: INLINE }), record(2, RUN)], running(leased()));
    expect(rejected).toBeNull();
    expect(state.view).toMatchObject({ epoch: 1, overlays: [{ from: 1, to: 2 }] });
  });

  test("what was asked for by hand and is done by the turn in need says so; its worker's own result would not", () => {
    const asked = play([request("manual"), lease(20)], four()).state;
    const listTriggers = (commands: readonly Command[]) =>
      play(commands, running(asked)).events.flatMap((event) => (event.type === "EpochChanged" ? [event.trigger] : []));
    expect(listTriggers([lease(30, { inline: INLINE }), record(2, RUN)])).toEqual(["inline"]);
    expect(listTriggers([record(1, RUN)])).toEqual(["manual"]);
  });

  test.each([
    ["a turnless", null],
    ["another turn's", { ...RUN, turn: turnId(9) }],
    ["an earlier life's", { ...RUN, incarnation: "b" }],
  ])("%s outcome does not take effect", (_whose, inside) => {
    expect(play([record(1, inside)], running(leased())).rejected).toBe("stale");
  });

  test("not while the turn waits for its client's tools", () => {
    const waiting = { ...running(leased()), turn: { ...RUNNING, phase: "awaiting_tools" } as SessionState["turn"] };
    expect(play([record(1, RUN)], waiting).rejected).toBe("stale");
  });
});

describe("by hand", () => {
  test("a second one is refused, not waited for", () => {
    expect(play([request(), request("manual", 2)], four()).rejected).toBe("compaction_running");
  });

  test("only the newest compaction in effect is reverted, and not inside a turn", () => {
    const done = play([record(1)], leased()).state;
    const back = (reverts: number): Command => ({
      type: "RevertCompaction",
      at: 80,
      compaction: id("cmp", 5),
      reverts: id("cmp", reverts),
      change: epoch([{ op: "revert", compaction: id("cmp", reverts), to: 4, overlays: [], items: four().view.items, reduced: [] }], 1),
    });
    expect(play([back(9)], done).rejected).toBe("not_newest");
    expect(play([back(1)], running(done)).rejected).toBe("turn_running");
    const { state } = play([back(1)], done);
    expect(state.view.items).toEqual(four().view.items);
    expect(play([back(1)], state).rejected).toBe("not_newest");
  });
});

describe("a change of the request cancels a running compaction, and counts as no failure", () => {
  test.each<[what: string, command: Command]>([
    ["pins", { type: "SetPins", at: 40, pins: [] }],
    ["another model", { type: "ChangeSettings", at: 40, changes: { model: "other" } }],
    ["another policy", { type: "ChangeSettings", at: 40, changes: { policy: "opal" } }],
  ])("%s", (_what, command) => {
    const { state, events } = play([command], leased());
    expect(events[0]).toMatchObject({ type: "CompactionFailed", failure: "superseded", final: true });
    expect(state.compaction).toMatchObject({ requested: null, lease: null, failures: 0 });
    expect(play([record(1)], state).rejected).toBe("stale");
  });

  test("a title does not", () => {
    const { state } = play([{ type: "ChangeSettings", at: 40, changes: { title: null } }], leased());
    expect(play([record(1)], state).rejected).toBeNull();
  });
});

test("a result that arrives after the summaries were reset changes nothing", () => {
  const summarised = play([record(1)], leased()).state;
  const compaction = id("cmp", 2);
  const next = lease(70, { compaction, plan: { base_epoch: 1, ...summaryPlan(3, 3) } });
  const reset: Command = {
    type: "ResetSummary",
    at: 80,
    compaction: id("cmp", 5),
    change: epoch([{ op: "reset", to: 2, overlays: [], items: four().view.items, reduced: [] }], 1),
  };
  const late = record(2, null, { compaction, change: epoch([{ ...summarize, from: 3, to: 3 }], 1) });
  const before = play([request("threshold", 2), next], summarised).state;
  expect(play([late], before).rejected).toBeNull();

  const { state, events } = play([reset], before);
  expect(events[0]).toMatchObject({ type: "CompactionFailed", compaction, failure: "superseded", final: true });
  expect(play([late], state).rejected).toBe("stale");
});

test("a message that came meanwhile stays verbatim behind the summary", () => {
  const grown = { ...leased(), next_position: 6 };
  const state = { ...grown, view: { ...grown.view, items: [...grown.view.items, item(5, "user")], tokens: grown.view.tokens + 10 } };
  expect(play([record(1)], state).state.view.items.map(({ position }) => position)).toEqual([3, 4, 5]);
});
