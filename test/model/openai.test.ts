import { describe, expect, it } from "vitest";
import type { ChatMessage, ModelRequest, ModelSpec, ModelStreamPart } from "../../src/app/ports";
import { leastEffort } from "../../src/model/chat-request";
import { assistant, modelRequest, modelSpec, spokenText, toolCall, toolResult, user } from "./model-request";
import { type Read, scripted, streamed } from "./scripted";

const spec = (changes: Partial<ModelSpec> = {}): ModelSpec =>
  modelSpec({ provider: "openai", upstream_id: "gpt-5.1", base_url: null, ...changes });
const request = (changes: Partial<ModelRequest> = {}): ModelRequest => modelRequest({ model: spec(), ...changes });
const failure = (kind: string, status: number | null = null): ModelStreamPart =>
  ({ type: "failure", failure: { kind, status } }) as ModelStreamPart;

const begin = [
  { type: "response.created", response: { id: "resp_1", created_at: 1_760_000_000, model: "gpt-5.1" } },
  { type: "response.in_progress", response: { id: "resp_1", created_at: 1_760_000_000, model: "gpt-5.1" } },
];
const added = (output_index: number, item: object): object => ({ type: "response.output_item.added", output_index, item });
const done = (output_index: number, item: object): object => ({ type: "response.output_item.done", output_index, item });
const said = (output_index: number, delta: string): object => ({
  type: "response.output_text.delta",
  item_id: `msg_${output_index}`,
  output_index,
  content_index: 0,
  delta,
});
const message = (index: number, pieces: readonly string[], more: object = {}): readonly object[] => {
  const item = { type: "message", id: `msg_${index}`, role: "assistant", content: [], status: "completed", ...more };
  return [added(index, item), ...pieces.map((piece) => said(index, piece)), done(index, item)];
};
const reasoning = (index: number, summaries: readonly string[], encrypted_content: string | null): readonly object[] => {
  const item_id = `rs_${index}`;
  const item = { type: "reasoning", id: item_id, summary: [] };
  const parts = summaries.flatMap((text, summary_index) => [
    { type: "response.reasoning_summary_part.added", item_id, output_index: index, summary_index },
    { type: "response.reasoning_summary_text.delta", item_id, output_index: index, summary_index, delta: text },
    { type: "response.reasoning_summary_part.done", item_id, output_index: index, summary_index },
  ]);
  return [added(index, { ...item, encrypted_content: "not whole yet" }), ...parts, done(index, { ...item, encrypted_content })];
};
const call = (index: number, { id, name, pieces }: { id: string; name: string; pieces: readonly string[] }): readonly object[] => {
  const item = { type: "function_call", id: `fc_${index}`, call_id: id, name };
  return [
    added(index, { ...item, arguments: "", status: "in_progress" }),
    ...pieces.map((delta) => ({ type: "response.function_call_arguments.delta", item_id: item.id, output_index: index, delta })),
    done(index, { ...item, arguments: pieces.join(""), status: "completed" }),
  ];
};
const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
const completed = (reported: object | null = usage): object => ({ type: "response.completed", response: { usage: reported } });

const hear = (...reads: readonly Read[]): Promise<readonly ModelStreamPart[]> =>
  scripted(() => streamed(...begin, ...reads)).ask(request());

