import { describe, expect, it } from "vitest";
import type { ChatMessage, ModelRequest, ModelSpec, ModelStreamPart } from "../../src/app/ports";
import { assistant, collect, modelRequest, modelSpec, spokenText, toolCall, toolResult, user } from "./model-request";
import { event, type Read, scripted, streamed, toStream } from "./scripted";

const spec = (changes: Partial<ModelSpec> = {}): ModelSpec =>
  modelSpec({ provider: "anthropic", upstream_id: "claude-sonnet-4-5-20250929", base_url: null, ...changes });
const request = (changes: Partial<ModelRequest> = {}): ModelRequest => modelRequest({ model: spec(), ...changes });

const start = (usage: object = { input_tokens: 10, output_tokens: 1 }): object => ({
  type: "message_start",
  message: { id: "msg_1", type: "message", role: "assistant", model: "claude", content: [], stop_reason: null, usage },
});
const open = (index: number, content_block: object): object => ({ type: "content_block_start", index, content_block });
const delta = (index: number, value: object): object => ({ type: "content_block_delta", index, delta: value });
const stop = (index: number): object => ({ type: "content_block_stop", index });
const end = (stop_reason: string, usage: object = { output_tokens: 5 }): readonly object[] => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
  { type: "message_stop" },
];
const text = (index: number, ...pieces: string[]): readonly object[] => [
  open(index, { type: "text", text: "" }),
  ...pieces.map((piece) => delta(index, { type: "text_delta", text: piece })),
  stop(index),
];
const thinking = (index: number, said: string, signature: string): readonly object[] => [
  open(index, { type: "thinking", thinking: "", signature: "" }),
  delta(index, { type: "thinking_delta", thinking: said }),
  delta(index, { type: "signature_delta", signature }),
  stop(index),
];
const toolUse = (index: number, { id, name, pieces }: { id: string; name: string; pieces: readonly string[] }): readonly object[] => [
  open(index, { type: "tool_use", id, name, input: {} }),
  ...pieces.map((partial_json) => delta(index, { type: "input_json_delta", partial_json })),
  stop(index),
];

const hear = (...reads: readonly Read[]): Promise<readonly ModelStreamPart[]> => scripted(() => streamed(...reads)).ask(request());
const failure = (kind: string, status: number | null = null): ModelStreamPart =>
  ({ type: "failure", failure: { kind, status } }) as ModelStreamPart;

