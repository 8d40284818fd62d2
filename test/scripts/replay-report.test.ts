import { expect, test } from "vitest";
import { faultOf, type Report } from "../../scripts/replay/report";

const report = (overflows: number): Report => ({
  turns: 2,
  messages: 4,
  requests: 3,
  peak_tokens: 900,
  window: 16_000,
  overflows,
  compactions: 1,
  summary_tokens: 50,
  wall_ms: 5,
});

test("a replay without an overflow has nothing against it", () => {
  expect(faultOf(report(0))).toBeNull();
});

test.each([
  [1, "1 request was larger than the window of 16000 tokens, and refused."],
  [2, "2 requests were larger than the window of 16000 tokens, and refused."],
])("a replay with an overflow fails, and says how many there were: %i", (overflows, fault) => {
  expect(faultOf(report(overflows))).toBe(fault);
});
