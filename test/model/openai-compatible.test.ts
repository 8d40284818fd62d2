import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { CallOptions, ModelRequest, ModelSpec } from "../../src/app/ports";
import { createChatModel } from "../../src/model/chat-model";
import { type StandIn, startStandIn } from "../support/stand-in/stand-in.ts";
import { assistant, collect, modelRequest, modelSpec, spokenText, toolCall, toolResult, user } from "./model-request";

let standIn: StandIn;
beforeAll(async () => {
  standIn = await startStandIn({ window: 2_000, reserve: 100 });
});
afterAll(() => standIn.close());
beforeEach(() => standIn.clearLog());

const model = createChatModel({
  credentials: async ({ credential }) => (credential === undefined ? null : `key of ${credential}`),
  estimate: (text) => text.length,
});
const never = (): AbortSignal => new AbortController().signal;
const spec = (changes: Partial<ModelSpec> = {}) => modelSpec({ base_url: standIn.baseUrl, ...changes });
const request = (changes: Partial<ModelRequest> = {}) => modelRequest({ model: spec(), ...changes });
const ask = (changes: Partial<ModelRequest> = {}, options: Partial<CallOptions> = {}) =>
  collect(model.stream(request(changes), { signal: never(), ...options }));

/** A conversation with every kind of content that a body can contain. */
const rich: Partial<ModelRequest> = {
  system: "Be brief.",
  tools: [{ name: "lookup", description: "Looks things up.", parameters: { type: "object", properties: { q: { type: "string" } } } }],
  messages: [
    {
      role: "user",
      parts: [
        { type: "text", text: "What is this? – “naïve” 日本語 🦒" },
        { type: "image", url: "https://example.com/a.png", media_type: "image/png" },
        { type: "file", url: "https://example.com/b.pdf", media_type: "application/pdf", name: "b.pdf" },
      ],
    },
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "I should look it up." },
        { type: "text", text: "Looking." },
        toolCall({ call_id: "call_1", name: "lookup", arguments: '{ "q" : "a",\n "n": 1.0 }' }),
        toolCall({ call_id: "call_1", name: "lookup", arguments: "{broken" }),
      ],
    },
    toolResult("call_1", '{"found": true}'),
    toolResult("call_1", "nothing"),
    assistant("Found."),
    user("Thanks"),
  ],
};