describe("the reply", () => {
  it("is text in blocks, then the finish with usage whose input counts the cache once", async () => {
    const usage = { input_tokens: 10, cache_creation_input_tokens: 200, cache_read_input_tokens: 3_000, output_tokens: 1 };
    const chunks = await hear(start(usage), ...text(0, "The sky", " is blue."), ...end("end_turn", { output_tokens: 7 }));
    expect(chunks).toEqual([
      { type: "text", text: "The sky", block: "0" },
      { type: "text", text: " is blue.", block: "0" },
      { type: "finish", finish: "stop", usage: { input: 3_210, output: 7, cached: 3_000, reasoning: 0, cache_write: 200 } },
    ]);
  });

  it("keeps thinking apart, with its signature, and what of it is redacted", async () => {
    const chunks = await hear(
      start(),
      ...thinking(0, "Hmm.", "EqQBCg=="),
      open(1, { type: "redacted_thinking", data: "EmwKAhgB" }),
      stop(1),
      ...text(2, "Yes."),
      ...end("end_turn"),
    );
    expect(chunks.slice(0, -1)).toEqual([
      { type: "reasoning", text: "Hmm.", block: "0" },
      { type: "reasoning", text: "", block: "0", provider_metadata: { anthropic: { signature: "EqQBCg==" } } },
      { type: "reasoning", text: "", block: "1", provider_metadata: { anthropic: { redactedData: "EmwKAhgB" } } },
      { type: "text", text: "Yes.", block: "2" },
    ]);
  });

  it("gives calls whole and in order, their arguments as the model wrote them", async () => {
    const chunks = await hear(
      start(),
      ...text(0, "Both."),
      ...toolUse(1, { id: "toolu_1", name: "lookup", pieces: ['{ "q" :', ' "a", "n": 1.0 }'] }),
      ...toolUse(2, { id: "toolu_1", name: "now", pieces: [] }),
      ...end("tool_use"),
    );
    expect(chunks.slice(1)).toEqual([
      { type: "tool_call", call: toolCall({ call_id: "toolu_1", name: "lookup", arguments: '{ "q" : "a", "n": 1.0 }' }) },
      { type: "tool_call", call: toolCall({ call_id: "toolu_1", name: "now", arguments: "{}" }) },
      { type: "finish", finish: "tool_calls", usage: { input: 10, output: 5, cached: 0, reasoning: 0, cache_write: 0 } },
    ]);
  });

  it.each([
    ["max_tokens", "length"],
    ["refusal", "content_filter"],
    ["stop_sequence", "stop"],
    ["something_new", "other"],
  ])("that ends by %s says %s", async (reason, finish) => {
    expect((await hear(start(), ...text(0, "So"), ...end(reason))).at(-1)).toMatchObject({ type: "finish", finish });
  });

  it("that ends at the window without a word is an overflow; after words it is cut by length", async () => {
    expect(await hear(start(), ...end("model_context_window_exceeded"))).toEqual([failure("overflow")]);
    const chunks = await hear(start(), ...text(0, "So"), ...end("model_context_window_exceeded"));
    expect(chunks.at(-1)).toMatchObject({ type: "finish", finish: "length" });
  });

  it("is well formed where two pieces bring a character apart, and where its other half never comes", async () => {
    const whole = await hear(start(), ...text(0, "a \ud83e", "\udd92 b"), ...end("end_turn"));
    expect(spokenText(whole)).toBe("a 🦒 b");
    const half = await hear(start(), ...text(0, "a \ud83e"), ...text(1, "b"), ...end("end_turn"));
    expect(half.slice(0, -1)).toEqual([
      { type: "text", text: "a ", block: "0" },
      { type: "text", text: "\ufffd", block: "0" },
      { type: "text", text: "b", block: "1" },
    ]);
  });

  it("skips pings and events that are new, and reads on", async () => {
    const chunks = await hear(start(), { type: "ping" }, { type: "message_mood", mood: "fine" }, ...text(0, "Yes."), ...end("end_turn"));
    expect(spokenText(chunks)).toBe("Yes.");
    expect(chunks.at(-1)).toMatchObject({ type: "finish" });
  });

  it("has no usage when what was reported is no count", async () => {
    const chunks = await hear(start({ input_tokens: -1, output_tokens: 1 }), ...text(0, "Yes."), ...end("end_turn"));
    expect(chunks.at(-1)).toEqual({ type: "finish", finish: "stop", usage: null });
  });

  it("tells that the model writes, also while a call's arguments come, and not for a ping", async () => {
    const heard: string[] = [];
    const provider = scripted(() =>
      streamed(start(), { type: "ping" }, ...toolUse(0, { id: "t", name: "write", pieces: ["{", '"a":1', "}"] }), ...end("tool_use")),
    );
    const chunks = provider.model.stream(request(), { signal: new AbortController().signal, onProgress: () => heard.push("progress") });
    for await (const chunk of chunks) heard.push(chunk.type);
    expect(heard.slice(0, -2)).toEqual(Array.from({ length: heard.length - 2 }, () => "progress"));
    expect(heard.length - 2).toBeGreaterThanOrEqual(4);
    expect(heard.slice(-2)).toEqual(["tool_call", "finish"]);
  });
});

describe("a reply that holds more than it may is a failure, whatever came before stays said", () => {
  const over = failure("unavailable");

  it("in arguments", async () => {
    const pieces = Array.from({ length: 5 }, () => "x".repeat(250_000));
    expect(await hear(start(), ...text(0, "So."), ...toolUse(1, { id: "t", name: "write", pieces }), ...end("tool_use"))).toEqual([
      { type: "text", text: "So.", block: "0" },
      over,
    ]);
  });

  it("in calls, ids and names", async () => {
    const many = Array.from({ length: 129 }, (_, index) => toolUse(index, { id: `t${index}`, name: "now", pieces: [] })).flat();
    expect(await hear(start(), ...many, ...end("tool_use"))).toEqual([over]);
    expect(await hear(start(), ...toolUse(0, { id: "t".repeat(5_000), name: "now", pieces: [] }), ...end("tool_use"))).toEqual([over]);
    expect(await hear(start(), ...toolUse(0, { id: "t", name: "n".repeat(300), pieces: [] }), ...end("tool_use"))).toEqual([over]);
  });

  it("in what comes after a call, which is held with it: all of it is said once, and then the failure", async () => {
    const after = Array.from({ length: 11 }, () => "y".repeat(99_999));
    const reads = [start(), ...toolUse(0, { id: "t", name: "now", pieces: [] }), ...text(1, ...after, "\ud83e"), ...end("tool_use")];
    const chunks = await hear(...reads);
    expect(spokenText(chunks).length).toBeGreaterThan(999_999);
    expect(chunks.filter(({ type }) => type === "failure" || type === "tool_call")).toEqual([over]);
  });

  it("in what thinking is sealed with", async () => {
    const chunks = await hear(start(), ...thinking(0, "Hm.", "s".repeat(1_100_000)), ...end("end_turn"));
    expect(chunks.at(-1)).toEqual(over);
  });

  it("in an event that has no end", async () => {
    const endless = Array.from({ length: 10 }, () => "x".repeat(1_000_000));
    expect(await hear(start(), "data: {", ...endless)).toEqual([over]);
  });
});

