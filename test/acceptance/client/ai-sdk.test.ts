/** The AI SDK's own chat class and transport, unmodified, against a running backend with a scripted model. */
import { Chat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createTenant } from "../../../scripts/support/connection";
import { ChatServer, MortalChatServer } from "../../client/chat-server";
import { runPageProgram } from "../../client/page-program";
import { cutSummary } from "../../support/stand-in/summary";
import { startToolServer } from "../../support/stand-in/tool-server";

const MINUTES = 60_000;
const NOTICE = "Optimizing conversation context…";
let server: ChatServer;
let chats = 0;

beforeAll(async () => {
  server = await ChatServer.start();
  await server.longhand.patch("/v1/tenant", { body: { default_model: "scripted" } });
}, 2 * MINUTES);
afterAll(() => server?.close());

interface Seen {
  readonly data: { type: string; data: unknown }[];
}

type Init = Partial<ConstructorParameters<typeof Chat<UIMessage>>[0]>;

const address = (path = "", at = server) => `${at.url}/api/chat${path}`;
const auth = (at = server) => ({ authorization: `Bearer ${at.key}` });

/** A chat as `useChat` makes it, and what its page was told beside the messages. */
function openChat(id: string, init: Init = {}, at = server): Chat<UIMessage> & { readonly seen: Seen } {
  const seen: Seen = { data: [] };
  const transport = new DefaultChatTransport<UIMessage>({ api: address("", at), headers: () => auth(at) });
  const chat = new Chat<UIMessage>({ id, transport, onData: (part) => void seen.data.push(part), ...init });
  return Object.assign(chat, { seen });
}

const newId = (): string => `问题 ${++chats}/${Date.now()}?#`;
const ask = (text: string) => ({ text });

async function readHistory(id: string, at = server): Promise<UIMessage[]> {
  const response = await fetch(address(`/${encodeURIComponent(id)}/messages`, at), { headers: auth(at) });
  expect(response.status).toBe(200);
  const { messages } = (await response.json()) as { messages: UIMessage[] };
  return messages;
}

/** What the page has, as it would be stored. */
const plain = (messages: readonly UIMessage[]): UIMessage[] => JSON.parse(JSON.stringify(messages));

const showTexts = (messages: readonly UIMessage[]): string[] =>
  messages.map(({ role, parts }) => `${role}: ${parts.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("")}`);

async function readSession(id: string, at = server) {
  return at.longhand.get("/v1/sessions/by-external-id/{external_id}", { path: { external_id: id } });
}

async function patchSession(id: string, body: object): Promise<void> {
  await server.longhand.put("/v1/sessions/by-external-id/{external_id}", { path: { external_id: id }, body });
}

describe("a conversation", () => {
  test("goes through useChat's transport, and the history is what the page has", async () => {
    const id = newId();
    const chat = openChat(id);
    server.provider.enqueue({ text: "你好，雷克斯。" }, { text: "Rex." });

    await chat.sendMessage(ask("我的狗叫雷克斯。🐕"));
    await chat.sendMessage(ask("What is its name?"));

    expect(chat.error).toBeUndefined();
    expect(showTexts(chat.messages)).toEqual([
      "user: 我的狗叫雷克斯。🐕",
      "assistant: [step-start]你好，雷克斯。",
      "user: What is its name?",
      "assistant: [step-start]Rex.",
    ]);
    expect(await readHistory(id)).toEqual(plain(chat.messages));
    expect(await readSession(id)).toMatchObject({ external_id: id, message_count: 4 });
    expect(chat.seen.data).toContainEqual({
      type: "data-usage",
      transient: true,
      data: expect.objectContaining({ usage: expect.any(Object) }),
    });
  });

  test("is not found for a new chat, which is no fault", async () => {
    const chat = openChat(newId());

    await chat.resumeStream();

    expect(chat.status).toBe("ready");
    expect(await readHistory(chat.id)).toEqual([]);
  });

  test("keeps files, metadata and reasoning", async () => {
    const id = newId();
    const chat = openChat(id);
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    server.provider.enqueue({ reasoning: "Hm, 红色.", text: "Red." }, { text: "Still red." });

    await chat.sendMessage({
      parts: [
        { type: "file", mediaType: "image/png", filename: "像素.png", url: `data:image/png;base64,${pixel}` },
        { type: "text", text: "Which colour?" },
      ],
      metadata: { channel: "web", nth: 1 },
    });

    expect(chat.error).toBeUndefined();
    const [question, answer] = await readHistory(id);
    expect(question).toMatchObject({
      metadata: { channel: "web", nth: "1" },
      parts: [
        { type: "file", mediaType: "image/png", filename: "像素.png" },
        { type: "text", text: "Which colour?" },
      ],
    });
    expect(answer).toEqual(plain(chat.messages)[1]);
    expect(answer?.parts[1]).toMatchObject({ type: "reasoning", text: "Hm, 红色." });
    const [file] = question?.parts ?? [];
    const image = await fetch(file?.type === "file" ? file.url : "");
    expect(Buffer.from(await image.arrayBuffer()).toString("base64")).toBe(pixel);

    // A page that was loaded with the history edits the message, and sends the file as the history showed it.
    const later = openChat(id, { messages: await readHistory(id) });
    await later.sendMessage({ messageId: question?.id ?? "", parts: [...(question?.parts ?? []), { type: "text", text: "Sure?" }] });
    expect(later.error).toBeUndefined();
    expect((await readHistory(id))[0]?.parts.map(({ type }) => type)).toEqual(["file", "text", "text"]);
  });
});

