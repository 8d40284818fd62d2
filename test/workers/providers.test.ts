/** The providers' packages in workerd: loaded on the first call, their streams read and closed. */
import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../../src/app/ports";
import type { Provider } from "../../src/context/model-input";
import { collect, modelRequest, modelSpec, spokenText, user } from "../model/model-request";
import { type Read, scripted, streamed, toStream } from "../model/scripted";

const request = (provider: Provider, upstream_id: string): ModelRequest =>
  modelRequest({ model: modelSpec({ provider, upstream_id, base_url: null }), system: "Be brief.", messages: [user("Hello – 日本語 🦒")] });

interface Case {
  readonly provider: Provider;
  readonly upstream_id: string;
  readonly begins: readonly Read[];
  readonly ends: readonly Read[];
}

const response = { id: "resp_1", created_at: 1, model: "m" };
const cases: readonly Case[] = [
  {
    provider: "openai",
    upstream_id: "gpt-5.1",
    begins: [
      { type: "response.created", response },
      { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "msg_1" } },
      { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, delta: "Grüße 🦒" },
    ],
    ends: [
      { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "msg_1" } },
      { type: "response.completed", response: { usage: { input_tokens: 9, output_tokens: 3 } } },
    ],
  },
  {
    provider: "anthropic",
    upstream_id: "claude-sonnet-4-5-20250929",
    begins: [
      { type: "message_start", message: { id: "msg_1", role: "assistant", content: [], usage: { input_tokens: 9, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Grüße 🦒" } },
    ],
    ends: [
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
      { type: "message_stop" },
    ],
  },
  {
    provider: "google",
    upstream_id: "gemini-2.5-flash",
    begins: [{ candidates: [{ content: { role: "model", parts: [{ text: "Grüße 🦒" }] } }] }],
    ends: [{ candidates: [{ finishReason: "STOP" }], usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 } }],
  },
  {
    provider: "openai-chat",
    upstream_id: "gpt-5.1",
    begins: [{ choices: [{ index: 0, delta: { content: "Grüße 🦒" } }] }],
    ends: [
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 3 } },
      "data: [DONE]\n\n",
    ],
  },
];

describe.each(cases)("$provider in workerd", ({ provider, upstream_id, begins, ends }) => {
  it("is asked as it was rendered, and read to its end", async () => {
    const { sent, model, ask } = scripted(() => streamed(...begins, ...ends));
    const rendered = await model.render(request(provider, upstream_id));
    const chunks = await ask(request(provider, upstream_id));
    expect(rendered).toEqual({ url: sent[0]?.url, body: sent[0]?.raw });
    expect(spokenText(chunks)).toBe("Grüße 🦒");
    expect(chunks.at(-1)).toMatchObject({ type: "finish", finish: "stop", usage: { input: 9, output: 3 } });
  });

  it("is closed when it is stopped in the middle", async () => {
    let closed = 0;
    const { model } = scripted(() => new Response(toStream(begins, { open: true, onCancel: () => closed++ })));
    const controller = new AbortController();
    const seen: string[] = [];
    for await (const chunk of model.stream(request(provider, upstream_id), { signal: controller.signal })) {
      seen.push(chunk.type === "failure" ? chunk.failure.kind : chunk.type);
      if (chunk.type === "text" && chunk.text !== "") controller.abort();
    }
    expect(seen.at(-1)).toBe("aborted");
    expect(closed).toBe(1);
  });

  it("that refuses is a failure with its class and the wait that it asks for", async () => {
    const error = { error: { type: "rate_limit_error", code: "rate_limit_exceeded", message: "Rate limit reached." } };
    const { ask } = scripted(() => Response.json(error, { status: 429, headers: { "retry-after": "2" } }));
    expect(await ask(request(provider, upstream_id))).toMatchObject([
      { type: "failure", failure: { kind: "rate_limit", status: 429, retry_after_ms: 2_000 } },
    ]);
  });
});

it("Workers AI is run through its binding", async () => {
  const { createChatModel } = await import("../../src/model/chat-model");
  const ran: unknown[] = [];
  const run = async (name: string, inputs: unknown) => {
    ran.push(name, JSON.stringify(inputs));
    return toStream([{ response: "Grüße 🦒" }, "data: [DONE]\n\n"]);
  };
  const model = createChatModel({ credentials: async () => null, estimate: (text) => text.length, ai: { run } as unknown as Ai });
  const asked = request("workers-ai", "@cf/meta/llama-4-scout");
  const chunks = await collect(model.stream(asked, { signal: new AbortController().signal }));
  expect(spokenText(chunks)).toBe("Grüße 🦒");
  expect(ran).toEqual(["@cf/meta/llama-4-scout", (await model.render(asked)).body]);
});