describe("a failure is the last chunk", () => {
  const answered = (status: number, error: object, headers: Record<string, string> = {}) =>
    scripted(() => new Response(JSON.stringify({ type: "error", error }), { status, headers })).ask(request());

  it("by the provider's answer, with the wait that it asks for", async () => {
    const slow = { type: "rate_limit_error", message: "This request would exceed your rate limit of 50 requests per minute." };
    expect(await answered(429, slow, { "retry-after": "7" })).toMatchObject([
      { type: "failure", failure: { kind: "rate_limit", status: 429, retry_after_ms: 7_000 } },
    ]);
    const long = { type: "invalid_request_error", message: "prompt is too long: 208310 tokens > 200000 maximum" };
    expect(await answered(400, long)).toMatchObject([{ type: "failure", failure: { kind: "overflow", status: 400 } }]);
    expect(await answered(401, { type: "authentication_error", message: "invalid x-api-key" })).toMatchObject([failure("auth", 401)]);
    expect(await answered(529, { type: "overloaded_error", message: "Overloaded" })).toMatchObject([failure("unavailable", 529)]);
  });

  it("by an event, first or later, although the status was 200", async () => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    const limited = { type: "error", error: { type: "rate_limit_error", message: "Too many requests." } };
    expect(await hear(limited)).toMatchObject([failure("rate_limit")]);
    expect(await hear(start(), ...text(0, "So"), overloaded)).toMatchObject([
      { type: "text", text: "So", block: "0" },
      failure("unavailable"),
    ]);
  });

  it("when the stream ends before the message does, without the incomplete calls", async () => {
    expect(await hear(start(), ...text(0, "So"))).toEqual([{ type: "text", text: "So", block: "0" }, failure("unavailable")]);
    expect(await hear(start(), ...toolUse(0, { id: "t", name: "now", pieces: [] }))).toEqual([failure("unavailable")]);
    expect(await hear()).toEqual([failure("unavailable")]);
  });

  it("when what comes is no JSON, or the connection fails", async () => {
    expect(await hear(start(), "data: {oops\n\n")).toEqual([failure("unavailable")]);
    const refused = scripted(() => Promise.reject(new TypeError("fetch failed")));
    expect(await refused.ask(request())).toEqual([failure("unavailable")]);
  });

  it("when the answer is a redirect: it is not followed", async () => {
    const provider = scripted(() => new Response(null, { status: 307, headers: { location: "https://elsewhere.example/" } }));
    expect(await provider.ask(request())).toEqual([failure("unavailable", 307)]);
    expect(provider.sent.map(({ redirect }) => redirect)).toEqual(["manual"]);
  });

  it("when the key is out of reach, without a request", async () => {
    const provider = scripted(
      () => streamed(),
      () => Promise.reject(new Error("out of reach")),
    );
    expect(await provider.ask(request())).toEqual([failure("unavailable")]);
    expect(provider.sent).toEqual([]);
  });
});

