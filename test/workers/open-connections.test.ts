/** Streams of workerd's own, whose reads fail where those of Node end. */
import { afterEach, expect, it, vi } from "vitest";
import { createChatModel } from "../../src/model/chat-model";
import { LINGER_MS } from "../../src/model/reply-body";
import { collect, modelRequest, modelSpec } from "../model/model-request";

const realSetTimeout = setTimeout;
afterEach(() => vi.useRealTimers());

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: object, finish_reason: string | null = null): string => event({ choices: [{ index: 0, delta, finish_reason }] });

const said = {
  "openai-compatible": [
    chunk({ content: "Hello." }),
    chunk({}, "stop"),
    event({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 4 } }),
  ],
  anthropic: [
    event({ type: "message_start", message: { id: "msg_1", role: "assistant", model: "m", usage: { input_tokens: 9, output_tokens: 1 } } }),
    event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello." } }),
    event({ type: "content_block_stop", index: 0 }),
    event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 4 } }),
    event({ type: "message_stop" }),
  ],
  google: [
    event({
      candidates: [{ content: { role: "model", parts: [{ text: "Hello." }] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 },
    }),
  ],
} as const;

it.each(["openai-compatible", "anthropic", "google"] as const)(
  "a reply of %s ends with its usage soon after everything was said, though the connection stays open",
  async (provider) => {
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    const fetch = async (): Promise<Response> => new Response(readable, { headers: { "content-type": "text/event-stream" } });
    const model = createChatModel({ credentials: async () => null, estimate: (text) => text.length, fetch });
    const request = modelRequest({ model: modelSpec({ provider, base_url: "https://models.example/v1" }) });

    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let ended = false;
    const asked = collect(model.stream(request, { signal: new AbortController().signal })).finally(() => {
      ended = true;
    });
    for (const text of said[provider]) await writer.write(new TextEncoder().encode(text));
    while (!ended) {
      await new Promise((resolve) => realSetTimeout(resolve, 0));
      vi.advanceTimersByTime(LINGER_MS);
    }

    const chunks = await asked;
    expect(chunks.map((each) => ("text" in each ? each.text : "")).join("")).toBe("Hello.");
    expect(chunks.at(-1)).toMatchObject({ type: "finish", finish: "stop", usage: { input: 9, output: 4 } });
  },
);