describe("the reply of Responses", () => {
  it("is text with the phase it belongs to, then the finish with usage", async () => {
    const details = {
      ...usage,
      input_tokens_details: { cached_tokens: 64, cache_write_tokens: 16 },
      output_tokens_details: { reasoning_tokens: 12 },
    };
    const chunks = await hear(...message(0, ["The sky", " is blue."], { phase: "final_answer" }), completed(details));
    const provider_metadata = { openai: { itemId: "msg_0", phase: "final_answer" } };
    expect(chunks).toEqual([
      { type: "text", text: "", block: "msg_0", provider_metadata },
      { type: "text", text: "The sky", block: "msg_0" },
      { type: "text", text: " is blue.", block: "msg_0" },
      { type: "finish", finish: "stop", usage: { input: 100, output: 20, cached: 64, reasoning: 12, cache_write: 16 } },
    ]);
  });

  it("keeps thinking in the parts that it came in, sealed by the last, and names no item before its seal", async () => {
    const chunks = await hear(...reasoning(0, ["First.", "Second."], "gAAAAAB"), ...message(1, ["Yes."]), completed());
    expect(chunks.filter(({ type }) => type === "reasoning")).toEqual([
      { type: "reasoning", text: "First.", block: "rs_0:0" },
      { type: "reasoning", text: "", block: "rs_0:0", provider_metadata: { openai: { itemId: "rs_0" } } },
      { type: "reasoning", text: "Second.", block: "rs_0:1" },
      {
        type: "reasoning",
        text: "",
        block: "rs_0:1",
        provider_metadata: { openai: { itemId: "rs_0", reasoningEncryptedContent: "gAAAAAB" } },
      },
    ]);
  });

  it("gives calls whole, in order, with their items, their arguments as the model wrote them", async () => {
    const odd = '{ "path" : "a/ü.ts",\n  "n":1.0 }';
    const chunks = await hear(
      ...call(0, { id: "call_1", name: "lookup", pieces: [odd.slice(0, 9), odd.slice(9)] }),
      ...call(1, { id: "call_2", name: "now", pieces: ["{}"] }),
      completed(),
    );
    expect(chunks).toMatchObject([
      { type: "tool_call", call: { call_id: "call_1", arguments: odd, provider_metadata: { openai: { itemId: "fc_0" } } } },
      { type: "tool_call", call: { call_id: "call_2", arguments: "{}", provider_metadata: { openai: { itemId: "fc_1" } } } },
      { type: "finish", finish: "tool_calls" },
    ]);
  });

  it("keeps thinking between calls in its place, and gives no call of a reply that did not end", async () => {
    const reads = [
      ...reasoning(0, ["First."], "gAAA"),
      ...call(1, { id: "call_1", name: "now", pieces: ["{}"] }),
      ...reasoning(2, ["Second."], "gBBB"),
      ...call(3, { id: "call_2", name: "now", pieces: ["{}"] }),
    ];
    const order = (chunks: readonly ModelStreamPart[]) =>
      chunks.flatMap((chunk) =>
        chunk.type === "tool_call" ? chunk.call.call_id : chunk.type === "reasoning" ? chunk.text || "seal" : chunk.type,
      );
    expect(order(await hear(...reads, completed()))).toEqual(["First.", "seal", "call_1", "Second.", "seal", "call_2", "finish"]);
    expect(order(await hear(...reads))).toEqual(["First.", "seal", "Second.", "seal", "failure"]);
  });

  it("that was cut says why", async () => {
    const cut = (reason: string): object => ({ type: "response.incomplete", response: { incomplete_details: { reason }, usage } });
    expect((await hear(...message(0, ["So"]), cut("max_output_tokens"))).at(-1)).toMatchObject({ type: "finish", finish: "length" });
    expect((await hear(...message(0, ["So"]), cut("content_filter"))).at(-1)).toMatchObject({ type: "finish", finish: "content_filter" });
  });

  it("that refuses says it in words", async () => {
    const refusal = { type: "response.refusal.delta", item_id: "msg_0", output_index: 0, content_index: 0, delta: "I cannot." };
    const item = { type: "message", id: "msg_0" };
    const chunks = await hear(added(0, item), refusal, done(0, item), completed());
    expect(spokenText(chunks)).toBe("I cannot.");
    expect(chunks.at(-1)).toMatchObject({ type: "finish", finish: "content_filter" });
  });

  it("has no usage where none was reported, or none that can be", async () => {
    expect((await hear(...message(0, ["Yes."]), completed(null))).at(-1)).toEqual({ type: "finish", finish: "stop", usage: null });
    const half = { ...usage, input_tokens: 0.5 };
    expect((await hear(...message(0, ["Yes."]), completed(half))).at(-1)).toEqual({ type: "finish", finish: "stop", usage: null });
  });

  it("skips events that are new, and what is off in those that say nothing of the reply", async () => {
    const odd = { type: "response.in_progress", response: {} };
    expect(spokenText(await hear(odd, ...message(0, ["Yes."]), completed()))).toBe("Yes.");
    expect(spokenText(await hear({ type: "response.mood", mood: "fine" }, ...message(0, ["Yes."]), completed()))).toBe("Yes.");
  });
});