describe("the request", () => {
  it("is told to the caller exactly as the provider receives it", async () => {
    standIn.enqueue({ text: "You are welcome." });
    const told: string[] = [];
    await ask(rich, { onRequest: (body) => told.push(body) });
    expect(told).toEqual([standIn.log[0]?.raw]);
  });

  it("is rendered byte for byte as it is sent, without being sent", async () => {
    const rendered = await model.render(request(rich));
    expect(standIn.log).toHaveLength(0);
    standIn.enqueue({ text: "You are welcome." });
    await ask(rich);
    expect(rendered.body).toBe(standIn.log[0]?.raw);
    expect(rendered.url).toBe(`${standIn.baseUrl}/chat/completions`);
  });

  it("carries repeated call ids and the arguments as the model wrote them", async () => {
    standIn.enqueue({ text: "You are welcome." });
    await ask(rich);
    const messages = standIn.log[0]?.body.messages ?? [];
    expect(messages[2]?.tool_calls).toEqual([
      { id: "call_1", type: "function", function: { name: "lookup", arguments: '{ "q" : "a",\n "n": 1.0 }' } },
      { id: "call_1", type: "function", function: { name: "lookup", arguments: "{broken" } },
    ]);
    expect(messages.slice(3, 5)).toEqual([
      { role: "tool", tool_call_id: "call_1", content: '{"found": true}' },
      { role: "tool", tool_call_id: "call_1", content: "nothing" },
    ]);
  });

  it("sends images by reference, names other files, and leaves unsigned reasoning out", async () => {
    standIn.enqueue({ text: "You are welcome." });
    await ask(rich);
    const messages = standIn.log[0]?.body.messages ?? [];
    expect(messages[1]?.content).toEqual([
      { type: "text", text: "What is this? – “naïve” 日本語 🦒" },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "text", text: "[file: b.pdf (application/pdf) https://example.com/b.pdf]" },
    ]);
    expect(Object.keys(messages[2] ?? {})).toEqual(["role", "content", "tool_calls"]);
  });

  it("asks for a stream with usage, and caps the reply only when there is a cap", async () => {
    standIn.enqueue({ text: "One." }, { text: "Two." });
    await ask({ maxOutput: 77 });
    await ask({ maxOutput: null });
    expect(standIn.log[0]?.body).toMatchObject({
      model: "upstream-model",
      max_tokens: 77,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(standIn.log[1]?.body).not.toHaveProperty("max_tokens");
  });

  it("only grows at its end when a message is appended", async () => {
    const before = await model.render(request({ ...rich, tools: [] }));
    const after = await model.render(
      request({ ...rich, tools: [], messages: [...(rich.messages ?? []), assistant("Bye."), user("Bye.")] }),
    );
    const end = before.body.indexOf('],"stream"');
    expect(after.body.startsWith(before.body.slice(0, end))).toBe(true);
  });

  it("carries the key that the model is given, and none where there is none", async () => {
    standIn.enqueue({ text: "One." }, { text: "Two." });
    await ask({ model: spec({ credential: "first", source: "tenant" }) });
    await ask({ model: spec({ source: "deployment" }) });
    expect(standIn.log.map((entry) => entry.authorization)).toEqual(["Bearer key of first", null]);
  });
});

describe("the reply", () => {
  it("arrives as text, then the finish with the provider's own usage", async () => {
    standIn.enqueue({ text: "The sky is blue\n today. 🦒 Really!", chunks: 5 });
    const chunks = await ask();
    expect(spokenText(chunks)).toBe("The sky is blue\n today. 🦒 Really!");
    const { prompt_tokens, completion_tokens } = standIn.log[0] ?? { prompt_tokens: 0, completion_tokens: 0 };
    expect(prompt_tokens).toBeGreaterThan(0);
    expect(chunks.at(-1)).toEqual({
      type: "finish",
      finish: "stop",
      usage: { input: prompt_tokens, output: completion_tokens, cached: 0, reasoning: 0 },
    });
  });

  it("gives tool calls whole, with their arguments untouched, even when two share an id", async () => {
    const odd = '{ "path" : "a/ü.ts",\n  "n":1.0 }';
    standIn.enqueue({
      text: "Two calls.",
      tool_calls: [
        { id: "call_9", name: "lookup", arguments: odd },
        { id: "call_9", name: "lookup", arguments: "{}" },
      ],
    });
    const chunks = await ask();
    expect(chunks.filter((chunk) => chunk.type === "tool_call").map(({ call }) => call)).toEqual([
      { type: "tool_call", call_id: "call_9", name: "lookup", arguments: odd },
      { type: "tool_call", call_id: "call_9", name: "lookup", arguments: "{}" },
    ]);
    expect(chunks.at(-1)).toMatchObject({ type: "finish", finish: "tool_calls" });
  });

  it("keeps reasoning apart from text", async () => {
    standIn.enqueue({ reasoning: "Hmm.", text: "Yes." });
    const chunks = await ask();
    expect(chunks.slice(0, -1)).toEqual([
      { type: "reasoning", text: "Hmm." },
      { type: "text", text: "Yes." },
    ]);
  });

  it("that was cut by length says so", async () => {
    standIn.enqueue({ text: "And then", finish: "length" });
    expect((await ask()).at(-1)).toMatchObject({ type: "finish", finish: "length" });
  });
});

describe("a failure is the last chunk", () => {
  it("overflow, when the provider says that the request does not fit", async () => {
    const chunks = await ask({ messages: [user("many words ".repeat(2_000))] });
    expect(chunks).toMatchObject([{ type: "failure", failure: { kind: "overflow", limit: 2_000, status: 400 } }]);
    expect(standIn.totals()).toMatchObject({ overflows: 1, requests: 1 });
  });

  it("rate_limit and unavailable, by the provider's answer", async () => {
    standIn.enqueue({ status: 429, error: { message: "Slow down." } }, { status: 500, error: { message: "Oops." } });
    expect(await ask()).toMatchObject([{ type: "failure", failure: { kind: "rate_limit", status: 429 } }]);
    expect(await ask()).toMatchObject([{ type: "failure", failure: { kind: "unavailable", status: 500 } }]);
  });

  it("of its own class, when the error comes inside the stream", async () => {
    standIn.enqueue({ text: "So far", error: { message: "The engine is overloaded.", type: "overloaded_error" } });
    const chunks = await ask();
    expect(spokenText(chunks)).toBe("So far");
    expect(chunks.at(-1)).toMatchObject({ type: "failure", failure: { kind: "unavailable", status: null } });
  });

  it("unavailable, when the connection breaks in the middle; what was said is kept", async () => {
    standIn.enqueue({ text: "one two three four five six seven eight nine ten eleven twelve", cutAfterChunks: 3 });
    const chunks = await ask();
    expect(spokenText(chunks)).toBe("one two three four five six seven eight");
    expect(chunks.at(-1)).toMatchObject({ type: "failure", failure: { kind: "unavailable", status: null } });
  });

  it("unavailable, when there is no server or the model has no address", async () => {
    const unavailable = [{ type: "failure", failure: { kind: "unavailable", status: null } }];
    const closed = await startStandIn();
    await closed.close();
    expect(await ask({ model: spec({ base_url: closed.baseUrl }) })).toEqual(unavailable);
    expect(await ask({ model: spec({ base_url: null }) })).toEqual(unavailable);
  });

  it("aborted, when a provider that never answers is given up; its connection is closed", async () => {
    standIn.enqueue({ hang: true });
    const controller = new AbortController();
    const reply = ask({}, { signal: controller.signal });
    const entry = await standIn.request(1);
    controller.abort();
    expect(await reply).toEqual([{ type: "failure", failure: { kind: "aborted", status: null } }]);
    await standIn.settled(entry);
    expect(entry.aborted).toBe(true);
  });

  it("aborted, when it is stopped in the middle of a reply; its connection is closed", async () => {
    standIn.enqueue(endless());
    const controller = new AbortController();
    const seen: string[] = [];
    for await (const chunk of model.stream(request(), { signal: controller.signal })) {
      seen.push(chunk.type === "failure" ? chunk.failure.kind : chunk.type);
      controller.abort();
    }
    expect(seen).toEqual(["text", "aborted"]);
    const entry = await standIn.request(1);
    await standIn.settled(entry);
    expect(entry.aborted).toBe(true);
  });

  it("aborted, without a request, when it was stopped before it began", async () => {
    expect(await ask({}, { signal: AbortSignal.abort() })).toEqual([{ type: "failure", failure: { kind: "aborted", status: null } }]);
    expect(standIn.log).toHaveLength(0);
  });
});

it("an endpoint whose key is missing is not asked", async () => {
  const fetch = vi.fn<() => Promise<Response>>();
  const own = createChatModel({ credentials: async () => ({ missing: true }), fetch, estimate: (text) => text.length });
  const heard = [];
  for await (const chunk of own.stream(request(), { signal: never() })) heard.push(chunk);
  expect(heard).toEqual([{ type: "failure", failure: { kind: "auth", status: null } }]);
  expect(fetch).not.toHaveBeenCalled();
});

/** Calls an endpoint that sends `reads`, one in each read, and returns the chunks that the caller received, in order. */
async function told(...reads: readonly string[]): Promise<readonly string[]> {
  const heard: string[] = [];
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      for (const read of reads) stream.enqueue(new TextEncoder().encode(read));
      stream.close();
    },
  });
  const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
  const own = createChatModel({ credentials: async () => null, fetch, estimate: (text) => text.length });
  for await (const chunk of own.stream(request(), { signal: never(), onProgress: () => heard.push("progress") })) heard.push(chunk.type);
  return heard;
}

