/** Planning on a view that was never compacted, as after the import of a long record: its cost grows linearly with the view. */
import { expect, test } from "vitest";
import { planGuard } from "../../src/context/guard";
import { toPolicy } from "../../src/context/policy-choice";
import type { SessionState } from "../../src/domain/state";
import { call, result, viewing } from "../support/builders";
import { chat, planUnder, toLimits } from "./planning";

const limits = toLimits(8_000);
const [SMALL, LARGE] = [4_096, 65_536];
/** The same work in small views as in one large view: linear is 1, quadratic 16. Garbage collection for the large one adds to it. */
const MOST_GROWTH = 6;

/** The process's CPU time for planning over the same number of items in total, the minimum of several runs. */
function measureCpu(size: number, work: () => void): number {
  const tries = [1, 2].map(() => {
    const before = process.cpuUsage();
    for (let done = 0; done < LARGE; done += size) work();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...tries);
}

test.each([
  ["the guard's plan", (state: SessionState) => planGuard({ state, limits, policy: toPolicy("balanced") })],
  ["a plan that makes room", (state: SessionState) => planUnder("balanced", state, { trigger: "inline", limits })],
  ["a plan after a refusal", (state: SessionState) => planUnder("balanced", state, { trigger: "overflow", limits })],
])("%s takes time in proportion to the view", (_, plan) => {
  const growth = [SMALL, LARGE].map((size) => {
    const state = viewing(chat(size, 20));
    expect(plan(state).kind).toBe("compact");
    return measureCpu(size, () => void plan(state));
  });
  expect((growth[1] ?? 0) / (growth[0] ?? 1)).toBeLessThan(MOST_GROWTH);
});

test("the placeholder of a cleared result is measured once, however often the view is planned", () => {
  let reads = 0;
  const count = (id: string): string => {
    reads += 1;
    return id;
  };
  const counted = chat(40, 20).flatMap((item, index) => {
    const answer = result(1_000 + 2 * index + 1, 1_000 + 2 * index, { tokens: 400 });
    const { tool } = answer;
    if (!tool) throw new Error("a result names its call");
    const watched = Object.defineProperty({ ...tool }, "call_id", { enumerable: true, get: () => count(tool.call_id) });
    return [item, call(1_000 + 2 * index, 1_000 + 2 * index, { tokens: 20 }), { ...answer, tool: watched }];
  });
  const state = viewing(counted.toSorted((one, other) => one.position - other.position));
  const plan = () => planUnder("balanced", state, { trigger: "threshold", limits });

  expect(plan().kind).toBe("compact");
  const first = reads;
  reads = 0;
  plan();

  // Results in the tail may be shortened, and their size is computed each time.
  expect(reads).toBeLessThan(first / 4);
});