describe("what was said", () => {
  test("is edited and answered again on branches, also by the id that the page gave it", async () => {
    const id = newId();
    const chat = openChat(id);
    server.provider.enqueue({ text: "Sun." }, { text: "Rain." }, { text: "Snow." }, { text: "Hail." });
    await chat.sendMessage(ask("Lisbon?"));
    const question = chat.messages[0]?.id ?? "";

    await chat.sendMessage({ text: "Oslo?", messageId: question });
    await chat.sendMessage({ text: "北京?", messageId: question });
    await chat.regenerate();

    expect(chat.error).toBeUndefined();
    expect(showTexts(chat.messages)).toEqual(["user: 北京?", "assistant: [step-start]Hail."]);
    expect(showTexts(await readHistory(id))).toEqual(showTexts(chat.messages));
    expect(await readSession(id)).toMatchObject({ branches: 4 });
  });

  test("is answered again from any place, by the assistant's id", async () => {
    const id = newId();
    const chat = openChat(id);
    server.provider.enqueue({ text: "One." }, { text: "Two." }, { text: "One again." });
    await chat.sendMessage(ask("1?"));
    await chat.sendMessage(ask("2?"));

    await chat.regenerate({ messageId: chat.messages[1]?.id ?? "" });

    expect(showTexts(chat.messages)).toEqual(["user: 1?", "assistant: [step-start]One again."]);
    expect(await readHistory(id)).toEqual(plain(chat.messages));
  });

  test("is recorded once, however often the page sends it", async () => {
    const id = newId();
    const said = { id, message: { id: "m-1", role: "user", parts: [{ type: "text", text: "Once." }] } };
    server.provider.enqueue({ text: "Answered." });
    const post = (body: object) =>
      fetch(address(), { method: "POST", headers: { ...auth(), "content-type": "application/json" }, body: JSON.stringify(body) });

    const first = await (await post(said)).text();
    const second = await post(said);

    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await second.text()).toContain('"delta":"Answered."');
    expect(first).toContain("data: [DONE]");
    expect(showTexts(await readHistory(id))).toEqual(["user: Once.", "assistant: [step-start]Answered."]);
    const other = await post({ ...said, message: { ...said.message, parts: [{ type: "text", text: "Twice." }] } });
    expect([other.status, await other.json()]).toEqual([409, expect.objectContaining({ type: "urn:longhand:problem:client_id_taken" })]);
  });
});

const WEATHER = {
  name: "weather",
  description: "The weather",
  parameters: { type: "object", properties: { city: { type: "string" } } },
};

