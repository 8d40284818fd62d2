/** Requests that name no response, and repeat a conversation by names: the session goes on. Against the app and sessions in this process. */
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from "ai";
import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { SessionId } from "../../../src/domain/ids";
import { TENANT } from "../support";
import { calls, connect, says, show } from "./response-life";

const MODEL = "test-model";
const LOOK = { type: "function" as const, name: "look", parameters: { type: "object", properties: {} }, strict: false };
const user = (content: string) => ({ role: "user" as const, content });
const refer = ({ id }: { readonly id?: string | null }) => ({ type: "item_reference" as const, id: id ?? "" });
const readSession = ({ id }: { readonly id: string }): string => id.slice(5, 31);

type Input = OpenAI.Responses.ResponseInput;
type Output = OpenAI.Responses.Response;

function start() {
  const world = connect();
  const ask = (input: Input, changes: object = {}): Promise<Output> => world.openai.responses.create({ model: MODEL, input, ...changes });
  return { ...world, ask };
}

describe("an input that repeats a conversation", () => {
  it.each([
    ["by names", (output: Output["output"]): Input => output.map(refer)],
    ["in full, with names", (output: Output["output"]): Input => output as Input],
  ])("goes on in its session %s", async (_, repeat) => {
    const { ask, model, requests, lives } = start();
    model.say = (_, nth) => [{ type: "reasoning", text: "Hm." }, ...says(`Answer ${nth}.`)];
    const system = { role: "system" as const, content: "Be brief." };
    const first = await ask([system, user("Hello")]);
    const before = [system, user("Hello"), ...repeat(first.output)];
    const second = await ask([...before, user("天气?")]);
    const third = await ask([...before, user("天气?"), ...repeat(second.output), user("And tomorrow?")]);

    expect(new Set([first, second, third].map(readSession)).size).toBe(1);
    expect(lives.size).toBe(1);
    expect([first, second, third].map(({ previous_response_id }) => previous_response_id)).toEqual([null, null, null]);
    expect(requests.map(show).at(-1)).toEqual([
      "system: Be brief.",
      "user: Hello",
      "assistant: reasoningAnswer 1.",
      "user: 天气?",
      "assistant: reasoningAnswer 2.",
      "user: And tomorrow?",
    ]);
  });

  it("goes on with the turn that waits for results, also where calls have no names", async () => {
    const { ask, model, requests, lives } = start();
    model.say = (_, nth) => (nth === 1 ? [{ type: "text", text: "I look." }, ...calls({ call_id: "a" }, { call_id: "b" })] : says("Sun."));
    const first = await ask([user("Weather?")], { tools: [LOOK] });
    const call = (call_id: string) => ({ type: "function_call" as const, call_id, name: "look", arguments: " { } " });
    const result = (call_id: string) => ({ type: "function_call_output" as const, call_id, output: `${call_id}: 21` });
    const [said] = first.output;
    const steps: Input = [user("Weather?"), refer(said ?? {}), call("a"), call("b"), result("b"), result("a")];
    const second = await ask(steps, { tools: [LOOK] });
    const third = await ask([...steps, ...second.output.map(refer), user("Thanks.")], { tools: [LOOK] });

    expect(second.id).toBe(`${first.id}_2`);
    expect(readSession(third)).toBe(readSession(first));
    expect(lives.size).toBe(1);
    expect(requests.map(show).at(-1)).toEqual([
      "user: Weather?",
      "assistant: I look.tool_calltool_call",
      "tool: a: 21",
      "tool: b: 21",
      "assistant: Sun.",
      "user: Thanks.",
    ]);
  });

  it.each<[string, (output: Output["output"]) => Input]>([
    // The AI SDK names such a call twice.
    ["by names", (output) => output.flatMap((item) => (item.type === "mcp_call" ? [refer(item), refer(item)] : [refer(item)]))],
    ["in full", (output) => output as Input],
  ])("goes on behind calls that the server ran, %s", async (_, repeat) => {
    const { ask, openai, model, lives } = start();
    model.say = (_, nth) =>
      nth === 1 ? [{ type: "text", text: "I look." }, ...calls({ call_id: "a" }, { call_id: "b" })] : says(`Sun ${nth}.`);
    const { conversation, session } = await openWithServerTool({ openai, lives });
    const first = await ask([user("Weather?")], { conversation });
    const second = await ask([user("Weather?"), ...repeat(first.output), user("And now?")]);

    expect(first.output.map(({ type }) => type)).toEqual(["message", "mcp_call", "mcp_call", "message"]);
    expect(`ses_${readSession(second)}`).toBe(session);
  });

  it("goes on in a copy where the session is busy, and where the calls were answered otherwise", async () => {
    const { ask, model, requests } = start();
    model.say = (_, nth) => (nth === 2 ? [{ type: "text", text: "I look." }, ...calls({ call_id: "a" })] : says(`Answer ${nth}.`));
    const tools = [LOOK];
    const first = await ask([user("One")], { tools });
    const before: Input = [user("One"), ...first.output.map(refer)];
    const second = await ask([...before, user("Two")], { tools });
    const answer = (output: string): Input => [
      ...before,
      user("Two"),
      ...second.output.map((item) => (item.type === "function_call" ? (item as Input[number]) : refer(item))),
      { type: "function_call_output", call_id: "a", output },
    ];
    const answers = [await ask(answer("21"), { tools }), await ask(answer("22"), { tools })];
    const atOnce = await Promise.all(["Three", "Four", "Five"].map((content) => ask([...before, user(content)], { tools })));

    expect([...answers, ...atOnce].map(({ status }) => status)).toEqual(Array(5).fill("completed"));
    const asked = requests.slice(2).map((request) => show(request).slice(2));
    expect(asked.slice(0, 2)).toEqual([
      ["user: Two", "assistant: I look.tool_call", "tool: 21"],
      ["user: Two", "assistant: I look.tool_call", "tool: 22"],
    ]);
    // Requests at once reach the model in any order.
    expect(asked.slice(2).flat().toSorted()).toEqual(["user: Five", "user: Four", "user: Three"]);
    // What is said in a copy has names of the copy, and what was said before has those of its source.
    const [, other] = answers;
    if (!other) throw new Error("no answer");
    const next = await ask([...answer("22"), ...other.output.map(refer), user("Thanks.")], { tools });
    expect(readSession(next)).toBe(readSession(other));
    expect(readSession(other)).not.toBe(readSession(first));
  });

  it("is answered once when an SDK sends it again", async () => {
    const { openai, ask, requests } = start();
    const first = await ask([user("One")]);
    const body = { model: MODEL, input: [user("One"), ...first.output.map(refer), user("Two")] };
    const second = await openai.responses.create(body);
    const again = await openai.responses.create(body, { headers: { "x-stainless-retry-count": "1" } });

    expect(again).toEqual(second);
    expect(requests).toHaveLength(2);
  });

  it("goes back to an earlier response, and shares its past", async () => {
    const { ask, requests } = start();
    const first = await ask([user("One")]);
    await ask([user("One"), ...first.output.map(refer), user("Two")]);
    const other = await ask([user("One"), ...first.output.map(refer), user("Other")]);

    expect(readSession(other)).toBe(readSession(first));
    expect(requests.map(show).at(-1)).toEqual(["user: One", "assistant: echo 1", "user: Other"]);
    const again = await ask([user("One"), ...first.output.map(refer), user("Other"), ...other.output.map(refer), user("And?")]);
    expect(readSession(again)).toBe(readSession(first));
  });

  it.each<[string, (output: Output["output"]) => Input, object]>([
    ["other words", (output) => [user("One!"), ...output.map(refer), user("Two")], {}],
    ["another speaker", (output) => [{ role: "system", content: "One" }, ...output.map(refer), user("Two")], {}],
    ["a message more", (output) => [user("Zero"), user("One"), ...output.map(refer), user("Two")], {}],
    ["a message less", (output) => [...output.map(refer), user("Two")], {}],
    ["an image more", (output) => [withImage("One"), ...output.map(refer), user("Two")], {}],
    [
      "words of the model that it did not say",
      (output) => [user("One"), ...output.map(refer), user("Two"), { role: "assistant", content: "No." }, user("Three")],
      {},
    ],
    [
      "other words in full",
      (output) => [
        user("One"),
        ...(output.map((item) => ({ ...item, content: [{ type: "output_text", text: "No.", annotations: [] }] })) as Input),
        user("Two"),
      ],
      {},
    ],
    ["store: false", (output) => [user("One"), ...output.map(refer), user("Two")], { store: false }],
  ])("begins a session of its own with copies: %s", async (_, change, changes) => {
    const { ask, requests } = start();
    const first = await ask([user("One")]);
    const input = change(first.output);
    const second = await ask(input, changes);

    expect(second.status).toBe("completed");
    expect(readSession(second)).not.toBe(readSession(first));
    expect(requests.at(-1)?.messages).toHaveLength(input.length);
  });

  it("goes on in a session of copies, whose names are of two sessions", async () => {
    const { ask, lives } = start();
    const first = await ask([user("One")]);
    const second = await ask([user("Zero"), user("One"), ...first.output.map(refer), user("Two")]);
    const third = await ask([
      user("Zero"),
      user("One"),
      ...[...first.output].map(refer),
      user("Two"),
      ...second.output.map(refer),
      user("Three"),
    ]);

    expect(readSession(second)).not.toBe(readSession(first));
    expect(readSession(third)).toBe(readSession(second));
    expect(lives.size).toBe(2);
  });

  it("with nothing new is a conversation of its own", async () => {
    const { ask } = start();
    const first = await ask([user("One")]);
    const again = await ask([user("One"), ...first.output.map(refer)]);

    expect(readSession(again)).not.toBe(readSession(first));
  });
});

