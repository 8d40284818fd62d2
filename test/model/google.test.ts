import { describe, expect, it } from "vitest";
import type { ChatMessage, ModelRequest, ModelSpec, ModelStreamPart } from "../../src/app/ports";
import { modelRequest, modelSpec, spokenText, toolCall, toolResult, user } from "./model-request";
import { type Read, scripted, streamed } from "./scripted";

const spec = (changes: Partial<ModelSpec> = {}): ModelSpec =>
  modelSpec({ provider: "google", upstream_id: "gemini-2.5-flash", base_url: null, ...changes });
const request = (changes: Partial<ModelRequest> = {}): ModelRequest => modelRequest({ model: spec(), ...changes });
const failure = (kind: string, status: number | null = null): ModelStreamPart =>
  ({ type: "failure", failure: { kind, status } }) as ModelStreamPart;

const part = (...parts: object[]): object => ({ candidates: [{ content: { role: "model", parts }, index: 0 }] });
const end = (finishReason: string, usageMetadata: object = { promptTokenCount: 10, candidatesTokenCount: 5 }): object => ({
  candidates: [{ content: { role: "model", parts: [] }, finishReason, index: 0 }],
  usageMetadata,
});
const hear = (...reads: readonly Read[]): Promise<readonly ModelStreamPart[]> => scripted(() => streamed(...reads)).ask(request());

describe("the reply", () => {
  it("is text, then the finish with usage: the cache inside the input, thinking inside the output", async () => {
    const usage = { promptTokenCount: 1_000, cachedContentTokenCount: 600, candidatesTokenCount: 20, thoughtsTokenCount: 30 };
    const chunks = await hear(part({ text: "The sky" }), part({ text: " is blue." }), end("STOP", usage));
    expect(chunks).toEqual([
      { type: "text", text: "The sky", block: "0" },
      { type: "text", text: " is blue.", block: "0" },
      { type: "finish", finish: "stop", usage: { input: 1_000, output: 50, cached: 600, reasoning: 30 } },
    ]);
  });

  it("keeps thinking apart and signatures where they stood: on thinking, on text, on a call", async () => {
    const signed = (thoughtSignature: string) => ({ google: { thoughtSignature } });
    const chunks = await hear(
      part({ text: "Hmm.", thought: true, thoughtSignature: "A+/=" }),
      part({ text: "Yes." }),
      part({ text: "", thoughtSignature: "B+/=" }),
      part({ functionCall: { id: "f1", name: "lookup", args: { q: "a" } }, thoughtSignature: "C+/=" }),
      part({ functionCall: { id: "f2", name: "now" } }),
      end("STOP"),
    );
    expect(chunks.slice(0, -1)).toEqual([
      { type: "reasoning", text: "", block: "0", provider_metadata: signed("A+/=") },
      { type: "reasoning", text: "Hmm.", block: "0" },
      { type: "text", text: "Yes.", block: "1" },
      { type: "text", text: "", block: "1", provider_metadata: signed("B+/=") },
      {
        type: "tool_call",
        call: { type: "tool_call", call_id: "f1", name: "lookup", arguments: '{"q":"a"}', provider_metadata: signed("C+/=") },
      },
      { type: "tool_call", call: { type: "tool_call", call_id: "f2", name: "now", arguments: "{}" } },
    ]);
    expect(chunks.at(-1)).toMatchObject({ type: "finish", finish: "tool_calls" });
  });

  it.each([
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content_filter"],
    ["LANGUAGE", "other"],
  ])("that ends by %s says %s", async (reason, finish) => {
    expect((await hear(part({ text: "So" }), end(reason))).at(-1)).toMatchObject({ type: "finish", finish });
  });

  it("whose call came out malformed is a failure", async () => {
    expect(await hear(end("MALFORMED_FUNCTION_CALL"))).toEqual([failure("unavailable")]);
  });
});

