import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toReplyReserve, toRequestLimit } from "../../src/context/budget";
import { viewGroups } from "../../src/context/cut";
import { buildChangeFromRungs } from "../../src/context/epoch-change";
import { planGuard } from "../../src/context/guard";
import { planCompaction } from "../../src/context/planner";
import { toPolicy } from "../../src/context/policy-choice";
import { evolve } from "../../src/domain/evolve";
import type { ItemMeta } from "../../src/domain/message";
import type { SessionState } from "../../src/domain/state";
import { call, countingIds, id, item, plainModel, result, sized, viewing } from "../support/builders";

const policy = toPolicy("oneclaw");
const limits = { model: plainModel(), window: 16_000, maxOutput: 1_024, prices: null };
const plan = (state: SessionState, change = {}) =>
  planCompaction({ state, limits: { ...limits, ...change }, policy, trigger: "threshold", now: 0 });

/** Questions and answers of `tokens` each. */
const chat = (count: number, tokens: number): ItemMeta[] =>
  Array.from({ length: count }, (_, index) => item(index + 1, index % 2 === 0 ? "user" : "assistant", { tokens }));

const anchored = (state: SessionState, input: number, reply_to: number): SessionState => ({
  ...state,
  anchor: { epoch: 0, holds_in: 0, model: "test-model", up_to: reply_to, input, output: 0, reply_to, fixed: 0, at: 0 },
});

describe("what the next request weighs", () => {
  test("without a count of the provider all of it is estimated", () => {
    expect(sized(viewing(chat(4, 100))).next()).toMatchObject({ tokens: 400, source: "estimated" });
  });

  test("with one, only what came since", () => {
    expect(sized(anchored(viewing(chat(4, 100)), 5_000, 3)).next()).toMatchObject({
      tokens: 5_000 + 100,
      source: "mixed",
      error_bound: 25 + 8,
    });
  });

  test("a count of an earlier epoch or of another model does not count", () => {
    const state = anchored(viewing(chat(4, 100)), 5_000, 3);
    expect(sized({ ...state, view: { ...state.view, epoch: 1 } }).next().source).toBe("estimated");
    expect(sized(state, plainModel("other-model")).next().source).toBe("estimated");
  });

  test("tools that a message brings weigh what they weigh more than the counted ones", () => {
    const state = anchored(viewing(chat(4, 100)), 5_000, 4);
    const offered = { ...state.settings, tools: { body: id("bod", 3), bytes: 1, tokens: 400 } };
    expect(sized({ ...state, settings: offered }).next()).toMatchObject({ tokens: 5_400, source: "mixed" });
  });

  test.each(["oneclaw", "balanced"] as const)("a plan says it in the unit of the context report, whatever starts it (%s)", (name) => {
    const dense = viewing(chat(40, 400).map((each) => ({ ...each, rough: 100 })));

    const dryRun = planCompaction({ state: dense, limits, policy: toPolicy(name), trigger: "manual", now: 0 });

    if (dryRun.kind !== "compact") throw new Error(dryRun.kind);
    expect(dryRun.next).toEqual(sized(dense).next());
    expect(dryRun.expected.tokens).toBeGreaterThan(0);
    expect(dryRun.expected).toMatchObject({ source: "estimated", error_bound: expect.any(Number) });
    expect(dryRun.expected.error_bound).toBeGreaterThan(dryRun.next.error_bound);
  });

  test("the reserve is the least of the model's output, 4,096 and a sixteenth of the window", () => {
    expect(toReplyReserve(limits)).toBe(1_000);
    expect(toReplyReserve({ ...limits, window: 200_000, maxOutput: 64_000 })).toBe(4_096);
    expect(toReplyReserve({ ...limits, window: 128_000, maxOutput: 512 })).toBe(512);
  });
});

