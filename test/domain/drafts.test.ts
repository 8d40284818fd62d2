/** A compaction that stops before its commit: who may do what to it, and what ends it (docs/compaction-by-hand.md). */
import { describe, expect, test } from "vitest";
import type { Command, EpochChange, ModelCall } from "../../src/domain/commands";
import type { CompactionOptions, CompactionTrigger, EpochOp } from "../../src/domain/compaction-events";
import type { SessionState } from "../../src/domain/state";
import { RUNNING } from "../context/planning";
import { id, item, play, RECEIPT, summaryPlan, viewing } from "../support/builders";

const CMP = id("cmp", 1);
const OVERLAY = id("ovl", 1);
const EDITOR = id("key", 1);
const four = (): SessionState => viewing([item(1, "user"), item(2, "assistant"), item(3, "user"), item(4, "assistant")]);
const text = (n: number) => ({ body: id("bod", n), bytes: 20, tokens: 5 });
const ASKED: CompactionOptions = { keep_recent: null, up_to: null, instructions: null };

const request = (options: CompactionOptions | null, trigger: CompactionTrigger = "manual", n = 1): Command => ({
  type: "RequestCompaction",
  at: 10,
  compaction: id("cmp", n),
  trigger,
  options,
});
const lease = (change: Partial<Extract<Command, { type: "LeaseCompaction" }>> = {}): Command => ({
  type: "LeaseCompaction",
  at: 20,
  compaction: CMP,
  plan: { base_epoch: 0, ...summaryPlan(1, 2) },
  expiresAt: 120,
  attemptLimit: 2,
  inline: null,
  ...change,
});
const call = (token: number): ModelCall => ({
  turn: null,
  purpose: "compaction",
  model: "test-model",
  epoch: 0,
  up_to: 4,
  usage: { input: 100, output: 5, cached: 0, reasoning: 0 },
  estimate: 100,
  request_digest: null,
  outcome: "stop",
  ms: 5,
  lease: token,
});
const record = (token = 1): Command => ({
  type: "RecordDraft",
  at: 30,
  compaction: CMP,
  token,
  overlay: OVERLAY,
  summary: text(1),
  call: call(token),
});
const edit = (edits: number, at = 40): Command => ({
  type: "EditDraft",
  at,
  compaction: CMP,
  edits,
  summary: text(2 + edits),
  by: EDITOR,
});
const summarize = (to = 2, overlay = OVERLAY): EpochOp => ({
  op: "summarize",
  overlay,
  from: 1,
  to,
  replaces: [],
  tokens: 5,
  bytes: 20,
  items: 2,
  boundary_timestamp: 3,
  keeps: [],
  generation: 0,
  mode: "transcript",
  read: { ranges: [], overlays: [] },
});
const epoch = (ops: readonly EpochOp[], base_epoch = 0): EpochChange => ({ base_epoch, ops, receipt: RECEIPT });
const commit = (edits = 0, change = epoch([summarize()])): Command => ({ type: "CommitDraft", at: 60, compaction: CMP, edits, change });
const discard: Command = { type: "DiscardDraft", at: 50, compaction: CMP };
const asDraft: CompactionOptions = { ...ASKED, draft: true };
const leased = (): SessionState => play([request(asDraft), lease()], four()).state;
const drafted = (): SessionState => play([record()], leased()).state;
const running = (state: SessionState): SessionState => ({ ...state, turn: RUNNING });

describe("a draft", () => {
  test("changes nothing in the view, has no lease, and blocks nothing", () => {
    const before = leased();
    const { state, rejected } = play([record()], before);
    expect(rejected).toBeNull();
    expect(state.view).toEqual(before.view);
    expect(state.compaction).toMatchObject({ requested: null, lease: null, draft: { id: CMP, base_epoch: 0, edits: 0, edited: null } });
    expect(play([request(null, "threshold", 2)], state)).toMatchObject({ rejected: null, events: [{ type: "CompactionRequested" }] });
  });

  test("is recorded also while a turn runs", () => {
    expect(play([record()], running(leased())).rejected).toBeNull();
  });

  test("of an older lease, or of a compaction that was not requested as a draft, has no effect", () => {
    expect(play([lease({ at: 130, expiresAt: 230 }), record(1)], leased()).rejected).toBe("stale");
    expect(play([request(ASKED), lease(), record()], four()).rejected).toBe("stale");
  });

  test("is never committed by the worker that made it", () => {
    const command: Command = {
      type: "RecordCompaction",
      at: 50,
      compaction: CMP,
      token: 1,
      change: epoch([summarize()]),
      call: null,
      inside: null,
    };
    expect(play([command], leased()).rejected).toBe("stale");
  });

  test("is one at a time: asking for another is refused by the first one's name, and any other compaction is not", () => {
    expect(play([request(asDraft, "manual", 2)], drafted()).rejected).toBe("draft_open");
    expect(play([request(ASKED, "manual", 2)], drafted()).rejected).toBeNull();
  });

  test("has a late call of its own lease in its costs, and no other", () => {
    const twice = play([lease({ at: 130, expiresAt: 230 }), record(2)], leased()).state;
    const spend = (token: number): Command => ({ type: "RecordSpentCall", at: 300, call: call(token), part: 0 });
    const { state } = play([spend(1), request(ASKED, "manual", 2), lease({ compaction: id("cmp", 2), at: 400, expiresAt: 500 })], twice);
    expect(state.compaction.draft?.spent.usage?.input).toBe(200);
    expect(play([spend(3)], state).state.compaction).toMatchObject({
      draft: { spent: { usage: { input: 200 } } },
      requested: { spent: { usage: { input: 100 } } },
    });
  });
});

