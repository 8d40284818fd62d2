/** The stand-ins themselves: each provider's own SDK sends requests to its stand-in, and reads the responses. */
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { ANTHROPIC_KEY, createAnthropic } from "../support/stand-in/providers/anthropic/anthropic.ts";
import { createGoogle, GOOGLE_KEY } from "../support/stand-in/providers/google/google.ts";
import { createChat } from "../support/stand-in/providers/openai/chat.ts";
import { OPENAI_KEY } from "../support/stand-in/providers/openai/errors.ts";
import { createResponses } from "../support/stand-in/providers/openai/responses.ts";
import { type ProviderStandIn, startProvider } from "../support/stand-in/providers/provider-server.ts";
import type { Dialect, ScriptedReply } from "../support/stand-in/providers/script.ts";

const standIns: ProviderStandIn[] = [];
afterEach(async () => {
  for (const standIn of standIns.splice(0)) await standIn.close();
});

async function start(dialect: Dialect): Promise<{ readonly standIn: ProviderStandIn; readonly baseUrl: string }> {
  const standIn = await startProvider(dialect);
  standIns.push(standIn);
  return { standIn, baseUrl: standIn.baseUrl ?? "" };
}

/** Thinking, two parallel calls and text in several scripts, written byte by byte. */
const rich: ScriptedReply = {
  blocks: [
    { type: "thinking", text: "The weather – in Zürich 天気 🌦 – is needed." },
    { type: "text", text: "Let me look: “Zürich”, 東京, 🦒." },
    { type: "call", name: "lookup", arguments: '{"q":"Zürich"}' },
    { type: "call", name: "lookup", arguments: '{"q":"東京"}' },
  ],
  bytes: 1,
};

const parameters = { type: "object", properties: { q: { type: "string" } } } as const;
const window = 20_000;

describe("the providers' own clients read what the stand-ins write", () => {
  it("openai, Responses", async () => {
    const { standIn, baseUrl } = await start(createResponses({ window }));
    standIn.enqueue(rich);
    const client = new OpenAI({ apiKey: OPENAI_KEY, baseURL: baseUrl, maxRetries: 0 });
    const tools = [{ type: "function" as const, name: "lookup", parameters, strict: false }];
    const stream = client.responses.stream({
      model: "gpt-6-sol",
      input: [{ role: "user", content: "Weather?" }],
      store: false,
      tools,
      include: ["reasoning.encrypted_content"],
    });
    const response = await stream.finalResponse();
    expect(response.output_text).toBe("Let me look: “Zürich”, 東京, 🦒.");
    expect(response.output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call", "function_call"]);
    expect(response.usage?.input_tokens).toBe(standIn.log[0]?.usage?.input);
  });

  it("openai, chat completions", async () => {
    const { standIn, baseUrl } = await start(createChat({ window, style: "openai" }));
    standIn.enqueue(rich);
    const client = new OpenAI({ apiKey: OPENAI_KEY, baseURL: baseUrl, maxRetries: 0 });
    const tools = [{ type: "function" as const, function: { name: "lookup", parameters } }];
    const stream = client.chat.completions.stream({
      model: "gpt-4o",
      messages: [{ role: "user", content: "Weather?" }],
      tools,
      stream_options: { include_usage: true },
    });
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]?.message.content).toBe("Let me look: “Zürich”, 東京, 🦒.");
    expect(completion.choices[0]?.message.tool_calls?.map((call) => call.type === "function" && call.function.arguments)).toEqual([
      '{"q":"Zürich"}',
      '{"q":"東京"}',
    ]);
    expect(completion.usage?.prompt_tokens).toBe(standIn.log[0]?.usage?.input);
  });

  it("@anthropic-ai/sdk, and takes back what it gave out", async () => {
    const { standIn, baseUrl } = await start(createAnthropic({ window, maxOutput: 8_192 }));
    standIn.enqueue(rich, { blocks: [{ type: "text", text: "Rain." }] });
    const client = new Anthropic({ apiKey: ANTHROPIC_KEY, baseURL: new URL(baseUrl).origin, maxRetries: 0 });
    const shared = { model: "claude-sonnet-5-5", max_tokens: 4_096, tools: [{ name: "lookup", input_schema: parameters }] };
    const message = await client.messages.stream({ ...shared, messages: [{ role: "user", content: "Weather?" }] }).finalMessage();
    expect(message.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use", "tool_use"]);
    expect(message.content.flatMap((block) => (block.type === "tool_use" ? [block.input] : []))).toEqual([{ q: "Zürich" }, { q: "東京" }]);
    const results = message.content.flatMap((block) =>
      block.type === "tool_use" ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "rain" }] : [],
    );
    const content = message.content.map((block) => (block.type === "text" ? { type: block.type, text: block.text } : block));
    const said: Anthropic.MessageParam[] = [
      { role: "user", content: "Weather?" },
      { role: "assistant", content },
      { role: "user", content: results },
    ];
    const last = await client.messages.stream({ ...shared, messages: said }).finalText();
    expect(last).toBe("Rain.");
  });

  it("@google/genai, and takes back what it gave out", async () => {
    const { standIn, baseUrl } = await start(createGoogle({ window }));
    standIn.enqueue(rich, { blocks: [{ type: "text", text: "Rain." }] });
    const client = new GoogleGenAI({ apiKey: GOOGLE_KEY, httpOptions: { baseUrl: new URL(baseUrl).origin, apiVersion: "v1beta" } });
    const config = {
      tools: [{ functionDeclarations: [{ name: "lookup", parametersJsonSchema: parameters }] }],
      thinkingConfig: { includeThoughts: true },
    };
    const parts = [];
    const asked = { role: "user", parts: [{ text: "Weather?" }] };
    for await (const chunk of await client.models.generateContentStream({ model: "gemini-3.5-flash", contents: [asked], config }))
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    expect(parts.map(({ text, thought }) => (thought ? "" : (text ?? ""))).join("")).toBe("Let me look: “Zürich”, 東京, 🦒.");
    const calls = parts.filter(({ functionCall }) => functionCall);
    const results = calls.map(({ functionCall }) => ({
      functionResponse: { name: functionCall?.name ?? "", response: { output: "rain" } },
    }));
    const contents = [asked, { role: "model", parts: calls }, { role: "user", parts: results }];
    let said = "";
    for await (const chunk of await client.models.generateContentStream({ model: "gemini-3.5-flash", contents, config }))
      said += chunk.text ?? "";
    expect(said).toBe("Rain.");
  });
});
