import { expect, test } from "vitest";
import { findFault, formatTable, type Report, toReport } from "../../scripts/replay/report";

const report = (overflows: number): Report => ({
  turns: 2,
  messages: 4,
  requests: 3,
  peak_tokens: 900,
  window: 16_000,
  overflows,
  compactions: 1,
  summary_calls: 2,
  drops_without_summary: 3,
  summary_tokens: 50,
  wall_ms: 5,
});

test("a replay without an overflow has nothing against it", () => {
  expect(findFault(report(0))).toBeNull();
});

test.each([
  [1, "1 request was larger than the window of 16000 tokens, and refused."],
  [2, "2 requests were larger than the window of 16000 tokens, and refused."],
])("a replay with an overflow fails, and says how many there were: %i", (overflows, fault) => {
  expect(findFault(report(overflows))).toBe(fault);
});

test("a report counts every call of a summariser, and says how many drops had no summary", () => {
  const entry = { at: 0, raw: "", body: { model: "m", messages: [] }, authorization: null, aborted: false, cut: false, overflow: false };
  const log = [
    { ...entry, kind: "turn", status: 200, prompt_tokens: 90, completion_tokens: 5 },
    { ...entry, kind: "compaction", status: 200, prompt_tokens: 80, completion_tokens: 9 },
    { ...entry, kind: "compaction", status: 503, prompt_tokens: 80, completion_tokens: 0 },
  ] as const;
  const made = toReport(log, { turns: 1, messages: 2, window: 100, wall_ms: 1, drops_without_summary: 4 });
  expect(made).toMatchObject({ requests: 3, compactions: 1, summary_calls: 2, drops_without_summary: 4 });
  expect(formatTable(made)).toMatch(/calls for summaries +2\ndrops without a summary +4/);
});
