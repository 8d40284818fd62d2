/** A running backend with a scripted model, held to the Open Responses specification: every resource and every event that comes. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startToolServer } from "../support/stand-in/tool-server";
import type { WireRequest } from "../support/stand-in/wire";
import { ChatServer } from "./chat-server";
import { listTypes, ResponsesCaller, readCalls, readStreamed, readText } from "./responses-caller";

const MINUTES = 60_000;
const MODEL = "scripted";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
let server: ChatServer;
let responses: ResponsesCaller;

beforeAll(async () => {
  server = await ChatServer.start();
  responses = new ResponsesCaller(server.url, server.key);
}, 2 * MINUTES);
afterAll(() => server?.close());

/** Every response of a test is kept as it was shown, and told again to the same end. */
afterEach(async () => {
  for (const response of responses.takeStored()) {
    expect(await responses.retrieve(response.id)).toEqual(response);
    expect(readStreamed(await responses.replay(response.id)).response).toEqual(response);
  }
});

const user = (content: unknown) => ({ type: "message", role: "user", content });
const result = (call_id: string, output: string) => ({ type: "function_call_output", call_id, output });
const lookUp = {
  type: "function",
  name: "look_up",
  description: "Looks up",
  parameters: { type: "object", properties: { of: { type: "string" } }, required: ["of"] },
};

/** What the model read last, as `role: text`. */
function readAsked(): string[] {
  const { messages }: Pick<WireRequest, "messages"> = server.provider.log.at(-1)?.body ?? { messages: [] };
  return messages.map(({ role, content }) => `${role}: ${typeof content === "string" ? content : JSON.stringify(content)}`);
}

describe("text", () => {
  test("is answered as JSON", async () => {
    server.provider.enqueue({ text: "Hello, dear 狗. 🐕" });

    const response = await responses.create({ model: MODEL, input: [user("Say hello in exactly 3 words.")] });

    expect(response).toMatchObject({ status: "completed", model: MODEL, store: true, background: false, tools: [], metadata: {} });
    expect(readText(response)).toBe("Hello, dear 狗. 🐕");
  });

  test("is streamed", async () => {
    server.provider.enqueue({ text: "One, two, three, four, five. 狗\r\n\n🐕 data: [DONE]", chunks: 7 });

    const { response, events, sent } = await responses.stream({ model: MODEL, input: "Count from 1 to 5." });

    expect(response.status).toBe("completed");
    expect(readText(response)).toBe("One, two, three, four, five. 狗\r\n\n🐕 data: [DONE]");
    expect(events.filter(({ type }) => type === "response.output_text.delta").length).toBeGreaterThan(0);
    expect(sent.at(-1)?.data).toBe("[DONE]");
  });

  test("that is empty is a response all the same", async () => {
    server.provider.enqueue({ text: "" }, { text: "" });

    const { response } = await responses.stream({ model: MODEL, input: "Say nothing." });
    const whole = await responses.create({ model: MODEL, input: "Say nothing." });

    expect([readText(response), readText(whole)]).toEqual(["", ""]);
    expect(response.status).toBe(whole.status);
  });

  test("is asked with the client's system message, history and instructions", async () => {
    server.provider.enqueue({ text: "Alice." });
    const input = [
      { type: "message", role: "system", content: "You are a pirate." },
      user("My name is Alice."),
      { type: "message", role: "assistant", content: "Hello Alice!" },
      user([
        { type: "input_text", text: "What is " },
        { type: "input_text", text: "my name?" },
      ]),
    ];

    const { response } = await responses.stream({ model: MODEL, input, instructions: "Be brief." });

    expect(response).toMatchObject({ status: "completed", instructions: "Be brief." });
    expect(readAsked().join("\n")).toMatch(
      /Be brief\.[\s\S]*You are a pirate\.[\s\S]*Alice\.[\s\S]*Hello Alice![\s\S]*What is [\s\S]*my name\?/,
    );
    const inputs = await responses.listInputs(response.id, "?order=asc");
    expect(inputs.data.map((item) => (item.type === "message" ? item.role : item.type))).toEqual(["system", "user", "assistant", "user"]);
  });

  test("repeats what it was asked with", async () => {
    const asked = {
      temperature: 0.5,
      top_p: 0.25,
      max_output_tokens: 200,
      metadata: { topic: "狗" },
      truncation: "auto",
      parallel_tool_calls: false,
      safety_identifier: "user-1",
      prompt_cache_key: "cache-1",
      tools: [{ ...lookUp, strict: true }],
      tool_choice: { type: "function", name: "look_up" },
      reasoning: { effort: "low" },
      text: { format: { type: "json_object" } },
    };
    server.provider.enqueue({ text: "{}" }, { text: "{}" });

    const { response } = await responses.stream({ model: MODEL, input: "Say hello as JSON.", ...asked });

    expect(response).toMatchObject({ ...asked, reasoning: { effort: "low", summary: null } });
    expect(await responses.create({ model: MODEL, input: "Say hello as JSON.", ...asked })).toMatchObject(asked);
  });
});

