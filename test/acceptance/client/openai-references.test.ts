/** The AI SDK's default model of OpenAI, unmodified, over a running backend: it names no response, and refers to what the model said before. */
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ChatServer } from "../../client/chat-server";

const MINUTES = 60_000;
const MODEL = "scripted";
const SMALL = "scripted-small";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

let server: ChatServer;

beforeAll(async () => {
  server = await ChatServer.start();
}, 2 * MINUTES);
afterAll(() => server?.close());

const connect = () => createOpenAI({ apiKey: server.key, baseURL: `${server.url}/v1` });
const connectByHand = () => new OpenAI({ apiKey: server.key, baseURL: `${server.url}/v1`, maxRetries: 0 });
const readSession = (response: string): string => `ses_${response.slice(5, 31)}`;
const weather = tool({
  description: "The weather in a city",
  inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
  execute: async ({ city }) => `${city}: 21 degrees`,
});

test("stays in one session over tools, reasoning, images and streams", async () => {
  const openai = connect();
  const image = { type: "file" as const, mediaType: "image/png", data: PNG };
  server.provider.enqueue(
    { reasoning: "A greeting.", text: "你好。" },
    { reasoning: "Look.", text: "I look.", tool_calls: [asks("1", "巴黎"), asks("2", "Oslo")] },
    { text: "21 in both." },
    { text: "A red dot." },
    { text: "Still the dot." },
  );
  const messages: ModelMessage[] = [];
  const sessions = new Set<string>();
  for (const content of ["Hello", "天气?", [{ type: "text" as const, text: "What is this?" }, image], "And now?"]) {
    messages.push({ role: "user", content });
    const asked = { model: openai(MODEL), system: "Be brief.", messages, tools: { weather }, stopWhen: isStepCount(3) };
    const answer = messages.length > 6 ? await readStream(asked) : await generateText(asked);
    for (const { response } of answer.steps) sessions.add(readSession(response.id));
    messages.push(...answer.responseMessages);
  }

  expect(sessions.size).toBe(1);
  const [session = ""] = sessions;
  const texts = await server.listTexts(session);
  expect(texts.filter((line) => line.startsWith("user:"))).toEqual([
    "user: Hello",
    "user: 天气?",
    "user: What is this?image",
    "user: And now?",
  ]);
  expect(texts.filter((line) => line.startsWith("tool:"))).toEqual(["tool: 巴黎: 21 degrees", "tool: Oslo: 21 degrees"]);
  const roles = server.provider.log.at(-1)?.body.messages.map(({ role }) => role);
  expect(roles).toEqual(["system", "user", "assistant", "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "user"]);

  // The image of the user's item is copied into another session, and outlives the first one.
  const client = connectByHand();
  const items = await client.conversations.items.list(session.replace("ses_", "conv_"), { order: "asc" });
  const shown = items.data.find((item) => item.type === "message" && item.content.some(({ type }) => type === "input_image"));
  server.provider.enqueue({ text: "A dot again." }, { text: "The same dot." });
  const copied = await client.responses.create({ model: MODEL, input: [{ type: "item_reference", id: shown?.id ?? "" }] });
  expect(readSession(copied.id)).not.toBe(session);
  await client.conversations.delete(session.replace("ses_", "conv_"));
  await client.responses.create({ model: MODEL, input: "Again?", previous_response_id: copied.id });
  expect(JSON.stringify(server.provider.log.at(-1)?.body.messages)).toContain(PNG.slice(0, 40));
});

const asks = (id: string, city: string) => ({ id, name: "weather", arguments: JSON.stringify({ city }) });

async function readStream(asked: Parameters<typeof streamText>[0]) {
  const stream = streamText(asked);
  await stream.consumeStream();
  return { steps: await stream.steps, responseMessages: await stream.responseMessages };
}

test("is compacted in the middle, in a window of 2,048 tokens, and goes on", async () => {
  const openai = connect();
  server.provider.respondWith(({ messages }) => ({ text: `${messages.length} messages. ${"Well, well. ".repeat(60)}` }));
  const messages: ModelMessage[] = [];
  const sessions = new Set<string>();
  for (let nth = 1; nth <= 12; nth++) {
    messages.push({ role: "user", content: `Question ${nth}: ${"why? ".repeat(40)}` });
    const answer = await generateText({ model: openai(SMALL), messages, maxRetries: 0 });
    sessions.add(readSession(answer.response.id));
    messages.push(...answer.responseMessages);
  }

  expect(sessions.size).toBe(1);
  const [session = ""] = sessions;
  const described = await server.longhand.get("/v1/sessions/{session_id}", { path: { session_id: session } });
  expect(described).toMatchObject({ message_count: 24, compacted_summary: expect.any(String) });
  expect(await server.listTexts(session)).toHaveLength(24);
}, 60_000);