describe("a failure of Responses is the last chunk", () => {
  const failedWith = (error: object): object => ({
    type: "response.failed",
    sequence_number: 9,
    response: { error, usage: null, incomplete_details: null },
  });

  it("of its own class, whether it comes first, before a word, or after", async () => {
    const overflow = { code: "context_length_exceeded", message: "Your input exceeds the context window of this model." };
    expect(await hear(failedWith(overflow))).toMatchObject([failure("overflow")]);
    const limited = { type: "error", code: "rate_limit_exceeded", message: "Rate limit reached for requests", param: null };
    expect(await scripted(() => streamed(limited)).ask(request())).toMatchObject([failure("rate_limit")]);
    const late = await hear(...message(0, ["So"]), failedWith({ code: "server_error", message: "The server had an error." }));
    expect(spokenText(late)).toBe("So");
    expect(late.at(-1)).toMatchObject(failure("unavailable"));
  });

  it("by the provider's answer, with the wait that it asks for", async () => {
    const error = { error: { message: "Rate limit reached for gpt-5.1 on tokens per min.", type: "tokens", code: "rate_limit_exceeded" } };
    const provider = scripted(() => new Response(JSON.stringify(error), { status: 429, headers: { "retry-after-ms": "1250" } }));
    expect(await provider.ask(request())).toMatchObject([
      { type: "failure", failure: { kind: "rate_limit", status: 429, retry_after_ms: 1_250 } },
    ]);
  });

  it("when the stream ends before the response does", async () => {
    const chunks = await hear(...message(0, ["So"]));
    expect(spokenText(chunks)).toBe("So");
    expect(chunks.at(-1)).toEqual(failure("unavailable"));
  });
});

const sentFor = async (changes: Partial<ModelRequest>) => {
  const provider = scripted(() => streamed());
  const asked = request(changes);
  const rendered = await provider.model.render(asked);
  await provider.ask(asked);
  const [sent] = provider.sent;
  if (!sent) throw new Error("nothing was sent");
  expect(rendered).toEqual({ url: sent.url, body: sent.raw });
  return sent;
};

const thought = (itemId: string, sealed: string | null, text = ""): ChatMessage["parts"][number] => ({
  type: "reasoning",
  text,
  provider_metadata: { openai: { itemId, ...(sealed === null ? {} : { reasoningEncryptedContent: sealed }) } },
});