describe("tools", () => {
  const call = (id: string, of: string) => ({ id, name: "look_up", arguments: JSON.stringify({ of }) });

  test("are called in parallel, and their results continue the response", async () => {
    server.provider.enqueue(
      { text: "Let me see.", tool_calls: [call("call_a", "里斯本"), call("call_b", "Paris")] },
      { text: "Sun and rain." },
    );

    const first = await responses.stream({ model: MODEL, input: "Weather?", tools: [lookUp] });

    expect(listTypes(first.response)).toEqual(["message", "function_call", "function_call"]);
    expect(first.response.tools).toEqual([{ ...lookUp, strict: expect.any(Boolean) }]);
    expect(readCalls(first.response).map(({ call_id, arguments: given }) => [call_id, given])).toEqual([
      ["call_a", '{"of":"里斯本"}'],
      ["call_b", '{"of":"Paris"}'],
    ]);
    const second = await responses.stream({
      model: MODEL,
      previous_response_id: first.response.id,
      tools: [lookUp],
      input: [result("call_b", "rain"), result("call_a", "sun")],
    });
    expect(readText(second.response)).toBe("Sun and rain.");
    expect(second.response).toMatchObject({ previous_response_id: first.response.id, status: "completed" });
    expect(second.response.id).not.toBe(first.response.id);
    const inputs = await responses.listInputs(second.response.id, "?order=asc");
    expect(inputs.data.map(({ type }) => type)).toEqual(["function_call_output", "function_call_output"]);
  });

  test("are called over and over in one conversation, as JSON", async () => {
    server.provider.enqueue({ tool_calls: [call("call_1", "a")] }, { tool_calls: [call("call_2", "b")] }, { text: "Done." });

    const first = await responses.create({ model: MODEL, input: "Go.", tools: [lookUp], tool_choice: "required" });
    const ask = { model: MODEL, tools: [lookUp] };
    const second = await responses.create({ ...ask, previous_response_id: first.id, input: [result("call_1", "狗")] });
    const third = await responses.create({ ...ask, previous_response_id: second.id, input: [result("call_2", ""), user("Well?")] });

    expect([first, second, third].map(listTypes)).toEqual([["function_call"], ["function_call"], ["message"]]);
    expect(new Set([first.id, second.id, third.id]).size).toBe(3);
  });

  test("without parameters have empty arguments", async () => {
    server.provider.enqueue({ tool_calls: [{ id: "call_now", name: "now", arguments: "{}" }] });

    const { response } = await responses.stream({ model: MODEL, input: "Time?", tools: [{ type: "function", name: "now" }] });

    expect(response.tools).toEqual([{ type: "function", name: "now", description: null, parameters: null, strict: expect.any(Boolean) }]);
    expect(readCalls(response)).toMatchObject([{ name: "now", arguments: "{}" }]);
  });

  test("want a result for each call, and no other", async () => {
    server.provider.enqueue({ tool_calls: [call("call_x", "a"), call("call_y", "b")] });
    const { id } = await responses.create({ model: MODEL, input: "Go.", tools: [lookUp] });
    const ask = { model: MODEL, previous_response_id: id, tools: [lookUp] };

    expect(await responses.refuseCreate({ ...ask, input: [result("call_x", "1")] })).toMatchObject({
      status: 400,
      param: "input",
      message: "No tool output found for function call call_y.",
    });
    expect(await responses.refuseCreate({ ...ask, input: "Never mind." })).toMatchObject({ status: 400, param: "input" });
    const both = [result("call_x", "1"), result("call_y", "2")];
    expect(await responses.refuseCreate({ ...ask, input: [...both, result("call_z", "3")] })).toMatchObject({
      status: 400,
      param: "input",
      message: "No tool call found for function call output with call_id call_z.",
    });
    server.provider.enqueue({ text: "3." });
    expect(readText(await responses.create({ ...ask, input: both }))).toBe("3.");
  });

  test("that the server runs are calls with their results", async () => {
    const tools = await startToolServer();
    try {
      const body = { description: "Looks up", parameters: { type: "object" }, url: `${tools.url}/echo` };
      await server.longhand.put("/v1/tools/{tool_name}", { path: { tool_name: "find" }, body });
      const { id } = await server.longhand.post("/v1/sessions", { body: { model: MODEL, tools: [{ type: "http", name: "find" }] } });
      const found = (name: string) => ({ id: name, name: "find", arguments: '{"city":"里斯本"}' });
      server.provider.enqueue({ text: "Wait.", tool_calls: [found("a"), found("b")] }, { text: "Sun." });

      const { response } = await responses.stream({ conversation: id.replace("ses_", "conv_"), input: "Weather?" });

      expect(listTypes(response)).toEqual(["message", "mcp_call", "mcp_call", "message"]);
      expect(response.conversation).toEqual({ id: id.replace("ses_", "conv_") });
    } finally {
      await tools.close();
    }
  });
});