describe("tools", () => {
  test("of the page run there, and the turn goes on in the same message", async () => {
    const id = newId();
    await patchSession(id, { tools: [WEATHER] });
    server.provider.enqueue(
      {
        text: "Let me see. ",
        tool_calls: [
          { id: "a", name: "weather", arguments: '{"city":"北京"}' },
          { id: "b", name: "weather", arguments: "{}" },
        ],
      },
      { text: "晴。" },
    );
    const chat = openChat(id, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall }) => {
        const { toolCallId } = toolCall;
        const city = (toolCall.input as { city?: string }).city;
        if (city) void chat.addToolOutput({ tool: "weather", toolCallId, output: "21" });
        else void chat.addToolOutput({ tool: "weather", toolCallId, state: "output-error", errorText: "no city" });
      },
    });

    await chat.sendMessage(ask("Weather?"));
    await expect.poll(() => chat.status).toBe("ready");

    expect(chat.error).toBeUndefined();
    expect(showTexts(chat.messages)[1]).toBe("assistant: [step-start]Let me see. [tool-weather][tool-weather][step-start]晴。");
    expect(chat.messages[1]?.parts[2]).toMatchObject({ state: "output-available", input: { city: "北京" }, output: "21" });
    expect(chat.messages[1]?.parts[3]).toMatchObject({ state: "output-error", errorText: "no city" });
    expect(await readHistory(id)).toEqual(plain(chat.messages));
    expect(server.provider.log.at(-1)?.body.messages.filter(({ role }) => role === "tool")).toMatchObject([
      { content: '"21"' },
      { content: "no city" },
    ]);
  });

  test("that wait for the page are in the history, and a page that comes later answers them", async () => {
    const id = newId();
    await patchSession(id, { tools: [WEATHER] });
    server.provider.enqueue({ tool_calls: [{ id: "a", name: "weather", arguments: "{}" }] }, { text: "Sun." });
    await openChat(id).sendMessage(ask("Weather?"));

    const later = openChat(id, { messages: await readHistory(id), sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls });
    await later.resumeStream();
    const call = later.messages[1]?.parts[1];
    expect(call).toMatchObject({ type: "tool-weather", state: "input-available" });
    await later.addToolOutput({
      tool: "weather",
      toolCallId: call && "toolCallId" in call ? call.toolCallId : "",
      output: { sky: "clear" },
    });
    await expect.poll(() => showTexts(later.messages)[1]).toBe("assistant: [step-start][tool-weather][step-start]Sun.");
    await expect.poll(() => later.status).toBe("ready");

    expect(later.error).toBeUndefined();
    expect(await readHistory(id)).toEqual(plain(later.messages));
  });

  test("of the server run there once a person approves, and are shown as dynamic tools", async () => {
    const id = newId();
    const tools = await startToolServer();
    try {
      await server.longhand.put("/v1/tools/{tool_name}", {
        path: { tool_name: "lookup" },
        body: { description: "Looks up", parameters: { type: "object" }, url: `${tools.url}/echo`, needs_approval: true },
      });
      await patchSession(id, { tools: [{ type: "http", name: "lookup" }] });
      server.provider.enqueue(
        {
          tool_calls: [
            { id: "a", name: "lookup", arguments: "{}" },
            { id: "b", name: "lookup", arguments: "{}" },
          ],
        },
        { text: "Found one." },
      );
      const chat = openChat(id, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
      await chat.sendMessage(ask("Look it up."));
      const asked = (chat.messages[1]?.parts ?? []).flatMap((part) => ("approval" in part && part.approval ? [part.approval.id] : []));
      expect(asked).toHaveLength(2);
      expect(await readHistory(id)).toEqual(plain(chat.messages));

      await chat.addToolApprovalResponse({ id: asked[0] ?? "", approved: true });
      await chat.addToolApprovalResponse({ id: asked[1] ?? "", approved: false, reason: "不需要" });
      await expect
        .poll(() => showTexts(chat.messages)[1])
        .toBe("assistant: [step-start][dynamic-tool][dynamic-tool][step-start]Found one.");
      await expect.poll(() => chat.status).toBe("ready");

      expect(chat.error).toBeUndefined();
      expect(chat.messages[1]?.parts.slice(1, 3)).toMatchObject([
        { state: "output-available", providerExecuted: true },
        { state: "output-denied" },
      ]);
      expect(showTexts(await readHistory(id))).toEqual(showTexts(chat.messages));
    } finally {
      await tools.close();
    }
  });
});

