/** Where the kept tail begins, to the token (docs/policy.md). */
import { describe, expect, test } from "vitest";
import { cutIndex, viewGroups } from "../../src/context/cut";
import type { Policy } from "../../src/context/policy";
import { resolvePolicy } from "../../src/context/policy-choice";
import type { ItemMeta } from "../../src/domain/message";
import type { OpenTurn, SessionState } from "../../src/domain/state";
import { call, id, item, result, turnId, viewing } from "../support/builders";

const limits = { model: "test-model", window: 16_000, maxOutput: 1_024, prices: null };

/** Answers of 100 tokens, planned as 125 each. */
const answers = (count: number): ItemMeta[] => Array.from({ length: count }, (_, index) => item(index + 1, "assistant", { tokens: 100 }));

const cutOf = (state: SessionState, cut: Policy["keep"]["cut"], budget: number): number => {
  const policy = resolvePolicy({ preset: "balanced", keep: { cut } });
  return cutIndex({ state, limits, policy, trigger: "manual", now: 0 }, viewGroups(state), budget);
};

describe("of eight answers", () => {
  const state = viewing(answers(8));

  test("`fits` keeps the most that are within the budget", () => {
    expect(cutOf(state, "fits", 3 * 125)).toBe(5);
    expect(cutOf(state, "fits", 3 * 125 + 124)).toBe(5);
    expect(cutOf(state, "fits", 4 * 125)).toBe(4);
  });

  test("`fills` keeps the fewest that reach it", () => {
    expect(cutOf(state, "fills", 3 * 125)).toBe(5);
    expect(cutOf(state, "fills", 3 * 125 + 1)).toBe(4);
  });

  test("everything within the budget leaves nothing to go, and the newest stays however large it is", () => {
    expect(cutOf(state, "fits", 8 * 125)).toBe(0);
    expect(cutOf(state, "fits", 1)).toBe(7);
  });
});

test("`next_user` begins at the first question after the budget is exceeded", () => {
  const state = viewing(answers(8).map((known) => (known.position === 7 ? item(7, "user", { tokens: 100 }) : known)));
  expect(cutOf(state, "next_user", 4 * 125)).toBe(6);
});

test("a question within a quarter of the budget before the cut begins the tail", () => {
  const asking = (position: number): SessionState =>
    viewing(answers(12).map((known) => (known.position === position ? item(position, "user", { tokens: 100 }) : known)));
  expect(cutOf(asking(7), "fits", 4 * 125)).toBe(8);
  expect(cutOf(asking(8), "fits", 4 * 125)).toBe(7);
});

test("the cut never goes past a call whose result is owed", () => {
  const turn: OpenTurn = {
    id: turnId(1),
    incarnation: "a",
    attempt: 1,
    started_at: 0,
    phase: "awaiting_tools",
    open_calls: [{ execution: id("exe", 2), call_id: "call_2", name: "look_up" }],
    tools: null,
    rounds: 1,
  };
  const items = [item(1, "user"), call(2, 1), call(3, 2), result(4, 1), ...answers(8).slice(4)];
  expect(cutOf({ ...viewing(items), turn }, "fits", 100)).toBe(1);
});
