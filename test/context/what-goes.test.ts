/** Items that stay between summaries, and items that trimming hid: later compactions lose neither. */
import { describe, expect, test } from "vitest";
import { planCompaction } from "../../src/context/planner";
import { resolvePolicy } from "../../src/context/policy-choice";
import { propose } from "../../src/context/proposal";
import type { Breaker } from "../../src/domain/breaker";
import type { CompactionTrigger, Overlay } from "../../src/domain/compaction-events";
import type { ItemMeta } from "../../src/domain/message";
import type { OpenTurn, SessionState } from "../../src/domain/state";
import { toWeighedView } from "../../src/domain/view";
import { id, item, plainModel, turnId, viewing } from "../support/builders";

const limits = { model: plainModel(), window: 8_000, maxOutput: 1_024, prices: null };
const policy = resolvePolicy({ preset: "balanced", summary: { chain_ratio: 0.5 } });
const input = (state: SessionState, trigger: CompactionTrigger = "manual") => ({ state, limits, policy, trigger, now: 0 });

const chat = (from: number, to: number): ItemMeta[] =>
  Array.from({ length: to - from + 1 }, (_, index) => item(from + index, (from + index) % 2 === 1 ? "user" : "assistant", { tokens: 400 }));
const summary: Overlay = {
  id: id("ovl", 1),
  kind: "summary",
  from: 1,
  to: 14,
  items: 13,
  tokens: 50,
  boundary_timestamp: 15,
  generation: 0,
};
const trimmed = (from: number, to: number): Overlay => ({ id: id("ovl", 2), kind: "dropped", from, to, items: to - from + 1, tokens: 0 });

const showing = (overlays: readonly Overlay[], items: readonly ItemMeta[]): SessionState => {
  const state = viewing(items);
  return { ...state, view: toWeighedView({ ...state.view, overlays, items }) };
};

const findSummarizeRung = (state: SessionState) => {
  const plan = planCompaction(input(state));
  return plan.kind === "compact" ? plan.rungs.find((rung) => rung.rung === "summarize") : undefined;
};

describe("the next summary of a chain", () => {
  test("reads a message that an earlier one left standing in its range", () => {
    const state = showing([summary], [item(7, "user", { tokens: 300 }), ...chat(15, 30)]);
    expect(findSummarizeRung(state)).toMatchObject({ merge: false, range: { from: 7 }, source: { from: 7 }, replaces: [] });
  });

  test("reads what was trimmed inside the range of an earlier one", () => {
    const state = showing([summary, trimmed(7, 7)], chat(15, 30));
    expect(findSummarizeRung(state)).toMatchObject({ range: { from: 7 }, source: { from: 7 }, replaces: [id("ovl", 2)] });
  });

  test("begins after the newest, which is the one that ends last, also where an earlier one begins later", () => {
    const note: Overlay = { ...summary, id: id("ovl", 2), from: 15, to: 18 };
    const newest: Overlay = { ...summary, id: id("ovl", 3), from: 7, to: 24 };
    const state = showing([summary, newest, note], chat(25, 40));
    expect(findSummarizeRung(state)).toMatchObject({ range: { from: 25 }, source: { from: 25 } });
  });

  test("begins after the one before it when nothing was left behind", () => {
    const state = showing([summary], chat(15, 30));
    expect(findSummarizeRung(state)).toMatchObject({ range: { from: 15 }, source: { from: 15 } });
  });
});

test("what was trimmed is covered to its end, though a message inside it is the last that goes, and what is newer stays shown", () => {
  const few = resolvePolicy({ preset: "oneclaw", keep: { messages: 3 } });
  const shown = [item(7, "user"), item(15, "user"), item(18, "user"), item(19, "assistant"), ...chat(21, 21)];
  const plan = planCompaction({ ...input(showing([trimmed(1, 20)], shown)), policy: few });
  const rung = plan.kind === "compact" ? plan.rungs.find((step) => step.rung === "summarize") : undefined;
  expect(rung).toMatchObject({ range: { from: 1, to: 20 }, keeps: [18, 19], replaces: [id("ovl", 2)], items: 22 });
});

describe("a summary by the turn's own prefix", () => {
  const warm = (state: SessionState): SessionState => ({
    ...state,
    anchor: { epoch: 0, holds_in: 0, model: "test-model", up_to: 30, input: 6_000, output: 0, reply_to: 30, fixed: 0, at: 0 },
  });

  test("is asked for when reading it from the cache is cheaper", () => {
    expect(propose(input(warm(showing([], chat(1, 30)))))?.priced.mode).toBe("same_prefix");
  });

  test("is never asked for over trimmed messages, which that request does not show", () => {
    expect(propose(input(warm(showing([trimmed(1, 4)], chat(5, 30)))))?.priced.mode).toBe("transcript");
  });
});

test("the question that is being answered stays when no summary can be had", () => {
  const turn: OpenTurn = {
    id: turnId(1),
    incarnation: "a",
    attempt: 1,
    stalled_lives: 1,
    started_at: 0,
    phase: "generating",
    open_calls: [],
    tools: null,
    calls: 3,
    rounds: 3,
  };
  const rounds = Array.from({ length: 10 }, (_, index) => item(6 + index, "assistant", { tokens: 700 }));
  const state = { ...viewing([...chat(1, 4), item(5, "user", { tokens: 300 }), ...rounds]), turn };

  const plan = planCompaction(input(state, "overflow"));

  expect(plan).toMatchObject({ kind: "compact" });
  const drops = plan.kind === "compact" ? plan.fallback.flatMap((rung) => (rung.rung === "drop" ? [rung] : [])) : [];
  expect(drops.length).toBeGreaterThan(1);
  expect(drops.filter(({ from, to }) => from <= 5 && 5 <= to)).toEqual([]);
});

describe("while the breaker is open", () => {
  const refused = (breaker: Breaker | null): SessionState => {
    const state = showing([], chat(1, 30));
    return { ...state, compaction: { ...state.compaction, breaker } };
  };
  const listRungs = (state: SessionState): string[] => {
    const plan = planCompaction(input(state, "threshold"));
    return plan.kind === "compact" ? plan.rungs.map(({ rung }) => rung) : [];
  };

  test("no summary is asked for, and what must leave is dropped", () => {
    expect(listRungs(refused(null))).toEqual(["summarize"]);
    expect(listRungs(refused({ appended: 0, needed: 2_000 }))).toEqual(["drop"]);
  });

  test("until enough was appended", () => {
    expect(listRungs(refused({ appended: 1_999, needed: 2_000 }))).toEqual(["drop"]);
    expect(listRungs(refused({ appended: 2_000, needed: 2_000 }))).toEqual(["summarize"]);
  });
});