describe("oneclaw", () => {
  test("compacts above 0.85 of the window and not at it", () => {
    const state = viewing(chat(20, 700));
    expect(plan(anchored(state, 13_600, 20))).toMatchObject({ kind: "none", reason: "below_threshold" });
    expect(plan(anchored(state, 13_601, 20)).kind).toBe("compact");
  });

  test("does not compact by what was counted before the epoch, though that still holds", () => {
    const state = anchored(viewing(chat(20, 500)), 13_601, 20);
    const counted = (epoch: number): SessionState => ({
      ...state,
      view: { ...state.view, epoch: 1 },
      anchor: state.anchor && { ...state.anchor, epoch, holds_in: 1 },
    });
    expect(plan(counted(1)).kind).toBe("compact");
    expect(plan(counted(0))).toMatchObject({ kind: "none", reason: "below_threshold", next: { tokens: 13_601 } });
  });

  test("with an unknown window never compacts", () => {
    expect(plan(anchored(viewing(chat(20, 9_000)), 180_000, 20), { window: null })).toMatchObject({
      kind: "none",
      reason: "unknown_window",
    });
  });

  test("when everything is within the protected quarter has nothing to do", () => {
    expect(plan(anchored(viewing([item(1, "user", { tokens: 10 })]), 15_000, 1))).toMatchObject({ kind: "none", reason: "nothing_older" });
  });

  test("keeps the newest quarter, cut at a group", () => {
    const planned = plan(anchored(viewing(chat(40, 400)), 16_000, 40));
    // 4,000 tokens kept: ten messages of 400.
    expect(planned).toMatchObject({ kind: "compact", rungs: [{ rung: "summarize", range: { from: 1, to: 30 }, items: 30 }] });
  });

  test("never separates a call from its result", () => {
    const items = [
      ...chat(30, 400),
      item(31, "user", { tokens: 400 }),
      call(32, 1, { tokens: 2_000 }),
      result(33, 1, { tokens: 2_000 }),
      item(34, "assistant", { tokens: 300 }),
    ];
    const planned = plan(anchored(viewing(items), 16_000, 34));
    expect(planned).toMatchObject({ kind: "compact", rungs: [{ rung: "summarize", range: { to: 33 } }] });
  });

  test("summarises again over its own summary, and reads again what was only trimmed", () => {
    const base = viewing(chat(40, 400).slice(20));
    const overlays = [
      { id: id("ovl", 1), kind: "summary", from: 1, to: 10, items: 10, tokens: 300, boundary_timestamp: 1, generation: 0 },
      { id: id("ovl", 2), kind: "dropped", from: 11, to: 20, items: 10, tokens: 0 },
    ] as const;
    const planned = plan(anchored({ ...base, view: { ...base.view, overlays } }, 15_000, 40));
    expect(planned).toMatchObject({
      rungs: [
        { rung: "summarize", range: { from: 1, to: 30 }, source: { from: 11, to: 30 }, replaces: [id("ovl", 1), id("ovl", 2)], items: 30 },
      ],
    });
  });
});