describe("a turn", () => {
  test("goes on without its page, which comes back and has all of it", async () => {
    const id = newId();
    const chat = openChat(id);
    const { promise: rest, resolve: goOn } = Promise.withResolvers<void>();
    async function* speak() {
      yield "Once upon ";
      await rest;
      yield "a time.";
    }
    server.provider.enqueue(speak());
    const sent = chat.sendMessage(ask("A story."));
    await expect.poll(() => showTexts(chat.messages)[1]).toBe("assistant: [step-start]Once upon ");
    await chat.stop();
    await sent;

    const later = openChat(id, { messages: await readHistory(id) });
    expect(showTexts(later.messages)).toEqual(["user: A story."]);
    const resumed = later.resumeStream();
    await expect.poll(() => showTexts(later.messages)[1]).toBe("assistant: [step-start]Once upon ");
    goOn();
    await resumed;

    expect(showTexts(later.messages)[1]).toBe("assistant: [step-start]Once upon a time.");
    expect(later.messages[1]?.id).toBe(chat.messages[1]?.id);
    expect(await readHistory(id)).toEqual(plain(later.messages));
  });

  test("is stopped by the page, and what it said is kept", async () => {
    const id = newId();
    const chat = openChat(id);
    async function* speak() {
      yield "On and on";
      await new Promise(() => undefined);
    }
    server.provider.enqueue(speak());
    const sent = chat.sendMessage(ask("Go on."));
    await expect.poll(() => showTexts(chat.messages)[1]).toBe("assistant: [step-start]On and on");

    const stop = () => fetch(address(`/${encodeURIComponent(id)}/stop`), { method: "POST", headers: auth() });
    expect((await stop()).status).toBe(204);
    await sent;

    expect(chat.status).toBe("ready");
    expect(await readHistory(id)).toEqual(plain(chat.messages));
    expect((await stop()).status).toBe(204);
  });

  test("that fails says why, and regenerate asks again", async () => {
    const id = newId();
    const chat = openChat(id);
    server.provider.enqueue({ status: 400, error: { message: "no", type: "invalid_request_error" } }, { text: "Now." });
    await chat.sendMessage(ask("Well?"));
    expect(chat.status).toBe("error");
    expect(chat.error?.message).toMatch(/refused/i);

    await chat.regenerate();

    expect(chat.status).toBe("ready");
    expect(showTexts(chat.messages)).toEqual(["user: Well?", "assistant: [step-start]Now."]);
  });
});

