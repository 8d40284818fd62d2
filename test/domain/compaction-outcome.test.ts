import { describe, expect, test } from "vitest";
import * as breaker from "../../src/domain/breaker";
import type { CompactionTrigger, EpochOp } from "../../src/domain/compaction-events";
import { NOTHING_SPENT } from "../../src/domain/compaction-spend";
import type { Event } from "../../src/domain/events";
import { evolve } from "../../src/domain/evolve";
import { MAX_REVERTS, type SessionState } from "../../src/domain/state";
import { id, item, RECEIPT, summaryPlan, viewing } from "../support/builders";

/** Folds one event after another, one each millisecond. */
const having = (state: SessionState, ...events: Event[]): SessionState =>
  events.reduce((now, event) => evolve(now, { ...event, seq: now.seq + 1, at: now.seq + 1 }), state);

const chat = (count: number, tokens = 100): SessionState =>
  viewing(Array.from({ length: count }, (_, index) => item(index + 1, index % 2 ? "assistant" : "user", { tokens })));

const failed = (failure: Extract<Event, { type: "CompactionFailed" }>["failure"] = "empty"): Event => ({
  type: "CompactionFailed",
  compaction: id("cmp", 1),
  token: 1,
  attempt: 2,
  failure,
  final: true,
});

const summarize = (from: number, to: number, change: Partial<Extract<EpochOp, { op: "summarize" }>> = {}): EpochOp => ({
  op: "summarize",
  overlay: id("ovl", to),
  from,
  to,
  replaces: [],
  keeps: [],
  tokens: 30,
  bytes: 100,
  items: to - from + 1,
  boundary_timestamp: to + 1,
  generation: 0,
  mode: "transcript",
  read: { ranges: [], overlays: [] },
  ...change,
});
const drop = (from: number, to: number): EpochOp => ({
  op: "drop",
  overlay: id("ovl", 90 + to),
  from,
  to,
  replaces: [],
  items: to - from + 1,
});

const changed = (
  state: SessionState,
  ops: readonly EpochOp[],
  by: { readonly trigger?: CompactionTrigger; readonly before?: number; readonly after?: number; readonly compaction?: number } = {},
): Event => ({
  type: "EpochChanged",
  base_epoch: state.view.epoch,
  epoch: state.view.epoch + 1,
  trigger: by.trigger ?? "threshold",
  compaction: id("cmp", by.compaction ?? 1),
  ops,
  receipt: { ...RECEIPT, tokens_before: by.before ?? 1_000, tokens_after: by.after ?? 400 },
});

const isBreakerOpen = ({ compaction }: SessionState): boolean => breaker.isBreakerOpen(compaction);

const grow = (state: SessionState, tokens: number): SessionState =>
  having(state, { type: "MessagesAppended", items: [item(state.next_position, "user", { tokens })], dequeued: [] });

const requestedBy = (trigger: CompactionTrigger): Event => ({
  type: "CompactionRequested",
  compaction: id("cmp", 7),
  trigger,
  base_epoch: 0,
});

describe("the breaker", () => {
  const opened = (): SessionState => having(chat(10), failed(), failed("timeout"), failed("not_smaller"));

  test("opens with the third failure", () => {
    expect(isBreakerOpen(having(chat(10), failed(), failed()))).toBe(false);
    expect(isBreakerOpen(opened())).toBe(true);
  });

  test("does not count what was superseded or had nothing to do", () => {
    const state = having(chat(10), failed("superseded"), failed("nothing_to_do"), failed(), failed());
    expect(isBreakerOpen(state)).toBe(false);
  });

  test("opens when two compactions in a row shrank the next request by less than a tenth", () => {
    const once = having(chat(10), changed(chat(10), [summarize(1, 2)], { before: 1_000, after: 901 }));
    const twice = having(once, changed(once, [summarize(3, 4)], { before: 900, after: 811 }));
    expect([isBreakerOpen(once), isBreakerOpen(twice)]).toEqual([false, true]);
  });

  test("forgets one without progress when the next one makes some", () => {
    const once = having(chat(10), changed(chat(10), [summarize(1, 2)], { before: 1_000, after: 950 }));
    const good = having(once, changed(once, [summarize(3, 4)], { before: 1_000, after: 900 }));
    const again = having(good, changed(good, [summarize(5, 6)], { before: 1_000, after: 950 }));
    expect(isBreakerOpen(again)).toBe(false);
  });

  test("closes when a fifth of the view has been appended", () => {
    expect(isBreakerOpen(grow(opened(), 199))).toBe(true);
    expect(isBreakerOpen(grow(opened(), 200))).toBe(false);
  });

  test("counts what is appended alone: that the oldest messages had to go brings it no nearer", () => {
    const state = opened();
    const trimmed = having(state, changed(state, [drop(1, 8)], { trigger: "fallback" }));
    expect(trimmed.view.tokens).toBe(200);
    expect([isBreakerOpen(grow(trimmed, 199)), isBreakerOpen(grow(trimmed, 200))]).toEqual([true, false]);
  });

  test.each([
    ["a request by hand", requestedBy("manual")],
    ["another model", { type: "SettingsChanged", changes: { model: "other" } }],
    ["another policy", { type: "SettingsChanged", changes: { policy: "opal" } }],
  ] as const)("closes with %s", (_what, event) => {
    expect(isBreakerOpen(having(opened(), event))).toBe(false);
  });

  test.each([
    ["a request of the session's own", requestedBy("threshold")],
    ["another title", { type: "SettingsChanged", changes: { title: null } }],
  ] as const)("does not close with %s", (_what, event) => {
    expect(isBreakerOpen(having(opened(), event))).toBe(true);
  });

  test("opens although each failure leaves a note in the summary's place (Opal compaction, truncate fallback)", () => {
    let state = chat(20);
    for (const to of [2, 4, 6]) state = having(having(state, failed()), changed(state, [summarize(1, to)], { trigger: "fallback" }));
    expect(isBreakerOpen(state)).toBe(true);
  });
});

