import { describe, expect, it } from "vitest";
import type { ChatMessage, ModelRequest, ModelSpec, ModelStreamPart } from "../../src/app/ports";
import { createChatModel } from "../../src/model/chat-model";
import { assistant, collect, modelRequest, modelSpec, toolCall, toolResult, user } from "./model-request";
import { event, type Read, toStream } from "./scripted";

const spec = (changes: Partial<ModelSpec> = {}): ModelSpec =>
  modelSpec({ provider: "workers-ai", upstream_id: "@cf/meta/llama-4-scout", base_url: null, ...changes });
const request = (changes: Partial<ModelRequest> = {}): ModelRequest => modelRequest({ model: spec(), ...changes });
const failure = (kind: string, status: number | null = null): ModelStreamPart =>
  ({ type: "failure", failure: { kind, status } }) as ModelStreamPart;

interface Ran {
  readonly model: string;
  // biome-ignore lint/suspicious/noExplicitAny: the provider's own JSON, looked into by the tests.
  readonly inputs: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly options: any;
}

/** A binding that returns a scripted answer. */
function bound(answer: () => unknown) {
  const ran: Ran[] = [];
  const run = async (model: string, inputs: unknown, options: unknown) => {
    ran.push({ model, inputs, options });
    return answer();
  };
  const model = createChatModel({ credentials: async () => null, estimate: (text) => text.length, ai: { run } as unknown as Ai });
  const ask = (changes: Partial<ModelRequest> = {}, signal = new AbortController().signal) =>
    collect(model.stream(request(changes), { signal }));
  return { ran, model, ask };
}

const stream = (...reads: readonly Read[]) => new Response(toStream(reads), { headers: { "content-type": "text/event-stream" } });
const DONE = "data: [DONE]\n\n";
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

describe("the reply of a binding", () => {
  const whole: readonly ModelStreamPart[] = [
    { type: "text", text: "The sky is blue." },
    { type: "finish", finish: "stop", usage: { input: 10, output: 5, cached: 0, reasoning: 0 } },
  ];
  /** With its text in one piece, and without what was counted on the way. */
  const joined = (chunks: readonly ModelStreamPart[]): readonly ModelStreamPart[] => {
    const text = chunks.map((chunk) => (chunk.type === "text" ? chunk.text : "")).join("");
    return [{ type: "text", text }, ...chunks.filter(({ type }) => type !== "text" && type !== "usage")];
  };

  it("is read in its models' own way", async () => {
    const { ask } = bound(() => stream({ response: "The sky" }, { response: " is blue." }, { response: "", usage }, DONE));
    expect(joined(await ask())).toEqual(whole);
  });

  it("is read as a chat completion, with its thinking", async () => {
    const delta = (value: object, finish_reason: string | null = null) => ({ choices: [{ index: 0, delta: value, finish_reason }] });
    const { ask } = bound(() =>
      stream(delta({ reasoning_content: "Hmm." }), delta({ content: "The sky is blue." }), delta({}, "stop"), { choices: [], usage }, DONE),
    );
    expect(await ask()).toEqual([{ type: "reasoning", text: "Hmm." }, ...whole]);
  });

  it("is read when it comes whole although a stream was asked for, and as a bare stream", async () => {
    const completion = { choices: [{ message: { role: "assistant", content: "The sky is blue." }, finish_reason: "stop" }], usage };
    expect(await bound(() => completion).ask()).toEqual(whole);
    expect(await bound(() => Response.json({ response: "The sky is blue.", usage })).ask()).toEqual(whole);
    expect(joined(await bound(() => toStream([{ response: "The sky is blue.", usage }, DONE])).ask())).toEqual(whole);
  });

  it("gives calls in either form", async () => {
    const own = { tool_calls: [{ name: "lookup", arguments: { q: "a" } }] };
    const { ask } = bound(() => stream({ response: "" }, own, DONE));
    expect(await ask()).toMatchObject([
      { type: "tool_call", call: { name: "lookup", arguments: '{"q":"a"}' } },
      { type: "finish", finish: "tool_calls" },
    ]);
    const called = { choices: [{ delta: { tool_calls: [{ index: 0, id: "c1", function: { name: "lookup", arguments: "{broken" } }] } }] };
    expect(await bound(() => stream(called, DONE)).ask()).toMatchObject([
      { type: "tool_call", call: { call_id: "c1", arguments: "{broken" } },
      { type: "finish", finish: "tool_calls" },
    ]);
  });
});

