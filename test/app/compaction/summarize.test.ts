/** The outcomes of one summariser call. */
import { describe, expect, test } from "vitest";
import { summarize } from "../../../src/app/compaction/summarize";
import type { ChatModel, ModelStreamPart } from "../../../src/app/ports";
import { checkSummary } from "../../../src/context/summary-check";
import { modelRequest, toolCall } from "../../model/model-request";
import { FakeSchedule } from "../../support/fake-schedule";

const usage = { input: 100, output: 10, cached: 0, reasoning: 0 };
const text: ModelStreamPart = { type: "text", text: "They spoke." };
const call: ModelStreamPart = { type: "tool_call", call: toolCall({ call_id: "c1", name: "look", arguments: "{}" }) };

function summarizeAs(...chunks: ModelStreamPart[]) {
  const { now, schedule } = new FakeSchedule();
  const model: ChatModel = {
    async *stream() {
      yield* chunks;
    },
    render: async () => ({ url: "", body: "" }),
  };
  const log = { info() {}, warn() {}, error() {} };
  return summarize(modelRequest(), { timeoutMs: 1_000, mayRepeat: () => true }, { model, clock: now, schedule, log });
}

describe("an answer that holds a tool call ends as one, whatever the provider says, and is no summary", () => {
  test.each([
    ["after its text, though it ends as if it were whole", [text, call, { type: "finish", finish: "stop", usage }]],
    ["before its text", [call, text, { type: "finish", finish: "stop", usage }]],
    ["and ends with it", [text, call, { type: "finish", finish: "tool_calls", usage }]],
    ["and nothing else", [call, { type: "finish", finish: "tool_calls", usage }]],
  ] as const)("%s", async (_how, chunks) => {
    const outcome = await summarizeAs(...chunks);

    expect(outcome).toMatchObject({ ok: true, finish: "tool_calls", usage });
    expect(outcome.ok && checkSummary({ ...outcome, form: "narrative", cap: 1_000, ratio: 1 }).ok).toBe(false);
  });
});

test("an answer of text alone is handed on with how it ended", async () => {
  const ended: ModelStreamPart = { type: "finish", finish: "length", usage };
  expect(await summarizeAs(text, text, ended)).toMatchObject({ ok: true, text: "They spoke.They spoke.", finish: "length", usage });
});

test("a provider's failure after a tool call is told as what it is", async () => {
  const failed: ModelStreamPart = { type: "failure", failure: { kind: "rate_limit", status: 429 } };
  expect(await summarizeAs(call, failed)).toMatchObject({ ok: false, failure: "rate_limit" });
});