describe("a failure is the last chunk", () => {
  it("by the provider's answer", async () => {
    const error = {
      error: {
        code: 400,
        status: "INVALID_ARGUMENT",
        message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      },
    };
    const provider = scripted(() => new Response(JSON.stringify(error), { status: 400, headers: { "content-type": "application/json" } }));
    expect(await provider.ask(request())).toMatchObject([{ type: "failure", failure: { kind: "overflow", status: 400 } }]);
  });

  it("with the wait that stands in the answer's body", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "27.4s" }];
    const error = { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Too many requests.", details } };
    const provider = scripted(() => Response.json(error, { status: 429 }));
    expect(await provider.ask(request())).toMatchObject([
      { type: "failure", failure: { kind: "rate_limit", status: 429, retry_after_ms: 27_400 } },
    ]);
  });

  it("by a block of the prompt, whatever else is reported", async () => {
    expect(await hear({ promptFeedback: { blockReason: "SAFETY" } }, { usageMetadata: { promptTokenCount: 9 } })).toMatchObject([
      failure("refused"),
    ]);
  });

  it("by an error in the stream, and by an end without a finish", async () => {
    const error = { error: { code: 503, status: "UNAVAILABLE", message: "The model is overloaded." } };
    const late = await hear(part({ text: "So" }), error);
    expect(spokenText(late)).toBe("So");
    expect(late.at(-1)).toMatchObject(failure("unavailable", 503));
    expect((await hear(part({ text: "So" }))).at(-1)).toEqual(failure("unavailable"));
  });
});

const sentFor = async (changes: Partial<ModelRequest>) => {
  const provider = scripted(() => streamed());
  const rendered = await provider.model.render(request(changes));
  await provider.ask(request(changes));
  const [sent] = provider.sent;
  if (!sent) throw new Error("nothing was sent");
  expect(rendered).toEqual({ url: sent.url, body: sent.raw });
  return sent;
};

describe("the request", () => {
  it("names the model in its address and carries the key in a header alone", async () => {
    const { url, headers } = await sentFor({});
    expect(url).toBe("https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
    expect(headers.get("x-goog-api-key")).toBe("the-key");
  });

  it("caps the reply only when there is a cap, and turns thinking off only when asked", async () => {
    expect((await sentFor({ maxOutput: 77 })).body.generationConfig).toEqual({ maxOutputTokens: 77 });
    expect((await sentFor({ maxOutput: null })).body.generationConfig ?? {}).toEqual({});
    expect((await sentFor({ maxOutput: null, reasoning: "off" })).body.generationConfig).toEqual({ thinkingConfig: { thinkingBudget: 0 } });
  });

  it("sends signatures back as they came, all results of a response in one turn, and thinking only if it is signed", async () => {
    const signed = (thoughtSignature: string) => ({ provider_metadata: { google: { thoughtSignature } } });
    const parts: ChatMessage["parts"] = [
      { type: "reasoning", text: "Signed.", ...signed("A+/=") },
      { type: "reasoning", text: "Not signed." },
      { type: "reasoning", text: "Theirs.", provider_metadata: { anthropic: { signature: "EqQB" } } },
      { type: "text", text: "", ...signed("B+/=") },
      toolCall({ call_id: "f1", name: "lookup", arguments: '{"q":"a"}', ...signed("C+/=") }),
      toolCall({ call_id: "f1", name: "lookup", arguments: "{broken" }),
    ];
    const { body } = await sentFor({
      messages: [user("Hi"), { role: "assistant", parts }, toolResult("f1", "one"), toolResult("f1", "two")],
    });
    expect(body.contents[1].parts).toEqual([
      { text: "Signed.", thought: true, thoughtSignature: "A+/=" },
      { text: "", thoughtSignature: "B+/=" },
      { functionCall: { id: "f1", name: "lookup", args: { q: "a" } }, thoughtSignature: "C+/=" },
      { functionCall: { id: "f1_2", name: "lookup", args: { invalid_arguments: "{broken" } } },
    ]);
    expect(body.contents[2].parts.map(({ functionResponse }: { functionResponse: { id: string } }) => functionResponse.id)).toEqual([
      "f1",
      "f1_2",
    ]);
    expect(body.contents).toHaveLength(3);
  });

  it("sends media by reference only where the model fetches it", async () => {
    const messages: ChatMessage[] = [{ role: "user", parts: [{ type: "image", url: "https://e.com/a.png", media_type: "image/png" }] }];
    const newer = await sentFor({ messages });
    expect(newer.body.contents[0].parts).toEqual([{ fileData: { mimeType: "image/png", fileUri: "https://e.com/a.png" } }]);
    const older = await sentFor({ messages, model: spec({ upstream_id: "gemini-2.0-flash" }) });
    expect(older.body.contents[0].parts).toEqual([{ text: "[file: image/png (image/png) https://e.com/a.png]" }]);
  });

  it("says a system message that is not in front as a user's", async () => {
    const late = { role: "system", parts: [{ type: "text", text: "Now loud." }] } as const;
    const { body } = await sentFor({ system: "Be brief.", messages: [user("Hi"), late] });
    expect(body.systemInstruction).toEqual({ parts: [{ text: "Be brief." }] });
    expect(body.contents[1].parts).toEqual([{ text: "[System message: Now loud.]" }]);
  });
});