describe("what an accepted summary teaches", () => {
  test("is its share of its source, at first as it is, then by a fifth of the difference", () => {
    const first = having(chat(10), changed(chat(10), [summarize(1, 2, { tokens: 40 })]));
    expect(first.compaction.summary_share).toBeCloseTo(0.2);
    const second = having(first, changed(first, [summarize(3, 4, { tokens: 80 })]));
    expect(second.compaction.summary_share).toBeCloseTo(0.2 + 0.2 * (0.4 - 0.2));
  });

  test("is its share of what it read: a system message that stays is none of its source, one that goes is", () => {
    const [first, ...rest] = chat(10).view.items;
    const state = viewing(first ? [{ ...first, kind: "system", tokens: 900 }, ...rest] : []);
    const taught = (keeps: readonly number[]) =>
      having(state, changed(state, [summarize(1, 3, { tokens: 40, keeps })])).compaction.summary_share;
    expect(taught([1])).toBeCloseTo(40 / 200);
    expect(taught([])).toBeCloseTo(40 / 1_100);
    // A question that stays in the view is read.
    expect(taught([2])).toBeCloseTo(40 / 1_100);
  });

  test("is nothing when it was merged with earlier ones, and nothing when no model wrote it", () => {
    const merged = having(chat(10), changed(chat(10), [summarize(1, 2, { generation: 1 })]));
    const noted = having(chat(10), changed(chat(10), [summarize(1, 2)], { trigger: "fallback" }));
    expect([merged.compaction.summary_share, noted.compaction.summary_share]).toEqual([null, null]);
  });

  test("is nothing when it also read what the view has no weight of: trimmed messages, or the whole record again", () => {
    const trimmed = having(chat(10), changed(chat(10), [drop(1, 4)], { trigger: "guard" }));
    const [overlay] = trimmed.view.overlays;
    const all = summarize(1, 6, { tokens: 180, generation: 0, replaces: overlay ? [overlay.id] : [] });
    expect(having(trimmed, changed(trimmed, [all])).compaction.summary_share).toBeNull();
  });
});

describe("rent", () => {
  const called = (epoch: number, rent: number): Event => ({
    type: "ModelCallFinished",
    turn: null,
    purpose: "turn",
    model: "test-model",
    epoch,
    up_to: 2,
    usage: null,
    estimate: 0,
    request_digest: null,
    outcome: "stop",
    ms: 1,
    rent,
    lease: null,
  });

  test("is the sum over an epoch's calls", () => {
    expect(having(chat(2), called(0, 12), called(0, 8)).compaction.rent).toBe(20);
  });

  test("of a call that was asked in an earlier epoch is not this one's", () => {
    const state = having(chat(2), { type: "SettingsChanged", changes: { policy: "balanced" } }, called(0, 12));
    expect(state.compaction.rent).toBe(0);
  });

  test.each([
    ["a change of the view", (state: SessionState) => changed(state, [drop(1, 1)])],
    ["pins", () => ({ type: "PinsSet", pins: [] }) as const],
    ["another model", () => ({ type: "SettingsChanged", changes: { model: "other" } }) as const],
  ])("starts again with %s", (_what, make) => {
    const state = having(chat(4), called(0, 12));
    expect(having(state, make(state)).compaction.rent).toBe(0);
  });
});