describe("a failure of a binding is the last chunk", () => {
  it("when it throws, by its code; when it answers with a status; when its stream says so; when it is cut", async () => {
    const throwing = (message: string) => bound(() => Promise.reject(new Error(message)));
    expect(await throwing("3040: Capacity temporarily exceeded, please try again.").ask()).toMatchObject([failure("rate_limit", 429)]);
    expect(await throwing("5007: No such model @cf/none or task").ask()).toMatchObject([{ failure: { status: 404 } }]);
    const answered = bound(() => new Response("{}", { status: 429, headers: { "retry-after": "3" } }));
    expect(await answered.ask()).toMatchObject([{ type: "failure", failure: { kind: "rate_limit", status: 429, retry_after_ms: 3_000 } }]);
    const error = { errors: [{ code: 7009, message: "Upstream service unavailable" }] };
    expect((await bound(() => stream({ response: "So" }, error)).ask()).at(-1)).toMatchObject(failure("unavailable"));
    expect((await bound(() => stream({ response: "So" })).ask()).at(-1)).toEqual(failure("unavailable"));
  });

  it("when there is no binding", async () => {
    const model = createChatModel({ credentials: async () => null, estimate: (text) => text.length });
    expect(await collect(model.stream(request(), { signal: new AbortController().signal }))).toEqual([failure("unavailable")]);
  });

  it("when it is stopped: its stream is closed", async () => {
    let closed = 0;
    const controller = new AbortController();
    const { model } = bound(() => toStream([{ response: "Once" }], { open: true, onCancel: () => closed++ }));
    const seen: string[] = [];
    for await (const chunk of model.stream(request(), { signal: controller.signal })) {
      seen.push(chunk.type === "failure" ? chunk.failure.kind : chunk.type);
      controller.abort();
    }
    expect(seen).toEqual(["text", "aborted"]);
    expect(closed).toBe(1);
  });
});

describe("the inputs of a binding", () => {
  const messages: ChatMessage[] = [
    user("One"),
    { role: "assistant", parts: [{ type: "reasoning", text: "Mine." }, toolCall({ call_id: "c", name: "lookup", arguments: "{broken" })] },
    toolResult("c", "found"),
    assistant("Two"),
    { role: "user", parts: [{ type: "image", url: "https://e.com/a.png", media_type: "image/png" }] },
  ];

  it("are told and rendered as they are run, in the session's place", async () => {
    const { ran, model } = bound(() => stream(DONE));
    const asked = request({ system: "Be brief.", messages, maxOutput: 77, cacheKey: "ses_1" });
    const told: string[] = [];
    const rendered = await model.render(asked);
    await collect(model.stream(asked, { signal: new AbortController().signal, onRequest: (body) => told.push(body) }));
    expect(rendered).toEqual({ url: "workers-ai:@cf/meta/llama-4-scout", body: told[0] });
    expect(ran).toHaveLength(1);
    expect(ran[0]?.model).toBe("@cf/meta/llama-4-scout");
    expect(ran[0]?.inputs).toEqual(JSON.parse(told[0] ?? ""));
    expect(ran[0]?.inputs).toMatchObject({ max_tokens: 77, stream: true });
    expect(ran[0]?.options.extraHeaders).toEqual({ "x-session-affinity": "ses_1" });
  });

  it("name images in words, keep thinking here and send arguments as an object", async () => {
    const { ran, ask } = bound(() => stream(DONE));
    await ask({ messages });
    expect(ran[0]?.inputs.messages).toEqual([
      { role: "user", content: "One" },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "c", type: "function", function: { name: "lookup", arguments: '{"invalid_arguments":"{broken"}' } }],
      },
      { role: "tool", name: "lookup", tool_call_id: "c", content: "found" },
      { role: "assistant", content: "Two" },
      { role: "user", content: "[file: image/png (image/png) https://e.com/a.png]" },
    ]);
  });

  it("turn thinking off only when asked, and leave the cap out where there is none", async () => {
    const { ran, ask } = bound(() => stream(DONE));
    await ask({ reasoning: "off", maxOutput: null });
    await ask({});
    expect(ran[0]?.inputs).toMatchObject({ reasoning_effort: null });
    expect(ran[0]?.inputs).not.toHaveProperty("max_tokens");
    expect(ran[1]?.inputs).not.toHaveProperty("reasoning_effort");
  });
});

it("the builder of events writes what the binding writes", () => {
  expect(event({ response: "a" })).toBe('data: {"response":"a"}\n\n');
});