describe("the caller is told that the provider is writing", () => {
  const delta = (value: unknown): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta: value }] })}\n\n`;
  const end = `data: ${JSON.stringify({ choices: [{ index: 0, finish_reason: "tool_calls" }] })}\n\ndata: [DONE]\n\n`;

  it("while a call's arguments come, of which nothing comes out before the end", async () => {
    const first = { tool_calls: [{ index: 0, id: "c1", function: { name: "write", arguments: "{" } }] };
    const more = { tool_calls: [{ index: 0, function: { arguments: " " } }] };
    const heard = await told(delta(first), delta(more), delta({ tool_calls: [{ index: 0, function: { arguments: "}" } }] }), end);
    expect(heard).toEqual(["progress", "progress", "progress", "tool_call", "finish"]);
  });

  it("in an unknown field", async () => {
    expect(await told(delta({ audio: { data: "AAAA" } }), end)).toEqual(["progress", "finish"]);
  });

  it("and not when it only keeps the connection open", async () => {
    const usage = `data: ${JSON.stringify({ choices: [], usage: null })}\n\n`;
    expect(await told(": processing\n\n", usage, "\n", end)).toEqual(["finish"]);
  });
});

it("a reader that leaves in the middle closes the provider's connection", async () => {
  standIn.enqueue(endless());
  for await (const chunk of model.stream(request(), { signal: never() })) if (chunk.type === "text") break;
  const entry = await standIn.request(1);
  await standIn.settled(entry);
  expect(entry.aborted).toBe(true);
});

/** One delta, then nothing until the client disconnects. */
async function* endless(): AsyncGenerator<string> {
  yield "Once upon a time";
  await new Promise(() => undefined);
}