describe("stopping", () => {
  it("closes the provider's connection and ends the stream as aborted", async () => {
    let closed = 0;
    const reads = [start(), open(0, { type: "text", text: "" }), delta(0, { type: "text_delta", text: "Once" })];
    const provider = scripted(() => new Response(toStream(reads, { open: true, onCancel: () => closed++ })));
    const controller = new AbortController();
    const seen: ModelStreamPart[] = [];
    for await (const chunk of provider.model.stream(request(), { signal: controller.signal })) {
      seen.push(chunk);
      controller.abort();
    }
    expect(seen).toEqual([{ type: "text", text: "Once", block: "0" }, failure("aborted")]);
    expect(closed).toBe(1);
  });

  it("while nothing is answered yet, or before anything was asked", async () => {
    const controller = new AbortController();
    const asked = Promise.withResolvers<void>();
    const provider = scripted(() => {
      asked.resolve();
      return new Response(toStream([start()], { open: true }));
    });
    const reply = collect(provider.model.stream(request(), { signal: controller.signal }));
    await asked.promise;
    controller.abort();
    expect(await reply).toEqual([failure("aborted")]);
    expect(await collect(provider.model.stream(request(), { signal: AbortSignal.abort() }))).toEqual([failure("aborted")]);
    expect(provider.sent).toHaveLength(1);
  });

  it.each(["key", "answer"])("does not wait for the %s when its source ignores the signal", async (late) => {
    const reached = Promise.withResolvers<void>();
    const wait = (): Promise<never> => {
      reached.resolve();
      return new Promise(() => undefined);
    };
    const provider = scripted(wait, late === "key" ? wait : undefined);
    const controller = new AbortController();
    const reply = collect(provider.model.stream(request(), { signal: controller.signal }));
    await reached.promise;
    controller.abort();
    expect(await reply).toEqual([failure("aborted")]);
    expect(provider.sent).toHaveLength(late === "key" ? 0 : 1);
  });

  it("by leaving closes the connection too", async () => {
    let closed = 0;
    const reads = [start(), ...text(0, "Once")];
    const provider = scripted(() => new Response(toStream(reads, { open: true, onCancel: () => closed++ })));
    for await (const chunk of provider.model.stream(request(), { signal: new AbortController().signal })) if (chunk.type === "text") break;
    expect(closed).toBe(1);
  });
});

const tools = [{ name: "lookup", description: "Looks things up.", parameters: { type: "object", properties: { q: { type: "string" } } } }];
const sentFor = async (changes: Partial<ModelRequest>) => {
  const provider = scripted(() => streamed());
  await provider.ask(request(changes));
  const [sent] = provider.sent;
  if (!sent) throw new Error("nothing was sent");
  return sent;
};
const sentMessages = async (messages: readonly ChatMessage[], changes: Partial<ModelRequest> = {}) => {
  const { body } = await sentFor({ tools, ...changes, messages });
  return JSON.parse(JSON.stringify(body.messages, (key, value) => (key === "cache_control" ? undefined : value)));
};