describe("an edit", () => {
  test("takes the text's place, and says whose it is", () => {
    const { state } = play([edit(0)], drafted());
    expect(state.compaction.draft).toMatchObject({ summary: text(2), edits: 1, edited: { by: EDITOR, at: 40 } });
  });

  test("by an editor who has not read the last one is refused, so that no edit is overwritten unseen", () => {
    expect(play([edit(0), edit(0)], drafted()).rejected).toBe("draft_edited");
    expect(play([edit(0), edit(1)], drafted()).state.compaction.draft?.edits).toBe(2);
  });

  test("of a closed compaction, or of one without a draft, is refused", () => {
    expect(play([discard, edit(0)], drafted()).rejected).toBe("not_drafted");
    expect(play([edit(0)], leased()).rejected).toBe("not_drafted");
  });
});

describe("a commit", () => {
  test("takes effect once, over what was leased, in the draft's own name", () => {
    const { state, events } = play([commit()], drafted());
    expect(events).toMatchObject([{ type: "EpochChanged", base_epoch: 0, epoch: 1, trigger: "manual", compaction: CMP }]);
    expect(state.view).toMatchObject({ epoch: 1, overlays: [{ id: OVERLAY, from: 1, to: 2 }] });
    expect(state.compaction).toMatchObject({ draft: null, committed: [{ id: CMP }] });
    expect(play([commit()], state).rejected).toBe("not_drafted");
  });

  test("names the summary's editor in its receipt, and has no such field if it was not edited", () => {
    const findReceipt = (commands: readonly Command[]) =>
      play(commands, drafted()).events.flatMap((event) => (event.type === "EpochChanged" ? [event.receipt] : []));
    expect(findReceipt([edit(0), commit(1)])).toMatchObject([{ edited: { by: EDITOR, at: 40 } }]);
    expect(findReceipt([commit()])[0]).not.toHaveProperty("edited");
  });

  test("stays beside later messages: appended messages stay verbatim behind it", () => {
    const grown = drafted();
    const state = { ...grown, next_position: 6, view: { ...grown.view, items: [...grown.view.items, item(5, "user")] } };
    expect(play([commit()], state).state.view.items.map(({ position }) => position)).toEqual([3, 4, 5]);
  });

  test("ends what was asked for meanwhile: it was planned on the old epoch", () => {
    const { state, events } = play([request(null, "threshold", 2), commit()], drafted());
    expect(events.slice(1)).toMatchObject([
      { type: "CompactionFailed", compaction: id("cmp", 2), failure: "superseded" },
      { type: "EpochChanged", compaction: CMP },
    ]);
    expect(state.compaction.requested).toBeNull();
  });

  test.each<[what: string, command: Command, code: string]>([
    ["of a text that was edited since", commit(1), "draft_edited"],
    ["over another range", commit(0, epoch([summarize(3)])), "stale"],
    ["on another epoch", commit(0, epoch([summarize()], 1)), "stale"],
    ["of another summary", commit(0, epoch([summarize(2, id("ovl", 7))])), "stale"],
    ["of no summary", commit(0, epoch([])), "stale"],
  ])("%s is refused", (_what, command, code) => {
    expect(play([command], drafted()).rejected).toBe(code);
  });

  test("waits for the turn's end, also where that waits for its client", () => {
    expect(play([commit()], running(drafted())).rejected).toBe("turn_running");
    const waiting = { ...drafted(), turn: { ...RUNNING, phase: "awaiting_tools" } as SessionState["turn"] };
    expect(play([commit()], waiting).rejected).toBe("turn_running");
  });

  test("of an edited text teaches nothing of how long a model's summaries are", () => {
    expect(play([commit()], drafted()).state.compaction.summary_share).not.toBeNull();
    expect(play([edit(0), commit(1)], drafted()).state.compaction.summary_share).toBeNull();
  });
});

