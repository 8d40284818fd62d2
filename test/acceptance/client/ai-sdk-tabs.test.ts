/** Pages in a hurry: the AI SDK's own chat class in several tabs of one conversation, which stop, send, edit and ask again at any moment. */
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls, type UIMessage } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ChatServer } from "../../client/chat-server";

const MINUTES = 60_000;
let server: ChatServer;
let chats = 0;

beforeAll(async () => {
  server = await ChatServer.start();
  await server.longhand.patch("/v1/tenant", { body: { default_model: "scripted" } });
}, 2 * MINUTES);
afterAll(() => server?.close());

const address = (path = "") => `${server.url}/api/chat${path}`;
const auth = () => ({ authorization: `Bearer ${server.key}` });
const newId = (): string => `tabs ${++chats}`;

type Init = Partial<ConstructorParameters<typeof Chat<UIMessage>>[0]>;

function openTab(id: string, init: Init = {}): Chat<UIMessage> {
  return new Chat<UIMessage>({ id, transport: new DefaultChatTransport<UIMessage>({ api: address(), headers: auth }), ...init });
}

const readText = (message: UIMessage | undefined): string =>
  (message?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
const showTexts = (messages: readonly UIMessage[]): string[] => messages.map((message) => `${message.role}: ${readText(message)}`);

async function readHistory(id: string): Promise<UIMessage[]> {
  const messages: UIMessage[] = [];
  for (let before = ""; ; ) {
    const response = await fetch(address(`/${encodeURIComponent(id)}/messages?limit=200${before}`), { headers: auth() });
    const page = (await response.json()) as { messages: UIMessage[]; has_more: boolean; next_before: number | null };
    messages.unshift(...page.messages);
    if (!page.has_more) return messages;
    before = `&before=${page.next_before}`;
  }
}

/** As a page does it: the stream is left, and the route ends the turn whose message the page shows. */
async function stop(chat: Chat<UIMessage>): Promise<void> {
  const shown = chat.messages.at(-1);
  const body = JSON.stringify(shown?.role === "assistant" ? { messageId: shown.id } : {});
  const headers = { ...auth(), "content-type": "application/json" };
  const stopped = fetch(address(`/${encodeURIComponent(chat.id)}/stop`), { method: "POST", headers, body });
  await chat.stop();
  expect((await stopped).status).toBe(204);
}

async function listTurns(id: string) {
  const session = await server.longhand.get("/v1/sessions/by-external-id/{external_id}", { path: { external_id: id } });
  const turns: { status: string; output_text: string }[] = [];
  for await (const turn of server.longhand.list("/v1/sessions/{session_id}/turns", { path: { session_id: session.id } })) turns.push(turn);
  return turns;
}

/** A reply that goes on until it is stopped. */
async function* endless(begin: string) {
  yield begin;
  await new Promise(() => undefined);
}

describe("a stop in the middle of a stream, and a message right after it", () => {
  test("a hundred times: every message has its turn, and only those that were meant are stopped", { timeout: 2 * MINUTES }, async () => {
    const id = newId();
    const chat = openTab(id);
    const sent: Promise<void>[] = [];
    const stops: Promise<void>[] = [];
    server.provider.respondWith(({ messages }) => {
      const asked = String(messages.at(-1)?.content);
      return asked.startsWith("long") ? endless(`To ${asked}`) : { text: `To ${asked}` };
    });
    for (let nth = 0; nth < 100; nth++) {
      sent.push(chat.sendMessage({ text: `long ${nth}` }));
      await expect.poll(() => readText(chat.messages.at(-1)), { interval: 5 }).toBe(`To long ${nth}`);
      stops.push(stop(chat));
      const next = chat.sendMessage({ text: `short ${nth}` });
      await next;
      expect(chat.error).toBeUndefined();
      expect(readText(chat.messages.at(-1))).toBe(`To short ${nth}`);
    }
    await Promise.all([...sent, ...stops]);

    const history = await readHistory(id);
    const asked = Array.from({ length: 100 }, (_, nth) => [`long ${nth}`, `To long ${nth}`, `short ${nth}`, `To short ${nth}`]).flat();
    expect(history.map(readText)).toEqual(asked);
    const turns = await listTurns(id);
    expect(turns.toReversed().map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => ["stopped", "completed"]).flat());
  });

  test("that comes when the turn has ended by itself stops no other one", async () => {
    const id = newId();
    const chat = openTab(id);
    server.provider.respondWith(({ messages }) => ({ text: `To ${messages.at(-1)?.content}` }));
    for (let nth = 0; nth < 20; nth++) {
      await chat.sendMessage({ text: `one ${nth}` });
      const late = stop(chat);
      await Promise.all([chat.sendMessage({ text: `two ${nth}` }), late]);
      if (readText(chat.messages.at(-1)) !== `To two ${nth}`) await chat.resumeStream();
    }

    await expect.poll(async () => (await listTurns(id)).map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => "completed"));
  });
});