describe("the request for Responses", () => {
  it("keeps nothing there, asks for the seal of thinking, and names the session's cache", async () => {
    const { body, url, headers } = await sentFor({ cacheKey: "ses_1", maxOutput: null });
    expect(url).toBe("https://api.openai.com/v1/responses");
    expect(headers.get("authorization")).toBe("Bearer the-key");
    expect(body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"], prompt_cache_key: "ses_1", stream: true });
    expect(body).not.toHaveProperty("max_output_tokens");
    expect((await sentFor({ maxOutput: 77 })).body.max_output_tokens).toBe(77);
  });

  it("takes the registry's word for a model that thinks", async () => {
    const capabilities = { tools: true, images: true, files: true, reasoning: true };
    const own = await sentFor({ model: spec({ upstream_id: "our-own", capabilities }) });
    expect(own.body.include).toEqual(["reasoning.encrypted_content"]);
    expect((await sentFor({ model: spec({ upstream_id: "gpt-4o" }) })).body).not.toHaveProperty("include");
  });

  it("turns thinking off as far as the model can, only when asked, and only where it thinks", async () => {
    const off = async (upstream_id: string) => (await sentFor({ reasoning: "off", model: spec({ upstream_id }) })).body.reasoning;
    expect(await off("gpt-5.1")).toEqual({ effort: "none" });
    expect(await off("gpt-5")).toEqual({ effort: "minimal" });
    expect(await off("gpt-6-astra")).toEqual({ effort: "low" });
    expect(await off("gpt-4o")).toBeUndefined();
    expect((await sentFor({})).body).not.toHaveProperty("reasoning");
  });

  it("sends thinking back whole: every part of an item that is sealed, none of one that is not or is another's", async () => {
    const parts: ChatMessage["parts"] = [
      thought("rs_1", null, "First."),
      thought("rs_1", "gAAAAAB", "Second."),
      thought("rs_2", null, "Cut off."),
      { type: "reasoning", text: "Theirs.", provider_metadata: { anthropic: { signature: "EqQB" } } },
      { type: "text", text: "Looking.", provider_metadata: { openai: { itemId: "msg_1", phase: "commentary" } } },
      toolCall({ call_id: "call_1", name: "lookup", arguments: '{ "q" : "a", "n": 1.0 }' }),
    ];
    const { body } = await sentFor({ messages: [user("Hi"), { role: "assistant", parts }, toolResult("call_1", "one")] });
    expect(body.input.slice(1)).toEqual([
      {
        type: "reasoning",
        id: "rs_1",
        encrypted_content: "gAAAAAB",
        summary: [
          { type: "summary_text", text: "First." },
          { type: "summary_text", text: "Second." },
        ],
      },
      { role: "assistant", content: "Looking.", phase: "commentary" },
      { type: "function_call", call_id: "call_1", name: "lookup", arguments: '{ "q" : "a", "n": 1.0 }' },
      { type: "function_call_output", call_id: "call_1", output: "one" },
    ]);
  });

  it.each([
    ['{ "a": 1.0 }', '{ "a": 1.0 }'],
    ["", "{}"],
    ["{broken", '{"invalid_arguments":"{broken"}'],
  ])("sends the arguments %s as the text of an object", async (written, sent) => {
    const parts = [toolCall({ call_id: "c", name: "lookup", arguments: written })];
    const { body } = await sentFor({ messages: [user("Hi"), { role: "assistant", parts }, toolResult("c", "one")] });
    expect(body.input[1].arguments).toBe(sent);
  });

  it("offers tools as they came in, not made strict", async () => {
    const parameters = { type: "object", properties: { q: { type: "string" } } };
    const { body } = await sentFor({ tools: [{ name: "lookup", parameters }] });
    expect(body.tools).toEqual([{ type: "function", name: "lookup", parameters, strict: false }]);
  });

  it("only grows at its end when messages are appended", async () => {
    const messages: ChatMessage[] = [user("One"), assistant("Two"), user("Three")];
    const before = await sentFor({ messages });
    const after = await sentFor({ messages: [...messages, assistant("Four"), user("Five")] });
    const end = before.raw.indexOf('],"max_output_tokens"');
    expect(end).toBeGreaterThan(0);
    expect(after.raw.startsWith(before.raw.slice(0, end))).toBe(true);
  });
});

describe("OpenAI's chat completions", () => {
  const chat = (changes: Partial<ModelRequest> = {}, upstream_id = "gpt-5") =>
    sentFor({ model: spec({ provider: "openai-chat", upstream_id }), ...changes });

  it("go to its own address, capped by the name that all of its models take", async () => {
    const { url, headers, body } = await chat({ maxOutput: 77, cacheKey: "ses_1" });
    expect(url).toBe("https://api.openai.com/v1/chat/completions");
    expect(headers.get("authorization")).toBe("Bearer the-key");
    expect(body).toMatchObject({ max_completion_tokens: 77, prompt_cache_key: "ses_1", stream_options: { include_usage: true } });
    expect(body).not.toHaveProperty("max_tokens");
    expect((await chat({ maxOutput: null })).body).not.toHaveProperty("max_completion_tokens");
  });

  it("turn thinking down as far as the model can, only when asked", async () => {
    expect((await chat({ reasoning: "off" })).body.reasoning_effort).toBe("minimal");
    expect((await chat({ reasoning: "off" }, "gpt-4o")).body).not.toHaveProperty("reasoning_effort");
    expect((await chat()).body).not.toHaveProperty("reasoning_effort");
  });

  it("carry arguments as the model wrote them, and ids as it takes them", async () => {
    const parts = [toolCall({ call_id: "x".repeat(50), name: "lookup", arguments: "{broken" })];
    const { body } = await chat({ messages: [user("Hi"), { role: "assistant", parts }, toolResult("x".repeat(50), "one")] });
    const [made] = body.messages[1].tool_calls;
    expect(made.function.arguments).toBe("{broken");
    expect(made.id.length).toBeLessThanOrEqual(40);
    expect(body.messages[2].tool_call_id).toBe(made.id);
  });

  it.each([
    ["gpt-4o", null],
    ["o3-mini", "low"],
    ["gpt-5", "minimal"],
    ["gpt-5-mini-2025-08-07", "minimal"],
    ["gpt-5.1", "none"],
    ["gpt-5-chat-latest", null],
    ["gpt-6-sol", "none"],
    ["gpt-6-astra", "low"],
    ["somebody's own", null],
  ])("least effort of %s: %s", (name, effort) => {
    expect(leastEffort(name)).toBe(effort);
  });
});