describe("input and output of other kinds", () => {
  test("an image is shown to the model", async () => {
    server.provider.enqueue({ text: "A red heart." });
    const image = { type: "input_image", image_url: `data:image/png;base64,${PNG}` };

    const { response } = await responses.stream({
      model: MODEL,
      input: [user([{ type: "input_text", text: "What do you see?" }, image])],
    });

    expect(response.status).toBe("completed");
    expect(JSON.stringify(server.provider.log.at(-1)?.body.messages)).toContain(PNG);
    const { data } = await responses.listInputs(response.id);
    expect(data).toMatchObject([{ role: "user", content: [{ type: "input_text" }, { type: "input_image" }] }]);
  });

  test("reasoning comes before the text, as a summary", async () => {
    server.provider.enqueue({ reasoning: "They greet me. 你好。", text: "Hello." });

    const { response, events } = await responses.stream({ model: MODEL, input: "Hello!" });

    expect(listTypes(response)).toEqual(["reasoning", "message"]);
    expect(response.output[0]).toMatchObject({ summary: [{ type: "summary_text", text: "They greet me. 你好。" }] });
    expect(events.some(({ type }) => type === "response.reasoning_summary_text.delta")).toBe(true);
    server.provider.enqueue({ text: "Fine." });
    const next = await responses.create({ model: MODEL, previous_response_id: response.id, input: "How are you?" });
    expect(readText(next)).toBe("Fine.");
  });

  test("structured output has its schema repeated", async () => {
    server.provider.enqueue({ text: '{"name":"雷克斯"}' });
    const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: false };
    const text = { format: { type: "json_schema", name: "dog", schema, strict: true } };

    const { response } = await responses.stream({ model: MODEL, input: "Its name?", text });

    expect(JSON.parse(readText(response))).toEqual({ name: "雷克斯" });
    expect(response.text.format).toEqual({ ...text.format, description: null });
  });
});