describe("two tabs", () => {
  test("regenerate while the other one's turn runs: that one is stopped, and both show one conversation in the end", async () => {
    const id = newId();
    const [one, two] = [openTab(id), openTab(id)];
    server.provider.enqueue(endless("First"), { text: "Second." });
    const first = one.sendMessage({ text: "Well?" });
    await expect.poll(() => readText(one.messages.at(-1))).toBe("First");
    two.messages = await readHistory(id);

    await two.regenerate();
    await first;

    expect([one.error, two.error]).toEqual([undefined, undefined]);
    expect(showTexts(two.messages)).toEqual(["user: Well?", "assistant: Second."]);
    expect(showTexts(await readHistory(id))).toEqual(showTexts(two.messages));
    expect((await listTurns(id)).map(({ status }) => status).toSorted()).toEqual(["completed", "stopped"]);
  });

  test("regenerate at the same moment, and both are answered", async () => {
    const id = newId();
    const [one, two] = [openTab(id), openTab(id)];
    server.provider.respondWith(({ messages }) => ({ text: `To ${messages.at(-1)?.content}` }));
    await one.sendMessage({ text: "Well?" });
    two.messages = await readHistory(id);

    for (let nth = 0; nth < 10; nth++) {
      await Promise.all([one.regenerate(), two.regenerate()]);
      expect([one.error, two.error]).toEqual([undefined, undefined]);
    }

    const texts = [showTexts(one.messages), showTexts(two.messages)];
    expect(texts.some((each) => each.at(-1) === "assistant: To Well?")).toBe(true);
    expect(showTexts(await readHistory(id))).toEqual(["user: Well?", "assistant: To Well?"]);
  });

  test("edit an early message while the other one waits for a tool, which then answers to nothing", async () => {
    const id = newId();
    const weather = { name: "weather", parameters: { type: "object", properties: {} } } as const;
    await server.longhand.put("/v1/sessions/by-external-id/{external_id}", { path: { external_id: id }, body: { tools: [weather] } });
    const [one, two] = [openTab(id, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls }), openTab(id)];
    server.provider.enqueue({ text: "Hello." }, { tool_calls: [{ id: "a", name: "weather", arguments: "{}" }] }, { text: "Edited." });
    await one.sendMessage({ text: "Hi." });
    await one.sendMessage({ text: "Weather?" });
    const call = one.messages.at(-1)?.parts.find((part) => "toolCallId" in part);
    two.messages = await readHistory(id);

    await two.sendMessage({ text: "Good day.", messageId: two.messages[0]?.id ?? "" });
    await one.addToolOutput({ tool: "weather", toolCallId: call && "toolCallId" in call ? call.toolCallId : "", output: "sun" });
    await expect.poll(() => one.status).toBe("error");

    expect(showTexts(two.messages)).toEqual(["user: Good day.", "assistant: Edited."]);
    expect(showTexts(await readHistory(id))).toEqual(showTexts(two.messages));
    // A reload shows what there is, and the tab goes on.
    server.provider.enqueue({ text: "Back." });
    const later = openTab(id, { messages: await readHistory(id) });
    await later.resumeStream();
    await later.sendMessage({ text: "And now?" });
    expect(later.error).toBeUndefined();
    expect(showTexts(await readHistory(id)).slice(2)).toEqual(["user: And now?", "assistant: Back."]);
  });

  test("send a result and a message at once: one turn answers both", async () => {
    const id = newId();
    const weather = { name: "weather", parameters: { type: "object", properties: {} } } as const;
    await server.longhand.put("/v1/sessions/by-external-id/{external_id}", { path: { external_id: id }, body: { tools: [weather] } });
    const chat = openTab(id);
    server.provider.enqueue({ tool_calls: [{ id: "a", name: "weather", arguments: "{}" }] }, { text: "Sun, and so on." });
    await chat.sendMessage({ text: "Weather?" });
    const call = chat.messages.at(-1)?.parts.find((part) => "toolCallId" in part);
    await chat.addToolOutput({ tool: "weather", toolCallId: call && "toolCallId" in call ? call.toolCallId : "", output: "sun" });

    await chat.sendMessage({ text: "And so on?" });

    expect(chat.error).toBeUndefined();
    expect(readText(chat.messages.at(-1))).toBe("Sun, and so on.");
    expect((await listTurns(id)).map(({ status }) => status)).toEqual(["completed", "stopped"]);
    expect(server.provider.log.at(-1)?.body.messages.slice(-2)).toMatchObject([{ role: "tool" }, { role: "user", content: "And so on?" }]);
    expect(JSON.stringify(await readHistory(id))).toContain('"output":"sun"');
  });
});
