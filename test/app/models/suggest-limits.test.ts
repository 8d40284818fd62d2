import { describe, expect, it } from "vitest";
import type { SuggestedLimit } from "../../../src/app/model-entry";
import { sendSuggestion, withSuggestions } from "../../../src/app/models/suggest-limits";
import type { ChatModel, ModelFailure, ModelRequest, ModelStreamPart } from "../../../src/app/ports";
import { id } from "../../support/builders";

const request: ModelRequest = {
  model: {
    id: "m",
    provider: "openai",
    upstream_id: "gpt-4o",
    base_url: null,
    context_window: 128_000,
    max_output: 4_096,
    source: "tenant",
  },
  purpose: "turn",
  system: null,
  messages: [],
  tools: [],
  maxOutput: null,
};

async function heard(...chunks: readonly ModelStreamPart[]) {
  const model: ChatModel = {
    async *stream() {
      yield* chunks;
    },
    render: async () => ({ url: "", body: "" }),
  };
  const suggested: SuggestedLimit[] = [];
  const passed: ModelStreamPart[] = [];
  const listening = withSuggestions(model, (limit) => void suggested.push(limit));
  for await (const chunk of listening.stream(request, { signal: new AbortController().signal })) passed.push(chunk);
  expect(passed).toEqual(chunks);
  return suggested;
}
const failure = (failed: Partial<ModelFailure>): ModelStreamPart => ({
  type: "failure",
  failure: { kind: "overflow", status: 400, ...failed },
});

describe("a limit in a provider's refusal", () => {
  it("of the whole request is suggested as the window", async () => {
    expect(await heard(failure({ kind: "overflow", limit: 100_000 }))).toEqual([
      { model: "m", context_window: 100_000, source: "provider_error" },
    ]);
  });

  it("of the reply is suggested as the max output", async () => {
    expect(await heard(failure({ kind: "output_cap", limit: 8_192 }))).toEqual([
      { model: "m", max_output: 8_192, source: "provider_error" },
    ]);
  });

  it("of the reply that is only what the request left of the window says the window", async () => {
    expect(await heard(failure({ kind: "output_cap", limit: 3_797, window: 4_097 }))).toEqual([
      { model: "m", context_window: 4_097, source: "provider_error" },
    ]);
  });

  it.each<[string, ModelStreamPart]>([
    ["that names no number", failure({ kind: "overflow" })],
    ["of another kind", failure({ kind: "rate_limit", limit: 100_000 })],
  ])("is none %s", async (_, chunk) => {
    expect(await heard({ type: "text", text: "a" }, chunk)).toEqual([]);
  });

  it("is none where the call ended well", async () => {
    expect(await heard({ type: "text", text: "a" }, { type: "finish", finish: "stop", usage: null })).toEqual([]);
  });
});

it("a suggestion that does not arrive is logged with its tenant and model, and nothing is thrown", async () => {
  const lines: unknown[] = [];
  const note = (event: string, fields?: object): void => void lines.push([event, fields]);
  const away = new Error("out of reach");
  const stub = { suggestLimit: () => Promise.reject(away) };
  const log = { info: note, warn: note, error: note };

  await sendSuggestion({ model: "m", context_window: 4_000, source: "provider_error" }, { tenant: id("ten", 1), stub, log });

  expect(lines).toEqual([["limit.not_suggested", { tenant_id: id("ten", 1), model: "m", error: away }]]);
});
