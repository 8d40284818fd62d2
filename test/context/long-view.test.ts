/** What planning costs on a view that was never compacted, as after an import of a long record: it grows as the view does. */
import { expect, test } from "vitest";
import { planGuard } from "../../src/context/guard";
import { policyOf } from "../../src/context/policy-choice";
import type { SessionState } from "../../src/domain/state";
import { viewing } from "../support/builders";
import { chat, limitsOf, planUnder } from "./planning";

const limits = limitsOf(8_000);
const [SMALL, LARGE] = [4_096, 65_536];
/** Between the 16 times of linear work and the 256 times of quadratic work. */
const MOST_GROWTH = 48;

/** The process's own CPU time, the least of some tries. */
function cpuOf(work: () => void): number {
  const tries = [1, 2].map(() => {
    const before = process.cpuUsage();
    work();
    return process.cpuUsage(before).user;
  });
  return Math.min(...tries);
}

test.each([
  ["the guard's plan", (state: SessionState) => planGuard({ state, limits, policy: policyOf("balanced") })],
  ["a plan that makes room", (state: SessionState) => planUnder("balanced", state, { trigger: "inline", limits })],
  ["a plan after a refusal", (state: SessionState) => planUnder("balanced", state, { trigger: "overflow", limits })],
])("%s takes time in proportion to the view", (_, plan) => {
  const growth = [SMALL, LARGE].map((size) => {
    const state = viewing(chat(size, 20));
    expect(plan(state).kind).toBe("compact");
    return cpuOf(() => void plan(state));
  });
  expect((growth[1] ?? 0) / (growth[0] ?? 1)).toBeLessThan(MOST_GROWTH);
});