describe("a conversation of several responses", () => {
  test("goes on from the response before, and branches from an older one", async () => {
    server.provider.enqueue({ text: "Rex it is." }, { text: "Rex." }, { text: "A dog." });
    const first = await responses.create({ model: MODEL, input: "My dog is Rex.", instructions: "Be brief." });

    const second = await responses.stream({ model: MODEL, previous_response_id: first.id, input: "Its name?" });

    expect(readAsked()).toEqual(["user: My dog is Rex.", "assistant: Rex it is.", "user: Its name?"]);
    expect(second.response).toMatchObject({ previous_response_id: first.id, instructions: null });
    await responses.stream({ model: MODEL, previous_response_id: first.id, input: "What is it?" });
    expect(readAsked()).toEqual(["user: My dog is Rex.", "assistant: Rex it is.", "user: What is it?"]);
  });

  test("goes on in a conversation that its responses name", async () => {
    const opened = await fetch(`${server.url}/v1/conversations`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
      body: JSON.stringify({ items: [user("我的狗叫雷克斯。")] }),
    });
    const conversation: { readonly id: string } = await opened.json();
    server.provider.enqueue({ text: "Rex." }, { text: "A dog." });

    const first = await responses.stream({ model: MODEL, conversation: conversation.id, input: "Its name?" });
    const second = await responses.create({ model: MODEL, conversation: { id: conversation.id }, input: "What is it?" });

    expect(readAsked()).toEqual(["user: 我的狗叫雷克斯。", "user: Its name?", "assistant: Rex.", "user: What is it?"]);
    for (const response of [first.response, second]) {
      expect(response).toMatchObject({ conversation: { id: conversation.id }, previous_response_id: null });
    }
    const both = { model: MODEL, conversation: conversation.id, previous_response_id: second.id, input: "Both?" };
    expect(await responses.refuseCreate(both)).toMatchObject({ status: 400, type: "invalid_request_error" });
  });
});

describe("a response that does not complete", () => {
  test("is incomplete where its tokens run out", async () => {
    server.provider.enqueue({ text: "Once upon a", finish: "length" }, { text: "Once upon a", finish: "length" });
    const ask = { model: MODEL, input: "A story.", max_output_tokens: 16 };

    const { response } = await responses.stream(ask);
    const whole = await responses.create(ask);

    for (const each of [response, whole])
      expect(each).toMatchObject({
        ...{ status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, max_output_tokens: 16 },
        output: [{ type: "message", status: "incomplete", content: [{ text: "Once upon a" }] }],
      });
  });

  test.each([
    ["after some text", { text: "Once upon a time there was", error: { message: "boom", type: "invalid_request_error" } }],
    ["by a broken connection", { text: "Once upon a time there was", cutAfterChunks: 2 }],
    ["before any text", { status: 400, error: { message: "boom", type: "invalid_request_error" } }],
  ])("is failed where its model fails %s, with an error event before it", async (_, reply) => {
    server.provider.enqueue(reply, reply);

    const { response, events } = await responses.stream({ model: MODEL, input: "A story." });
    const whole = await responses.refuseCreate({ model: MODEL, input: "A story." });

    expect(events.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
    expect(response).toMatchObject({ status: "failed", error: { code: "server_error" } });
    expect(whole).toMatchObject({ status: 500, code: "server_error" });
  });
});

describe("a refusal", () => {
  test.each([
    ["a body that is not JSON", "{", { status: 400 }],
    ["no input", { model: MODEL }, { status: 400, param: "input" }],
    ["an unknown model", { model: "nope", input: "Hello" }, { status: 404, code: "model_not_found", param: "model" }],
    ["a parameter of the wrong type", { model: MODEL, input: "Hello", temperature: "hot" }, { status: 400, param: "temperature" }],
    ["a parameter that is not offered", { model: MODEL, input: "Hello", prompt: { id: "p" } }, { status: 400, param: "prompt" }],
    ["an unknown item", { model: MODEL, input: [{ type: "nope" }] }, { status: 400 }],
    ["an unknown tool", { model: MODEL, input: "Hello", tools: [{ type: "local_shell" }] }, { status: 400 }],
    [
      "an unknown response",
      { model: MODEL, input: "Hello", previous_response_id: "resp_nope" },
      { code: "previous_response_not_found", param: "previous_response_id" },
    ],
    ["an unknown conversation", { model: MODEL, input: "Hello", conversation: "conv_nope" }, { status: 404 }],
  ])("of %s has the error's body, streamed or not", async (_, body, expected) => {
    const asks = [body, typeof body === "string" ? body : { ...body, stream: true }];
    for (const ask of asks) expect(await responses.refuseCreate(ask)).toMatchObject(expected);
  });

  test("of a stranger tells nothing of the response", async () => {
    server.provider.enqueue({ text: "Mine." });
    const { id } = await responses.create({ model: MODEL, input: "Hello" });

    expect(await new ResponsesCaller(server.url, "lh_nope").refuse(`/${id}`, {})).toMatchObject({ status: 401 });
    const unknown = await responses.refuse("/resp_nope", {});
    expect(unknown).toMatchObject({ status: 404 });
  });
});