describe("the request", () => {
  it("is told and rendered byte for byte as it is sent, with the key in its header alone", async () => {
    const told: string[] = [];
    const provider = scripted(() => streamed());
    const asked = request({ tools, system: "Be brief.", messages: [user("Hi"), assistant("Hello"), user("A – “naïve” 日本語 🦒")] });
    const rendered = await provider.model.render(asked);
    await provider.ask(asked, { onRequest: (body) => told.push(body) });
    const [sent] = provider.sent;
    expect(told).toEqual([sent?.raw]);
    expect(rendered).toEqual({ url: "https://api.anthropic.com/v1/messages", body: sent?.raw });
    expect(sent?.headers.get("x-api-key")).toBe("the-key");
    expect(sent?.raw).not.toContain("the-key");
  });

  it("goes to the model's own address, and without a key where there is none", async () => {
    const provider = scripted(
      () => streamed(),
      async () => null,
    );
    await provider.ask(request({ model: spec({ base_url: "https://gateway.example/v1" }) }));
    expect(provider.sent[0]?.url).toBe("https://gateway.example/v1/messages");
    expect(provider.sent[0]?.headers.has("x-api-key")).toBe(false);
  });

  it("is not called where the key that it needs is missing: nothing is sent", async () => {
    const provider = scripted(
      () => streamed(),
      async () => ({ missing: true }),
    );
    expect(await provider.ask(request({}))).toEqual([{ type: "failure", failure: { kind: "auth", status: null } }]);
    expect(provider.sent).toEqual([]);
  });

  it("asks for as many tokens as the model may say where there is no cap, since the provider wants a number", async () => {
    expect((await sentFor({ maxOutput: null })).body.max_tokens).toBe(1_000);
    expect((await sentFor({ maxOutput: 77 })).body.max_tokens).toBe(77);
  });

  it("turns thinking off only when asked, and only where the model thinks at all", async () => {
    const capabilities = { tools: true, images: true, files: true, reasoning: false };
    expect((await sentFor({ reasoning: "off" })).body.thinking).toEqual({ type: "disabled" });
    expect((await sentFor({})).body).not.toHaveProperty("thinking");
    expect((await sentFor({ reasoning: "off", model: spec({ capabilities }) })).body).not.toHaveProperty("thinking");
  });

  it("sends thinking back as it came, and leaves another provider's out whole", async () => {
    const [, said] = await sentMessages([
      user("Hi"),
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "Mine.", provider_metadata: { anthropic: { signature: "EqQBCg==" } } },
          { type: "reasoning", text: "", provider_metadata: { anthropic: { redactedData: "EmwKAhgB" } } },
          { type: "reasoning", text: "Theirs.", provider_metadata: { openai: { itemId: "rs_1", reasoningEncryptedContent: "gAAA" } } },
          { type: "reasoning", text: "Nobody's." },
          { type: "text", text: "Yes." },
        ],
      },
      user("Why?"),
    ]);
    expect(said.content).toEqual([
      { type: "thinking", thinking: "Mine.", signature: "EqQBCg==" },
      { type: "redacted_thinking", data: "EmwKAhgB" },
      { type: "text", text: "Yes." },
    ]);
  });

  it("gives each call an id of its own that the provider takes, and each result its call's", async () => {
    const calls = ["functions.lookup:0", "functions.lookup:0", "ok"].map((call_id) =>
      toolCall({ call_id, name: "look up!", arguments: "{}" }),
    );
    const [, said, results] = await sentMessages([
      user("Hi"),
      { role: "assistant", parts: calls },
      toolResult("functions.lookup:0", "one"),
      toolResult("functions.lookup:0", "two"),
      toolResult("ok", "three"),
    ]);
    expect(said.content.map(({ id, name }: { id: string; name: string }) => [id, name])).toEqual([
      ["functions_lookup_0", "look_up_"],
      ["functions_lookup_0_2", "look_up_"],
      ["ok", "look_up_"],
    ]);
    expect(results.content.map(({ tool_use_id, content }: { tool_use_id: string; content: string }) => [tool_use_id, content])).toEqual([
      ["functions_lookup_0", "one"],
      ["functions_lookup_0_2", "two"],
      ["ok", "three"],
    ]);
  });

  it.each([
    ['{"q": "a"}', { q: "a" }],
    ["", {}],
    ["{broken", { invalid_arguments: "{broken" }],
    ["[1]", { invalid_arguments: "[1]" }],
    ['"a"', { invalid_arguments: '"a"' }],
  ])("sends the arguments %s as an object", async (written, input) => {
    const call = toolCall({ call_id: "c", name: "lookup", arguments: written });
    const [, said] = await sentMessages([user("Hi"), { role: "assistant", parts: [call] }, toolResult("c", "one")]);
    expect(said.content).toEqual([{ type: "tool_use", id: "c", name: "lookup", input }]);
  });

  it("says which results are errors", async () => {
    const call = toolCall({ call_id: "c", name: "lookup", arguments: "{}" });
    const failed = { type: "tool_result", call_id: "c", name: "lookup", output: "No.", is_error: true } as const;
    const [, , results] = await sentMessages([user("Hi"), { role: "assistant", parts: [call] }, { role: "tool", parts: [failed] }]);
    expect(results.content).toEqual([{ type: "tool_result", tool_use_id: "c", content: "No.", is_error: true }]);
  });

  it("sends images and PDFs by reference, and names in words what is neither, or not at a public address", async () => {
    const file = (url: string, media_type: string) => ({ type: "file", url, media_type }) as const;
    const image = (url: string) => ({ type: "image", url, media_type: "image/png" }) as const;
    const parts = [image("https://e.com/a.png"), file("https://e.com/b.pdf", "application/pdf"), file("https://e.com/c.csv", "text/csv")];
    const [asked] = await sentMessages([{ role: "user", parts: [...parts, image("http://e.com/d.png")] }]);
    expect(asked.content).toEqual([
      { type: "image", source: { type: "url", url: "https://e.com/a.png" } },
      { type: "document", source: { type: "url", url: "https://e.com/b.pdf" } },
      { type: "text", text: "[file: text/csv (text/csv) https://e.com/c.csv]" },
      { type: "text", text: "[file: image/png (image/png) http://e.com/d.png]" },
    ]);
  });

  it("tells in words what the model cannot be given: images, files, tools", async () => {
    const capabilities = { tools: false, images: false, files: false, reasoning: true };
    const messages: ChatMessage[] = [
      { role: "user", parts: [{ type: "image", url: "https://e.com/a.png", media_type: "image/png" }] },
      { role: "assistant", parts: [toolCall({ call_id: "c", name: "lookup", arguments: '{"q":1}' })] },
      toolResult("c", "found"),
    ];
    const { body } = await sentFor({ tools, messages, model: spec({ capabilities }) });
    expect(body).not.toHaveProperty("tools");
    expect(body.messages.flatMap(({ content }: { content: { text: string }[] }) => content.map((part) => part.text))).toEqual([
      "[file: image/png (image/png) https://e.com/a.png]",
      '[Called the tool lookup with {"q":1}]',
      "[The tool lookup answered: found]",
    ]);
  });

  it("tells earlier calls in words when no tool is offered any more", async () => {
    const call = toolCall({ call_id: "c", name: "lookup", arguments: "{}" });
    const messages = await sentMessages([user("Hi"), { role: "assistant", parts: [call] }, toolResult("c", "one")], { tools: [] });
    expect(JSON.stringify(messages)).not.toContain("tool_use");
  });

  it("never holds an empty text, nor a message without one", async () => {
    const messages = await sentMessages([user(" "), assistant("\n"), user("Hi"), assistant(""), user("Why?")], { system: "" });
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "[empty message]" },
          { type: "text", text: "Hi" },
          { type: "text", text: "Why?" },
        ],
      },
    ]);
  });

  it("takes the system's messages in front as its own, and tells a later one as a user's", async () => {
    const system = (words: string) => ({ role: "system", parts: [{ type: "text", text: words }] }) as const;
    const { body } = await sentFor({
      system: "Be brief.",
      messages: [system("[Context summary: old]"), user("Hi"), system("Now loud."), user("?")],
    });
    expect(body.system.map((part: { text: string }) => part.text)).toEqual(["Be brief.", "[Context summary: old]"]);
    expect(body.messages[0].content.map((part: { text: string }) => part.text)).toEqual(["Hi", "[System message: Now loud.]", "?"]);
  });
});