describe("what a compaction has cost", () => {
  const request = (n: number): Event => ({ type: "CompactionRequested", compaction: id("cmp", n), trigger: "threshold", base_epoch: 0 });
  const started = (n: number, token: number): Event => ({
    type: "CompactionStarted",
    compaction: id("cmp", n),
    token,
    attempt: token,
    expires_at: 100,
    base_epoch: 0,
    ...summaryPlan(1, 4),
  });
  const called = (lease: number | null, input: number | null, cost?: number): Event => ({
    type: "ModelCallFinished",
    turn: null,
    purpose: lease === null ? "turn" : "compaction",
    model: "test-model",
    epoch: 0,
    up_to: 2,
    usage: input === null ? null : { input, output: 1, cached: 0, reasoning: 0 },
    estimate: 0,
    request_digest: null,
    outcome: "stop",
    ms: 10,
    lease,
    ...(cost === undefined ? {} : { cost }),
  });
  const spent = (...events: Event[]) => having(chat(6), ...events).compaction.requested?.spent;

  test("is the sum of the calls under its leases, those that were lost and those of unknown usage included", () => {
    const usage = { input: 60, output: 2, cached: 0, reasoning: 0 };
    const calls = [started(1, 1), started(1, 2), called(2, 40), called(1, 20), called(2, null)];
    expect(spent(request(1), ...calls)).toEqual({ model: "test-model", usage, ms: 30, cost: null });
  });

  test("is known where it is known of each of them, also where it is nothing", () => {
    const calls = [started(1, 1), called(1, 40, 0.1), started(1, 2), called(2, 20, 0.2)];
    expect(spent(request(1), ...calls)?.cost).toBe(0.3);
    expect(spent(request(1), ...calls, called(2, 10, 0))?.cost).toBe(0.3);
    expect(spent(request(1), ...calls, called(2, 10))?.cost).toBeNull();
    expect(spent(request(1), called(1, 10), ...calls)?.cost).toBeNull();
  });

  test("has neither a turn's calls in it nor a late one of the compaction before", () => {
    expect(spent(request(1), started(1, 1), failed(), request(2), started(2, 2), called(1, 40), called(null, 50))).toEqual(NOTHING_SPENT);
  });
});

describe("taking back", () => {
  const reverted = (state: SessionState, compaction: number): Event =>
    changed(state, [{ op: "revert", compaction: id("cmp", compaction), to: 4, overlays: [], items: chat(4).view.items, reduced: [] }], {
      trigger: "manual",
    });

  test("suspends the soft trigger until the view has grown by a fifth, and a summary ends that", () => {
    const compacted = having(chat(10), changed(chat(10), [summarize(1, 4)]));
    const back = having(compacted, reverted(compacted, 1));
    expect(back.view.tokens).toBe(1_000);
    expect(back.compaction.quiet_until).toBe(1_200);
    expect(having(back, changed(back, [summarize(1, 4)])).compaction.quiet_until).toBeNull();
  });

  test("suspends it no more once the view has grown so far, whatever leaves it later", () => {
    const compacted = having(chat(10), changed(chat(10), [summarize(1, 4)]));
    const back = having(compacted, reverted(compacted, 1));
    const say = (state: SessionState, n: number) =>
      having(state, { type: "MessagesAppended", items: [item(10 + n, "user", { tokens: 100 })], dequeued: [] });
    const grown = say(say(back, 1), 2);
    expect([say(back, 1).compaction.quiet_until, grown.compaction.quiet_until]).toEqual([1_200, null]);
    const dropped = changed(grown, [{ op: "drop", overlay: id("ovl", 50), from: 1, to: 6, replaces: [], items: 6 }], { compaction: 9 });
    expect(having(grown, dropped).compaction.quiet_until).toBeNull();
  });

  test("brings back what the provider had counted of the view, as usage of the epoch before", () => {
    const anchor = { epoch: 0, holds_in: 0, model: "m", up_to: 9, input: 990, output: 10, reply_to: 10, fixed: 0, at: 1 };
    const full = { ...chat(10), anchor };
    const compacted = having(full, changed(full, [summarize(1, 4)]));
    expect(compacted.anchor).toBeNull();
    expect(having(compacted, reverted(compacted, 1)).anchor).toEqual({ ...anchor, holds_in: compacted.view.epoch + 1 });
  });

  test("is refused for any but the newest that stands", () => {
    const one = having(chat(10), changed(chat(10), [summarize(1, 2)], { compaction: 1 }));
    const two = having(one, changed(one, [summarize(3, 4)], { compaction: 2 }));
    expect(two.compaction.committed.map((each) => each.id)).toEqual([id("cmp", 1), id("cmp", 2)]);
    expect(having(two, reverted(two, 2)).compaction.committed).toEqual([{ id: id("cmp", 1), anchor: null }]);
  });

  test("goes back so many compactions and no further", () => {
    let state = chat(2 * MAX_REVERTS + 10);
    for (let n = 1; n <= MAX_REVERTS + 3; n++) state = having(state, changed(state, [summarize(n, n)], { compaction: n }));
    expect(state.compaction.committed).toHaveLength(MAX_REVERTS);
    expect(state.compaction.committed[0]?.id).toBe(id("cmp", 4));
  });
});