describe("the guard", () => {
  test.each([
    ["oneclaw", 100, [{ rung: "drop", from: 1 }]],
    ["balanced", 100, [{ rung: "drop", from: 2 }]],
    // Without the drop nothing would fit.
    ["balanced", 15_000, [{ rung: "drop", from: 1 }]],
  ])("under %s drops a system message of %i tokens that the policy keeps only when nothing else is left", (name, tokens, drops) => {
    const state = viewing([item(1, "system", { tokens }), ...chat(20, 900).map((each) => ({ ...each, position: each.position + 1 }))]);
    expect(planGuard({ state, limits, policy: toPolicy(name) })).toMatchObject({ kind: "compact", rungs: drops });
  });

  const guard = (state: SessionState, change = {}) => planGuard({ state, limits: { ...limits, ...change }, policy });

  test("leaves alone what fits, and what has no known window", () => {
    expect(guard(viewing(chat(10, 100)))).toMatchObject({ kind: "none", reason: "fits" });
    expect(guard(viewing(chat(100, 900)), { window: null })).toMatchObject({ kind: "none", reason: "unknown_window" });
  });

  test("keeps the last question although the rounds after it have to go", () => {
    const rounds = Array.from({ length: 12 }, (_, n) => [
      call(2 * n + 2, n, { tokens: 500 }),
      result(2 * n + 3, n, { tokens: 1_000 }),
    ]).flat();
    const planned = guard(viewing([item(1, "user", { tokens: 900 }), ...rounds]));
    expect(planned).toMatchObject({ kind: "compact", rungs: [{ rung: "drop", from: 2 }] });
  });

  test("shortens a result that is too large even alone", () => {
    const planned = guard(viewing([item(1, "user"), call(2, 1), result(3, 1, { tokens: 14_000 })]));
    expect(planned).toMatchObject({ kind: "compact", rungs: [{ rung: "shorten", items: [{ position: 3 }] }] });
  });

  test("lets go what may, however much of the provider's count would be left: no count holds for what stays", () => {
    expect(guard(anchored(viewing(chat(4, 100)), 40_000, 4))).toMatchObject({ kind: "compact", rungs: [{ rung: "drop", from: 1, to: 2 }] });
  });

  test("does not refuse because of a count where nothing may go and the estimate fits", () => {
    expect(guard(anchored(viewing([item(1, "user", { tokens: 900 })]), 40_000, 1))).toMatchObject({
      kind: "none",
      reason: "nothing_older",
    });
  });

  test("says what weighs most when nothing helps, and pays for nothing", () => {
    expect(guard(viewing([item(1, "user", { tokens: 20_000 })]))).toMatchObject({
      kind: "cannot_fit",
      fit: { limit: 15_000, biggest: [{ what: "user at position 1" }, {}] },
    });
  });

  test("after what it planned the request fits, open calls and the last question are there, and groups are whole", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom("turn", "tools"), fc.integer({ min: 1, max: 4_000 })), { minLength: 1, maxLength: 25 }),
        (turns) => {
          const state = viewing(conversation(turns));
          const planned = guard(state);
          if (planned.kind !== "compact") return;
          const after = apply(state, planned.rungs);
          expect(sized(after).next().tokens).toBeLessThanOrEqual(toRequestLimit(limits) ?? 0);
          expect(
            after.view.items.some((entry) => entry.position === state.view.items.findLast((known) => known.kind === "user")?.position),
          ).toBe(true);
          const whole = new Set(viewGroups(state).map((group) => group.items.length));
          for (const group of viewGroups(after)) expect(whole.has(group.items.length)).toBe(true);
        },
      ),
    );
  });
});

function apply(state: SessionState, rungs: Parameters<typeof buildChangeFromRungs>[0]): SessionState {
  const newId = countingIds();
  const change = buildChangeFromRungs(rungs, {
    state,
    limits,
    trigger: "guard",
    newOverlay: () => newId("ovl"),
    read: () => [],
    summarizer: null,
    economy: null,
    now: 0,
  });
  return evolve(state, {
    type: "EpochChanged",
    epoch: change.base_epoch + 1,
    trigger: "guard",
    compaction: null,
    ...change,
    seq: state.seq + 1,
    at: 1,
  });
}

/** Turns of one answer or of three tool rounds, with items of `tokens` each. */
function conversation(turns: readonly (readonly [string, number])[]): ItemMeta[] {
  const items: ItemMeta[] = [];
  const add = (make: (position: number) => ItemMeta) => items.push(make(items.length + 1));
  for (const [shape, tokens] of turns) {
    add((position) => item(position, "user", { tokens: Math.min(tokens, 900) }));
    for (let round = 0; shape === "tools" && round < 3; round++) {
      const execution = items.length;
      add((position) => call(position, execution, { tokens: 30 }));
      add((position) => result(position, execution, { tokens }));
    }
    add((position) => item(position, "assistant", { tokens: Math.min(tokens, 1_500) }));
  }
  return items;
}