/** The wire's blocks in order, with the text of those marked for the cache. */
async function sentMarks(changes: Partial<ModelRequest>): Promise<readonly string[]> {
  const { body } = await sentFor(changes);
  const blocks = [...(body.tools ?? []), ...(body.system ?? []), ...body.messages.flatMap(({ content }: { content: object[] }) => content)];
  return blocks.filter((block) => block.cache_control).map((block) => block.text ?? block.name ?? block.content);
}

describe("cache marks", () => {
  const round = (name: string, count: number): readonly ChatMessage[] => {
    const ids = Array.from({ length: count }, (_, index) => `${name}${index}`);
    const parts = ids.map((call_id) => toolCall({ call_id, name: "lookup", arguments: "{}" }));
    return [{ role: "assistant", parts }, ...ids.map((id) => toolResult(id, `result ${id}`))];
  };

  it("stand after the system prompt, after what is older, where the last request ended, and at the newest block", async () => {
    const messages = [user("S1"), user("S2"), user("One"), assistant("Two"), user("Three"), assistant("Four"), user("Five")];
    expect(await sentMarks({ system: "Be brief.", tools, older: 2, messages })).toEqual(["Be brief.", "S2", "Three", "Five"]);
  });

  it("stand after the tools where there is no system prompt", async () => {
    expect(await sentMarks({ tools, messages: [user("One")] })).toEqual(["lookup", "One"]);
  });

  it("are never more than four, and one is where the request before a long round of tools ended", async () => {
    const messages = [user("S1"), user("One"), ...round("a", 30), ...round("b", 40)];
    expect(await sentMarks({ system: "Be brief.", tools, older: 1, messages })).toEqual(["Be brief.", "S1", "result a29", "result b39"]);
  });

  it("leave the newest block alone when no later request will read from there", async () => {
    const messages = [user("One"), assistant("Two"), user("Summarise.")];
    expect(await sentMarks({ system: "Be brief.", messages, purpose: "compaction" })).toEqual(["Be brief.", "One"]);
  });

  it("are all that moves when a message is appended", async () => {
    const messages: ChatMessage[] = [user("S1"), user("One"), ...round("a", 3), assistant("Two"), user("Three")];
    const before = await sentMessages(messages, { older: 1 });
    const after = await sentMessages([...messages, assistant("Four"), user("Five")], { older: 1 });
    expect(after.slice(0, before.length)).toEqual(before);
  });
});

it("the builder of events writes what the provider writes", () => {
  expect(event({ type: "ping" })).toBe('event: ping\ndata: {"type":"ping"}\n\n');
});
