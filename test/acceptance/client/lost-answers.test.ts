/**
 * The vendors' own packages, unmodified and with their own retries, over connections that are cut: the backend has recorded the request, and its
 * answer never arrives. The package sends the request again, and its caller has the answer of the first one.
 */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import OpenAI5 from "openai-v5";
import OpenAI6 from "openai-v6";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ChatServer } from "../../client/chat-server";
import { type BreakingProxy, type Fault, startBreakingProxy } from "../../support/breaking-proxy";

const MINUTES = 60_000;
const MODEL = "scripted";
/** The answer is cut behind what it does not contain. */
const PASS: Fault = { cutBehind: "\u0000" };
const LOOK = { type: "function" as const, name: "look", description: "Looks", parameters: { type: "object" }, strict: false };

let server: ChatServer;
const proxies: BreakingProxy[] = [];

beforeAll(async () => {
  server = await ChatServer.start();
}, 2 * MINUTES);
afterAll(async () => {
  for (const proxy of proxies) proxy.close();
  await server?.close();
});

/** `faults`: of the first requests of that name, in order. */
async function breakOff(name: string, faults: readonly Fault[]): Promise<BreakingProxy> {
  const proxy = await startBreakingProxy(server.url, { [name]: faults });
  proxies.push(proxy);
  return proxy;
}

const countTries = ({ passed }: BreakingProxy, name: string): (string | undefined)[] =>
  passed.filter((each) => each.name === name).map(({ headers }) => headers["x-stainless-retry-count"]);

async function openConversation() {
  const session = await server.openSession();
  return { session, conversation: `conv_${session.slice("ses_".length)}` };
}

// The types of three majors are not one type. What these tests call is the same in all of them.
const PACKAGES = [
  ["5", OpenAI5 as unknown as typeof OpenAI],
  ["6", OpenAI6 as unknown as typeof OpenAI],
  ["7", OpenAI],
] as const;

describe.each(PACKAGES)("openai %s", (_, Package) => {
  const connect = ({ url }: { readonly url: string }, headers: Readonly<Record<string, string>> = {}) =>
    new Package({ apiKey: server.key, baseURL: `${url}/v1`, maxRetries: 2, defaultHeaders: headers });

  test("responses: a message, results, and a stream that never began", async () => {
    const { session, conversation } = await openConversation();
    const proxy = await breakOff("POST /v1/responses", ["lose", "refuse", PASS, "lose"]);
    const openai = connect(proxy);
    server.provider.enqueue(
      { text: "Let me look.", tool_calls: [{ id: "1", name: "look", arguments: "{}" }] },
      { text: "天晴。🐕" },
      { text: "Yes." },
    );

    const first = await openai.responses.create({ model: MODEL, conversation, input: "Look.", tools: [LOOK] });
    const call = first.output.find((item) => item.type === "function_call");
    expect(call).toMatchObject({ name: "look" });
    const output = { type: "function_call_output" as const, call_id: call?.type === "function_call" ? call.call_id : "", output: "sun" };
    const second = await openai.responses.create({ model: MODEL, previous_response_id: first.id, input: [output], tools: [LOOK] });
    const third = await openai.responses.create({ model: MODEL, previous_response_id: second.id, input: "Sure?", tools: [LOOK] });

    expect([second.output_text, third.output_text]).toEqual(["天晴。🐕", "Yes."]);
    expect(countTries(proxy, "POST /v1/responses")).toEqual(["0", "1", "2", "0", "1", "0"]);
    expect(await server.listTexts(session)).toEqual([
      ...["user: Look.", "assistant: Let me look.", "tool: sun", "assistant: 天晴。🐕", "user: Sure?", "assistant: Yes."],
    ]);
  });

  test("a stream whose first bytes are lost is told from its beginning", async () => {
    const { session, conversation } = await openConversation();
    const proxy = await breakOff("POST /v1/responses", ["lose"]);
    server.provider.enqueue({ text: "One two three." });

    const stream = await connect(proxy).responses.create({ model: MODEL, conversation, input: "Count.", stream: true });
    const types: string[] = [];
    let said = "";
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === "response.output_text.delta") said += event.delta;
    }

    expect([types[0], types.at(-1), said]).toEqual(["response.created", "response.completed", "One two three."]);
    expect(await server.listTexts(session)).toEqual(["user: Count.", "assistant: One two three."]);
  });

  test("items of a conversation are appended once", async () => {
    const { session, conversation } = await openConversation();
    // The proxy names no id.
    const name = "POST /v1/conversations/c*/items";
    const proxy = await breakOff(name, ["lose"]);

    const added = await connect(proxy).conversations.items.create(conversation, {
      items: [{ type: "message", role: "user", content: "yes" }],
    });
    const again = await connect(proxy).conversations.items.create(conversation, {
      items: [{ type: "message", role: "user", content: "yes" }],
    });

    expect(countTries(proxy, name)).toEqual(["0", "1", "0"]);
    expect(added.data).toHaveLength(1);
    expect(again.data[0]?.id).not.toBe(added.data[0]?.id);
    expect(await server.listTexts(session)).toEqual(["user: yes", "user: yes"]);
  });

  test("a chat completion of a session is asked once, however often it is sent", async () => {
    const { session } = await openConversation();
    const proxy = await breakOff("POST /v1/chat/completions", ["lose", "refuse"]);
    server.provider.enqueue({ text: "One." });

    const messages = [{ role: "user" as const, content: "Say one." }];
    const said = await connect(proxy, { "X-Session-Id": session }).chat.completions.create({ model: MODEL, messages });

    expect(said.choices[0]?.message.content).toBe("One.");
    expect(countTries(proxy, "POST /v1/chat/completions")).toEqual(["0", "1", "2"]);
    expect(await server.listTexts(session)).toEqual(["user: Say one.", "assistant: One."]);
  });
});

test("@anthropic-ai/sdk: a message of a session, and one whose first answer was cut in its middle", async () => {
  const session = await server.openSession();
  const proxy = await breakOff("POST /v1/messages", ["lose", "refuse", PASS, { cutBehind: '"type"' }]);
  const options = { apiKey: server.key, baseURL: proxy.url, maxRetries: 2, defaultHeaders: { "X-Session-Id": session } };
  const anthropic = new Anthropic(options);
  server.provider.enqueue({ text: "One." }, { text: "Two." });

  const ask = (content: string, tries = 0) =>
    anthropic.messages.create(
      { model: MODEL, max_tokens: 100, messages: [{ role: "user", content }] },
      tries > 0 ? { headers: { "x-stainless-retry-count": String(tries) } } : {},
    );
  const first = await ask("One?");
  await expect(ask("Two?")).rejects.toThrow();
  const second = await ask("Two?", 1);

  expect([first, second].map(({ content }) => content.map((block) => (block.type === "text" ? block.text : "")).join(""))).toEqual([
    "One.",
    "Two.",
  ]);
  expect(await server.listTexts(session)).toEqual(["user: One?", "assistant: One.", "user: Two?", "assistant: Two."]);
});