describe("pages that come and go", () => {
  test("at any piece of the reply have all of it in the end", async () => {
    const id = newId();
    const pieces = ["你的", "狗叫", "“雷克斯”", "🐕‍🦺。", " It is", " called Rex."];
    const gates = pieces.map(() => Promise.withResolvers<void>());
    async function* speak() {
      for (const [nth, piece] of pieces.entries()) {
        yield piece;
        await gates[nth]?.promise;
      }
    }
    server.provider.enqueue(speak());
    const first = openChat(id);
    const sent = first.sendMessage(ask("我的狗？"));
    const pages: Chat<UIMessage>[] = [];
    const resumed: Promise<void>[] = [];
    for (const nth of pieces.keys()) {
      const page = nth === 0 ? first : openChat(id, { messages: await readHistory(id) });
      if (nth > 0) resumed.push(page.resumeStream());
      await expect.poll(() => showTexts(page.messages)[1]).toBe(`assistant: [step-start]${pieces.slice(0, nth + 1).join("")}`);
      pages.push(page);
      // Every second page leaves again, and comes back when all is said.
      if (nth % 2 === 0) await page.stop();
      gates[nth]?.resolve();
    }
    await Promise.all([sent, ...resumed]);
    const history = await readHistory(id);
    await expect.poll(async () => (await readHistory(id)).length).toBe(2);

    for (const page of pages.filter((_, nth) => nth % 2 === 1)) expect(plain(page.messages)).toEqual(await readHistory(id));
    expect(showTexts(history)[0]).toBe("user: 我的狗？");
    expect(showTexts(await readHistory(id))[1]).toBe(`assistant: [step-start]${pieces.join("")}`);
  });

  test("find what was said when the server was lost in the middle of it, and ask again", async () => {
    const mortal = await MortalChatServer.start();
    onTestFinished(() => mortal.close());
    await mortal.longhand.patch("/v1/tenant", { body: { default_model: "scripted" } });
    const id = newId();
    const chat = openChat(id, {}, mortal);
    async function* speak() {
      yield "Lost w";
      await new Promise(() => undefined);
    }
    mortal.provider.enqueue(speak());
    const sent = chat.sendMessage(ask("Well?"));
    await expect.poll(() => showTexts(chat.messages)[1]).toBe("assistant: [step-start]Lost w");
    await mortal.restart();
    await sent;
    expect(chat.status).toBe("error");

    const later = openChat(id, { messages: await readHistory(id, mortal) }, mortal);
    await later.resumeStream();
    await expect.poll(() => readSession(id, mortal)).toMatchObject({ turn: null });
    if (later.messages.length < 2) later.messages = await readHistory(id, mortal);

    expect(later.error).toBeUndefined();
    expect(showTexts(later.messages)[1]).toBe("assistant: [step-start]Lost w");
    expect(await readHistory(id, mortal)).toEqual(plain(later.messages));
    mortal.provider.enqueue({ text: "Found." });
    await later.regenerate();
    expect(showTexts(later.messages)[1]).toBe("assistant: [step-start]Found.");
  });

  test("at the same time are both answered, one after the other", async () => {
    const id = newId();
    server.provider.enqueue({ text: "One." }, { text: "Two." });
    const [a, b] = [openChat(id), openChat(id)];

    await Promise.all([a.sendMessage(ask("A?")), b.sendMessage(ask("B?"))]);

    expect([a.error, b.error]).toEqual([undefined, undefined]);
    expect([showTexts(a.messages)[1], showTexts(b.messages)[1]].toSorted()).toEqual([
      "assistant: [step-start]One.",
      "assistant: [step-start]Two.",
    ]);
    expect(await readHistory(id)).toHaveLength(4);
  });

  test("replace an answer that is still being made", async () => {
    const id = newId();
    const chat = openChat(id);
    async function* speak() {
      yield "Not this";
      await new Promise(() => undefined);
    }
    server.provider.enqueue(speak(), { text: "This." });
    const sent = chat.sendMessage(ask("Well?"));
    await expect.poll(() => showTexts(chat.messages)[1]).toBe("assistant: [step-start]Not this");
    await chat.stop();
    await sent;

    await chat.regenerate();

    expect(chat.error).toBeUndefined();
    expect(showTexts(chat.messages)).toEqual(["user: Well?", "assistant: [step-start]This."]);
    expect(await readHistory(id)).toEqual(plain(chat.messages));
  });

  test("that type on while a tool of theirs is asked for are answered", async () => {
    const id = newId();
    await patchSession(id, { tools: [WEATHER] });
    server.provider.enqueue({ tool_calls: [{ id: "a", name: "weather", arguments: "{}" }] }, { text: "Never mind, then." });
    const chat = openChat(id);
    await chat.sendMessage(ask("Weather?"));

    await chat.sendMessage(ask("Never mind."));

    expect(chat.error).toBeUndefined();
    expect(showTexts(chat.messages)[3]).toBe("assistant: [step-start]Never mind, then.");
    expect((await readHistory(id))[1]?.parts[1]).toMatchObject({ type: "tool-weather", state: "output-error" });
  });

  test("ask for another answer, or say it differently, while a tool of theirs is asked for", async () => {
    const id = newId();
    await patchSession(id, { tools: [WEATHER] });
    const call = { tool_calls: [{ id: "a", name: "weather", arguments: "{}" }] };
    server.provider.enqueue(call, call, { text: "Sun." });
    const chat = openChat(id);
    await chat.sendMessage(ask("Weather?"));

    await chat.regenerate();
    await chat.sendMessage({ text: "The weather, please.", messageId: chat.messages[0]?.id ?? "" });

    expect(chat.error).toBeUndefined();
    expect(showTexts(chat.messages)).toEqual(["user: The weather, please.", "assistant: [step-start]Sun."]);
    expect(showTexts(await readHistory(id))).toEqual(showTexts(chat.messages));
  });

  test("read a long history page by page, each message whole", async () => {
    const id = newId();
    await patchSession(id, { tools: [WEATHER] });
    const chat = openChat(id, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls, onToolCall });
    function onToolCall({ toolCall: { toolCallId } }: { toolCall: { toolCallId: string } }) {
      void chat.addToolOutput({ tool: "weather", toolCallId, output: { sky: "clear" } });
    }
    for (let nth = 0; nth < 4; nth++) {
      server.provider.enqueue({ tool_calls: [{ id: "a", name: "weather", arguments: "{}" }] }, { text: `Answer ${nth}.` });
      await chat.sendMessage(ask(`Question ${nth}?`));
      await expect.poll(() => chat.status === "ready" && showTexts(chat.messages).at(-1)).toContain(`Answer ${nth}.`);
    }

    const read: UIMessage[] = [];
    for (let before = ""; ; ) {
      const response = await fetch(address(`/${encodeURIComponent(id)}/messages?limit=5${before}`), { headers: auth() });
      const page = (await response.json()) as { messages: UIMessage[]; has_more: boolean; next_before: number | null };
      read.unshift(...page.messages);
      if (!page.has_more) break;
      before = `&before=${page.next_before}`;
    }

    expect(read).toEqual(plain(chat.messages));
  });
});

