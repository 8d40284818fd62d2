/** Summaries as a chain: appended, merged when they outgrow their share, put right by the record now and then (docs/policy.md, the view). */
import { describe, expect, test } from "vitest";
import { toPolicy, toPolicyText } from "../../src/context/policy-choice";
import { toSummaryCap } from "../../src/context/proposal";
import type { CompactionTrigger, Overlay } from "../../src/domain/compaction-events";
import { id, item } from "../support/builders";
import { behind, buildSummary, carriedOut, chat, counted, findSummarizeRung, planUnder, RUNNING, rounds, toLimits } from "./planning";

/** A chain may have 3,000 tokens of a usable 30,000, and one summary 1,000. */
const policy = toPolicyText({
  preset: "balanced",
  trigger: { rent_factor: null },
  keep: { ratio: 0.1, min_tokens: 0 },
  summary: { chain_ratio: 0.1, max_tokens: 1_000, rebuild_after: 2 },
});
const limits = toLimits(32_000, 4_000);
const grown = (chain: readonly Overlay[], first: number) => counted(behind(chain, chat(60, 400, first)), 30_000);
const planned = (chain: readonly Overlay[], first: number) => findSummarizeRung(planUnder(policy, grown(chain, first), { limits }));

describe("a new summary", () => {
  test("is appended to the chain while together they are within its share", () => {
    const rung = planned([buildSummary(1, 1, 10, 1_000), buildSummary(2, 11, 20, 1_000)], 21);
    expect(rung).toMatchObject({ merge: false, generation: 0, replaces: [], range: { from: 21 }, source: { from: 21 } });
    const state = grown([buildSummary(1, 1, 10, 1_000), buildSummary(2, 11, 20, 1_000)], 21);
    const done = carriedOut(state, planUnder(policy, state, { limits }), { limits });
    expect(done.view.overlays.map(({ from, to }) => [from, to])).toEqual([
      [1, 10],
      [11, 20],
      [21, rung.range.to],
    ]);
  });

  test("takes the place of the chain when they are over it, one generation on", () => {
    const rung = planned([buildSummary(1, 1, 10, 1_100), buildSummary(2, 11, 20, 1_000, 1)], 21);
    expect(rung).toMatchObject({
      merge: true,
      generation: 2,
      replaces: [id("ovl", 1), id("ovl", 2)],
      range: { from: 1 },
      source: { from: 21 },
    });
  });

  describe("after so many merges", () => {
    const due = [buildSummary(1, 1, 20, 2_900, 2)];

    test("reads the newest of the record again, and still continues from the current summary", () => {
      expect(planned(due, 21)).toMatchObject({ merge: true, generation: 3, replaces: [id("ovl", 1)], source: { from: 21 } });
      expect(planned(due, 21).reread).toBeGreaterThan(0);
      for (const generation of [0, 1, 3, 4, 6]) expect(planned([buildSummary(1, 1, 20, 2_900, generation)], 21).reread).toBe(0);
      expect(planned([buildSummary(1, 1, 20, 2_900, 5)], 21).reread).toBeGreaterThan(0);
    });

    test("never reads more again than twice what is new, however long the history is", () => {
      const { reread, tokens } = planned([buildSummary(1, 1, 100_000, 2_900, 2)], 100_001);
      expect(reread).toBeLessThanOrEqual(2 * tokens);
      expect(planned([buildSummary(1, 1, 4_000, 2_900, 2)], 4_001).reread).toBe(reread);
    });

    test("merges as ever where something failed, or where a turn or a person waits: the mark moves on all the same", () => {
      const state = grown(due, 21);
      const { compaction } = state;
      const requested = { attempts: 1 } as NonNullable<typeof compaction.requested>;
      const countReread = (change: Partial<typeof compaction>, trigger: CompactionTrigger = "threshold"): number =>
        findSummarizeRung(planUnder(policy, { ...state, compaction: { ...compaction, ...change } }, { limits, trigger })).reread;
      expect(countReread({})).toBeGreaterThan(0);
      expect(countReread({ requested })).toBe(0);
      expect(countReread({ failures: 1 })).toBe(0);
      for (const trigger of ["inline", "overflow", "manual", "model_switch"] as const) expect(countReread({}, trigger)).toBe(0);
    });

    test("is not tried where nothing may be tried after it", () => {
      const once = toPolicyText({ ...JSON.parse(policy), summary: { ...JSON.parse(policy).summary, attempts: 1 } });
      expect(findSummarizeRung(planUnder(once, grown(due, 21), { limits }))).toMatchObject({ merge: true, reread: 0 });
    });
  });

  test("under a policy with one summary always merges, from the first one on", () => {
    const rung = findSummarizeRung(
      planUnder("oneclaw", counted(behind([buildSummary(1, 1, 10, 5)], chat(60, 400, 11)), 30_000), { limits }),
    );
    expect(rung).toMatchObject({ merge: true, generation: 1 });
  });

  test("reads again what was only trimmed, and takes its place", () => {
    const trimmed: Overlay = { id: id("ovl", 2), kind: "dropped", from: 11, to: 20, items: 10, tokens: 0 };
    expect(planned([buildSummary(1, 1, 10, 100), trimmed], 21)).toMatchObject({
      merge: false,
      replaces: [id("ovl", 2)],
      range: { from: 11 },
      source: { from: 11 },
    });
  });

  test("is not asked for what a summary has read already: the question that it left standing", () => {
    const items = [item(5, "user", { tokens: 400 }), ...rounds(30, 900, 21)];
    const state = { ...counted(behind([buildSummary(1, 1, 20)], items), 29_000), turn: RUNNING };
    const plan = planUnder(policy, state, { limits, trigger: "inline", options: { up_to: 20, keep_recent: null, instructions: null } });
    expect(plan).toMatchObject({ kind: "none" });
  });

  test("covers what lies between two system messages, which stay", () => {
    const state = counted(behind([], [item(1, "system"), ...chat(10, 400, 2), item(12, "system"), ...chat(50, 400, 13)]), 30_000);
    const done = carriedOut(state, planUnder(policy, state, { limits }), { limits });
    expect(done.view.items.slice(0, 2).map(({ position, kind }) => [position, kind])).toEqual([
      [1, "system"],
      [12, "system"],
    ]);
  });

  test("weighs at most what the policy, the model's output and a quarter of the window allow", () => {
    const oneclaw = toPolicy("oneclaw");
    expect([
      toSummaryCap(toLimits(200_000, 64_000), oneclaw),
      toSummaryCap(toLimits(200_000, 700), oneclaw),
      toSummaryCap(toLimits(4_000, 2_000), oneclaw),
    ]).toEqual([2_048, 700, 1_000]);
  });

  test("has the time of the oldest message that stays as compact_boundary_timestamp", () => {
    const rung = planned([], 1);
    expect(rung.boundary_timestamp).toBe(rung.range.to + 1);
  });
});

test("a conversation that goes on and on keeps a chain within its share, and loses no position", () => {
  let state = counted(behind([], []), 0);
  for (let n = 1; n <= 40; n++) {
    const first = state.next_position;
    const items = [...state.view.items, ...chat(20, 400, first)];
    const grown = behind(state.view.overlays, items, { compaction: state.compaction, next_position: first + 20 });
    state = { ...counted({ ...grown, view: { ...grown.view, epoch: state.view.epoch } }, 30_000) };
    state = carriedOut(state, planUnder(policy, state, { limits }), { limits, tokens: 600, n: 100 + n });
    const shown = [...state.view.overlays, ...state.view.items.map(({ position }) => ({ from: position, to: position }))];
    expect(shown.reduce((next, { from, to }) => (from === next ? to + 1 : Number.NaN), 1)).toBe(state.next_position);
    expect(state.view.overlays.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(3_000);
  }
  expect(state.next_position).toBe(801);
});