/** A conversation whose server runs `look`. */
async function openWithServerTool({ openai, lives }: Pick<ReturnType<typeof connect>, "openai" | "lives">) {
  const { id: conversation } = await openai.conversations.create();
  const session = `ses_${conversation.slice(5)}` as SessionId;
  const life = lives.get(session);
  if (!life) throw new Error("no session");
  life.tools.run = async () => ({ output: "21 degrees", failure: null });
  const look = { name: "look", parameters: { type: "object" }, runs: { by: "http", tool: "look" } } as const;
  await life.service.patch({ tenant: TENANT, session }, { tools: [look] });
  return { conversation, session };
}

const withImage = (text: string): Input[number] => ({
  role: "user",
  content: [
    { type: "input_text", text },
    { type: "input_image", detail: "auto", image_url: "https://example.com/a.png" },
  ],
});

describe("the AI SDK's default model", () => {
  it("goes on behind calls that the server ran, which it names twice", async () => {
    const { openai, options, model, lives, requests } = connect();
    model.say = (_, nth) =>
      nth === 1 ? [{ type: "text", text: "I look." }, ...calls({ call_id: "a" }, { call_id: "b" })] : says(`Sun ${nth}.`);
    const { conversation, session } = await openWithServerTool({ openai, lives });
    const provider = createOpenAI({ apiKey: options.apiKey, baseURL: options.baseURL, fetch: options.fetch as typeof fetch });
    const messages: ModelMessage[] = [{ role: "user", content: "Weather?" }];
    const first = await generateText({ model: provider(MODEL), messages, providerOptions: { openai: { conversation } } });
    messages.push(...first.responseMessages, { role: "user", content: "And now?" });
    const second = await generateText({ model: provider(MODEL), messages });

    expect(`ses_${readSession(second.response)}`).toBe(session);
    expect(requests.map(show).at(-1)).toEqual([
      "user: Weather?",
      "assistant: I look.tool_calltool_call",
      "tool: 21 degrees",
      "tool: 21 degrees",
      "assistant: Sun 2.",
      "user: And now?",
    ]);
  });

  it.each([["test-model"], ["o4-mini"]])("keeps one session over tools, reasoning, images and streams: %s", async (name) => {
    const { options, model, requests, lives } = connect();
    model.say = (_, nth) =>
      nth === 2
        ? [{ type: "reasoning", text: "Look." }, ...calls({ call_id: "a" }, { call_id: "b" })]
        : [{ type: "reasoning", text: "Hm." }, ...says(`Answer ${nth}.`)];
    const openai = createOpenAI({ apiKey: options.apiKey, baseURL: options.baseURL, fetch: options.fetch as typeof fetch });
    const look = tool({ description: "Looks", inputSchema: jsonSchema({ type: "object" }), execute: async () => "21" });
    const image = { type: "file" as const, mediaType: "image/png", data: new URL("https://example.com/a.png") };
    const messages: ModelMessage[] = [];
    for (const content of ["Hello", "天气?", [{ type: "text" as const, text: "And this?" }, image], "Bye"]) {
      messages.push({ role: "user", content });
      const asked = { model: openai(name), system: "Be brief.", messages, tools: { look }, stopWhen: isStepCount(3) };
      if (messages.length > 6) messages.push(...(await streamText(asked).responseMessages));
      else messages.push(...(await generateText(asked)).responseMessages);
    }

    expect(requests).toHaveLength(5);
    expect(lives.size).toBe(1);
    expect(requests.map(show).at(-1)?.slice(1)).toEqual([
      "user: Hello",
      "assistant: reasoningAnswer 1.",
      "user: 天气?",
      "assistant: reasoningtool_calltool_call",
      "tool: 21",
      "tool: 21",
      "assistant: reasoningAnswer 3.",
      "user: And this?image",
      "assistant: reasoningAnswer 4.",
      "user: Bye",
    ]);
  });
});