describe("a page with an access token", () => {
  const post = (token: string, body: object) =>
    fetch(address(), {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const said = (id: string, more: object = {}) => ({
    id,
    messages: [{ role: "user", parts: [{ type: "text", text: "Hello." }] }],
    ...more,
  });

  test("reaches its own chat by either id, and no other, and makes none", async () => {
    const [mine, other] = [newId(), newId()];
    await patchSession(mine, {});
    await patchSession(other, {});
    const session = await readSession(mine);
    const { token } = await server.longhand.post("/v1/tokens", { body: { session_id: session.id, expires_in: 600 } });
    server.provider.enqueue({ text: "One." }, { text: "Two." });

    expect(await (await post(token, said(mine))).text()).toContain('"delta":"One."');
    expect(await (await post(token, said(session.id))).text()).toContain('"delta":"Two."');
    const fresh = newId();
    expect(await Promise.all([other, fresh].map(async (id) => (await post(token, said(id))).status))).toEqual([404, 404]);
    expect((await post(token, said(mine, { model: "scripted-small" }))).status).toBe(403);
    const headers = { authorization: `Bearer ${token}` };
    const foreign = await fetch(address(`/${encodeURIComponent(other)}/stop`), { method: "POST", headers });
    expect(foreign.status).toBe(404);
    const unread = await fetch(address(`/${encodeURIComponent(other)}/messages`), { headers });
    expect(await unread.json()).toMatchObject({ messages: [] });
  });

  test("of an end user reaches that person's chats", async () => {
    const [mine, other] = [newId(), newId()];
    await patchSession(mine, { end_user: "用户-1" });
    await patchSession(other, { end_user: "user-2" });
    const { token } = await server.longhand.post("/v1/tokens", { body: { end_user: "用户-1", expires_in: 600 } });
    server.provider.enqueue({ text: "Yours." });

    expect(await (await post(token, said(mine))).text()).toContain('"delta":"Yours."');
    expect((await post(token, said(other))).status).toBe(404);
  });

  test("reads the protocol's header, and refusals", async () => {
    await server.longhand.patch("/v1/tenant", { body: { allowed_origins: ["https://app.example"] } });
    const id = newId();
    server.provider.enqueue({ text: "Hi." });
    const fromPage = (origin: string) =>
      fetch(address(), {
        method: "POST",
        headers: { ...auth(), origin, "content-type": "application/json" },
        body: JSON.stringify(said(id)),
      });

    const answer = await fromPage("https://app.example");
    expect(answer.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    expect(answer.headers.get("access-control-expose-headers")?.toLowerCase()).toContain("x-vercel-ai-ui-message-stream");
    expect(await answer.text()).toContain("data: [DONE]");
    expect((await fromPage("https://evil.example")).status).toBe(403);
  });
});

describe("a small window", () => {
  test("is compacted in the middle: onData hears of it, and the history does not", async () => {
    const id = newId();
    await patchSession(id, { model: "scripted-small" });
    const { promise: heard, resolve: hear } = Promise.withResolvers<void>();
    const told: unknown[] = [];
    const chat = openChat(id, {
      onData: ({ type, data }) => {
        if (type === "data-status") told.push(data);
        if (JSON.stringify(data).includes(NOTICE)) hear();
      },
    });
    server.provider.respondWith(({ messages }) => ({ text: `${messages.length} messages. ${"Well, well. ".repeat(60)}` }));
    // The summary is not ready before the page has heard that it is being made.
    server.provider.summarizeWith(async (request) => {
      await heard;
      return { text: cutSummary(request) };
    });

    for (let nth = 1; nth <= 12; nth++) await chat.sendMessage(ask(`Question ${nth}: ${"why? ".repeat(40)}`));

    expect(chat.error).toBeUndefined();
    expect(told).toContainEqual(expect.objectContaining({ code: "compacting", text: NOTICE }));
    const history = await readHistory(id);
    expect(history).toHaveLength(24);
    expect(history).toEqual(plain(chat.messages));
    expect(JSON.stringify(history)).not.toContain(NOTICE);
    expect(await readSession(id)).toMatchObject({ compacted_summary: expect.any(String) });
  }, 60_000);
});

describe("the page of the AI SDK", () => {
  test("has a program of under 30 lines, which prints what the page shows", async () => {
    const ran = await runPageProgram("ai-sdk", await createTenant(server.url, server.adminKey));
    expect(ran.lines).toBeLessThan(30);
    expect(ran.wrong).toBe("");
    expect(ran.said).toBe(ran.output);
  });
});