describe("a new epoch ends a draft, and counts as no failure", () => {
  const dropped: EpochOp = { op: "drop", overlay: id("ovl", 5), from: 1, to: 2, replaces: [], items: 2 };
  const own = (options: CompactionOptions | null) => [request(options, "manual", 2), lease({ compaction: id("cmp", 2) })];
  test.each<[what: string, commands: readonly Command[]]>([
    ["pins", [{ type: "SetPins", at: 40, pins: [] }]],
    ["another model", [{ type: "ChangeSettings", at: 40, changes: { model: "other" } }]],
    ["another policy", [{ type: "ChangeSettings", at: 40, changes: { policy: "opal" } }]],
    ["the guard", [{ type: "ChangeEpoch", at: 40, compaction: id("cmp", 2), trigger: "guard", change: epoch([dropped]) }]],
    ["a reset", [{ type: "ResetSummary", at: 40, compaction: id("cmp", 2), change: epoch([dropped]) }]],
    [
      "another compaction's summary",
      [
        ...own(null),
        {
          type: "RecordCompaction",
          at: 50,
          compaction: id("cmp", 2),
          token: 2,
          change: epoch([summarize(2, id("ovl", 2))]),
          call: null,
          inside: null,
        },
      ],
    ],
    [
      "another compaction's fallback",
      [
        ...own(null),
        {
          type: "FailCompaction",
          at: 50,
          compaction: id("cmp", 2),
          token: 2,
          failure: "empty",
          attemptLimit: 1,
          call: null,
          fallback: epoch([dropped]),
          inside: null,
        },
      ],
    ],
  ])("%s", (_what, commands) => {
    const { state, events, rejected } = play(commands, drafted());
    expect(rejected).toBeNull();
    expect(events).toContainEqual({ type: "CompactionFailed", compaction: CMP, token: 1, attempt: 1, failure: "superseded", final: true });
    expect(state.compaction.draft).toBeNull();
    expect(play([commit()], state).rejected).toBe("not_drafted");
  });

  test("a title does not", () => {
    const { state } = play([{ type: "ChangeSettings", at: 40, changes: { title: null } }], drafted());
    expect(play([commit()], state).rejected).toBeNull();
  });
});

describe("a discard", () => {
  test("leaves everything but the draft unchanged, and counts as no failure", () => {
    const before = play([request(null, "threshold", 2)], drafted()).state;
    const { state, events } = play([discard], before);
    expect(events).toMatchObject([{ type: "CompactionFailed", compaction: CMP, failure: "discarded", final: true }]);
    expect(state.compaction).toEqual({ ...before.compaction, draft: null });
  });

  test("of one that is being made ends it: its worker's result decides to nothing, and is in the ledger", () => {
    const { state } = play([discard], leased());
    expect(state.compaction).toMatchObject({ requested: null, lease: null, failures: 0 });
    expect(play([record()], state).rejected).toBe("stale");
    expect(play([{ type: "RecordSpentCall", at: 60, call: call(1), part: 0 }], state).events).toMatchObject([{ outcome: "stale" }]);
  });

  test("is of drafts: any other compaction goes on", () => {
    expect(play([request(ASKED), discard], four()).rejected).toBe("not_drafted");
  });
});

describe("a turn that has no room", () => {
  const apart: readonly [string, CompactionOptions][] = [
    ["a draft", asDraft],
    ["a rebuild", { ...ASKED, rebuild: true }],
    ["a summary by another model", { ...ASKED, model: "other" }],
    ["a summary by another policy", { ...ASKED, policy: "opal" }],
  ];
  test.each(apart)("ends %s that is being made, and asks for its own", (_what, options) => {
    const { state, events } = play([request(options), lease(), request(null, "inline", 2)], running(four()));
    expect(events.slice(2)).toMatchObject([
      { type: "CompactionFailed", compaction: CMP, token: 1, failure: "superseded" },
      { type: "CompactionRequested", compaction: id("cmp", 2) },
    ]);
    expect(state.compaction).toMatchObject({ requested: { id: id("cmp", 2) }, lease: null });
  });

  test.each(apart)("never makes %s its own", (_what, options) => {
    const inline = { trigger: "inline", incarnation: "a" } as const;
    expect(play([request(options), lease({ inline })], running(four())).rejected).toBe("stale");
  });

  test("asks for nothing beside them where it has room: a threshold waits", () => {
    expect(play([request(asDraft), request(null, "threshold", 2)], four()).events).toHaveLength(1);
  });
});
