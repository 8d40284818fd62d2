/** Anthropic's own SDK, unmodified, against a running backend with a scripted model. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTenant } from "../../scripts/support/connection";
import { startToolServer, type ToolServer } from "../support/stand-in/tool-server";
import { ChatServer } from "./chat-server";
import { behindEvent } from "./cutting-proxy";
import { runPageProgram } from "./page-program";

const MINUTES = 60_000;
const MODEL = "scripted";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
let server: ChatServer;

beforeAll(async () => {
  server = await ChatServer.start();
}, 2 * MINUTES);
afterAll(() => server?.close());
beforeEach(() => server.proxy.plan(() => "pass"));

async function open({ small = false, through = server.url, ...options }: { small?: boolean; through?: string; maxRetries?: number } = {}) {
  const session = await server.openSession({ small });
  const defaultHeaders = { "X-Session-Id": session };
  return { session, client: new Anthropic({ baseURL: through, apiKey: server.key, defaultHeaders, ...options }) };
}

const say = (content: Anthropic.MessageParam["content"], changes: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) => ({
  model: MODEL,
  max_tokens: 200,
  messages: [{ role: "user" as const, content }],
  ...changes,
});
const show = ({ content }: { readonly content: readonly { readonly type: string }[] }): string =>
  content.map((block) => ("text" in block ? block.text : `[${block.type}]`)).join("");
/** What the model has read in its last request. */
const readLast = () => server.provider.log.at(-1)?.body.messages ?? [];

const WEATHER = {
  name: "weather",
  description: "The weather in a city",
  input_schema: { type: "object" as const, properties: { city: { type: "string" as const } }, required: ["city"] },
};
const asks = (id: string, city: string) => ({ id, name: "weather", arguments: JSON.stringify({ city }) });

describe("a conversation", () => {
  test("has its history on the server, as JSON and as a stream", async () => {
    const { client, session } = await open();
    server.provider.enqueue({ text: "你好，雷克斯。" }, { reasoning: "Hm.", text: "Rex." });

    const first = await client.messages.create(say("我的狗叫雷克斯。🐕", { system: "Be brief." }));
    const stream = client.messages.stream(say("What is its name?"));
    let told = "";
    stream.on("text", (delta) => {
      told += delta;
    });
    const second = await stream.finalMessage();

    expect(first).toMatchObject({ role: "assistant", stop_reason: "end_turn", model: MODEL, content: [{ text: "你好，雷克斯。" }] });
    expect(first.usage.input_tokens).toBeGreaterThan(0);
    expect(told).toBe("Rex.");
    expect(second.content).toEqual([
      { type: "thinking", thinking: "Hm.", signature: "" },
      { type: "text", text: "Rex.", citations: null },
    ]);
    expect(second.usage.output_tokens).toBeGreaterThan(0);
    expect(second.id).not.toBe(first.id);
    expect(await server.listTexts(session)).toEqual([
      "user: 我的狗叫雷克斯。🐕",
      "assistant: 你好，雷克斯。",
      "user: What is its name?",
      "assistant: Hm.Rex.",
    ]);
    expect(server.provider.log.at(-2)?.body.messages[0]).toMatchObject({ role: "system", content: expect.stringContaining("Be brief.") });
    expect(readLast().map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("takes no copy of itself: a client that sends all of it adds only what is new", async () => {
    const { client, session } = await open();
    const messages: Anthropic.MessageParam[] = [];
    for (const nth of [1, 2, 3]) {
      server.provider.enqueue({ text: `Answer ${nth}` });
      messages.push({ role: "user", content: `Question ${nth}` });
      const { content } = await client.messages.create(say("", { messages }));
      messages.push({ role: "assistant", content });
    }

    expect(await server.listTexts(session)).toEqual([1, 2, 3].flatMap((nth) => [`user: Question ${nth}`, `assistant: Answer ${nth}`]));
  });

  test("begins with the history that the first request brings", async () => {
    const { client, session } = await open();
    server.provider.enqueue({ text: "雷克斯。" });
    const messages: Anthropic.MessageParam[] = [
      { role: "user", content: "我的狗叫雷克斯。" },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_01", name: "weather", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_01", content: "晴" }] },
      { role: "assistant", content: "好。" },
      { role: "user", content: "它叫什么？" },
    ];

    await client.messages.create(say("", { messages }));

    expect((await server.listTexts(session)).length).toBe(6);
    expect(readLast().map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
  });

  test("says of a stopped answer that it is not complete", async () => {
    for (const stream of [false, true]) {
      const { client, session } = await open();
      async function* speak() {
        yield "On and on";
        await new Promise(() => undefined);
      }
      server.provider.enqueue(speak());
      const asked = stream ? client.messages.stream(say("Go on.")).finalMessage() : client.messages.create(say("Go on."));
      const told = async () => JSON.stringify(await server.longhand.get("/v1/sessions/{session_id}", { path: { session_id: session } }));
      await expect.poll(told).toContain('"phase":"generating"');
      await server.longhand.post("/v1/sessions/{session_id}/stop", { path: { session_id: session } });

      expect(await asked).toMatchObject({ stop_reason: "max_tokens" });
    }
  });

  test("holds images and documents", async () => {
    const { client, session } = await open();
    server.provider.enqueue({ text: "A dot." });

    await client.messages.create(
      say([
        { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
        { type: "document", title: "Notes", source: { type: "text", media_type: "text/plain", data: "It is a dot." } },
        { type: "text", text: "What is it?" },
      ]),
    );

    const { data } = await server.longhand.get("/v1/sessions/{session_id}/messages", { path: { session_id: session } });
    expect(data[0]?.content).toMatchObject([
      { type: "image", media_type: "image/png", file_id: expect.stringMatching(/^fil_/) },
      { type: "text", text: "Notes" },
      { type: "text", text: "It is a dot." },
      { type: "text", text: "What is it?" },
    ]);
  });

  test("is compacted in the middle, and goes on", async () => {
    const { client, session } = await open({ small: true });
    server.provider.respondWith(({ messages }) => ({ text: `${messages.length} messages. ${"Well, well. ".repeat(60)}` }));
    const messages: Anthropic.MessageParam[] = [];

    for (let nth = 1; nth <= 12; nth++) {
      messages.push({ role: "user", content: `Question ${nth}: ${"why? ".repeat(40)}` });
      const asked = { model: "scripted-small", max_tokens: 200, messages };
      const { content } = nth % 2 === 0 ? await client.messages.create(asked) : await client.messages.stream(asked).finalMessage();
      messages.push({ role: "assistant", content });
    }

    const described = await server.longhand.get("/v1/sessions/{session_id}", { path: { session_id: session } });
    expect(described).toMatchObject({ message_count: 24, compacted_summary: expect.any(String) });
    const { input_tokens } = await client.messages.countTokens({
      model: "scripted-small",
      messages: [...messages, { role: "user", content: "?" }],
    });
    expect(input_tokens).toBeLessThan(2_048);
  }, 60_000);
});

describe("tools", () => {
  test("that run in parallel are answered in one message, and the turn goes on", async () => {
    const { client, session } = await open();
    server.provider.enqueue({ text: "我看看。", tool_calls: [asks("a", "巴黎"), asks("a", "奥斯陆")] }, { text: "巴黎晴，奥斯陆下雨。" });
    const question = say("天气？", { tools: [WEATHER] });

    const asked = await client.messages.stream(question).finalMessage();
    const calls = asked.content.filter((block) => block.type === "tool_use");
    const results = calls.map(({ id, input }) => ({
      type: "tool_result" as const,
      tool_use_id: id,
      content: `${JSON.stringify(input)}: ok`,
    }));
    const messages = [
      ...question.messages,
      { role: "assistant" as const, content: asked.content },
      { role: "user" as const, content: results },
    ];
    const answered = await client.messages.create({ ...question, messages });

    expect(asked.stop_reason).toBe("tool_use");
    expect(calls.map(({ input }) => input)).toEqual([{ city: "巴黎" }, { city: "奥斯陆" }]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    expect(show(answered)).toBe("巴黎晴，奥斯陆下雨。");
    expect(answered.id.startsWith(asked.id)).toBe(true);
    expect(answered.id).not.toBe(asked.id);
    expect(readLast().filter(({ role }) => role === "tool")).toHaveLength(2);
    expect((await server.listTexts(session)).filter((line) => line.startsWith("user:"))).toHaveLength(1);
    // The same results a second time are answered again, and so is the first request of the turn.
    expect(await client.messages.create({ ...question, messages })).toEqual(answered);
    expect((await client.messages.stream({ ...question, messages }).finalMessage()).content).toEqual(answered.content);
  });

  test("belong to their own answer, also where its request is sent again after the turn has gone on", async () => {
    for (const stream of [false, true]) {
      const { client } = await open();
      server.provider.enqueue({ text: "I look.", tool_calls: [asks("a", "Paris")] }, { text: "Sun." });
      const question = say("Weather?", { tools: [WEATHER] });
      const headers = { "Idempotency-Key": "first" };
      const ask = () =>
        stream ? client.messages.stream(question, { headers }).finalMessage() : client.messages.create(question, { headers });
      const first = await ask();
      const [call] = first.content.filter(({ type }) => type === "tool_use");
      if (call?.type !== "tool_use") throw new Error("The model has called nothing");
      await client.messages.create(say([{ type: "tool_result", tool_use_id: call.id, content: "sunny" }], { tools: [WEATHER] }));

      const again = await ask();

      expect(again).toEqual(first);
      expect(again.stop_reason).toBe("tool_use");
    }
  });

  test("run in the SDK's own loop, over several rounds, streamed or not", async () => {
    for (const stream of [false, true]) {
      const { client } = await open();
      server.provider.enqueue(
        { tool_calls: [asks("1", "Paris"), asks("2", "Oslo")] },
        { tool_calls: [asks("1", "Rome")] },
        { text: "Sun." },
      );
      const ran: string[] = [];
      const { input_schema: inputSchema, ...named } = WEATHER;
      const tool = betaTool({
        ...named,
        inputSchema: { ...inputSchema, required: ["city"] },
        run: ({ city }) => {
          ran.push(String(city));
          if (city === "Oslo") throw new Error("Closed.");
          return `${city}: sunny`;
        },
      });

      const message = await client.beta.messages.toolRunner({ ...say("Weather?"), tools: [tool], stream }).runUntilDone();

      expect(show(message)).toBe("Sun.");
      expect(ran.toSorted()).toEqual(["Oslo", "Paris", "Rome"]);
      expect(readLast().flatMap(({ role, content }) => (role === "tool" ? [String(content)] : []))).toEqual([
        expect.stringContaining("Paris: sunny"),
        expect.stringContaining("Closed."),
        expect.stringContaining("Rome: sunny"),
      ]);
    }
  });

  test("that are owed a result are asked for by their ids", async () => {
    const { client } = await open();
    server.provider.enqueue({ tool_calls: [asks("a", "Paris")] }, { text: "Never mind." });
    const { content } = await client.messages.create(say("Weather?", { tools: [WEATHER] }));
    const [call] = content.filter((block) => block.type === "tool_use");

    const refused = client.messages.create(say("Well?"));

    await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringContaining(call?.id ?? "?") });
    const results = [{ type: "tool_result" as const, tool_use_id: call?.id ?? "", content: "?", is_error: true }];
    const both = await client.messages.create(say([...results, { type: "text", text: "Well?" }]));
    expect(show(both)).toBe("Never mind.");
  });
});

describe("a turn that waits for a person's approval", () => {
  const read = (session: string) => server.longhand.get("/v1/sessions/{session_id}", { path: { session_id: session } });
  const approve = async (session: string, approved = true) => {
    const open = (await read(session)).turn?.open_calls.filter(({ approval }) => approval === "pending") ?? [];
    const approvals = open.map(({ id }) => ({ execution_id: id, approved }));
    await server.longhand.post("/v1/sessions/{session_id}/approvals", { path: { session_id: session }, body: { approvals } });
  };
  const lookUp = { id: "s", name: "pay", arguments: "{}" };
  let tools: ToolServer;

  beforeAll(async () => {
    tools = await startToolServer();
    await server.longhand.put("/v1/tools/{tool_name}", {
      path: { tool_name: "pay" },
      body: { description: "Pays", parameters: { type: "object" }, url: `${tools.url}/echo`, needs_approval: true },
    });
  });
  afterAll(() => tools?.close());

  async function openWithTool() {
    const opened = await open();
    const { etag } = await read(opened.session);
    await server.longhand.patch("/v1/sessions/{session_id}", {
      path: { session_id: opened.session },
      headers: { "If-Match": etag },
      body: { tools: [{ type: "http", name: "pay" }] },
    });
    return opened;
  }

  test.each([false, true])("goes on when its content is sent back, before the approval or after it (streamed: %s)", async (stream) => {
    for (const isLate of [false, true]) {
      const { client, session } = await openWithTool();
      const ask = (messages: Anthropic.MessageParam[]) =>
        stream ? client.messages.stream(say("", { messages })).finalMessage() : client.messages.create(say("", { messages }));
      server.provider.enqueue({ text: "我来付。", tool_calls: [lookUp] }, { reasoning: "Done.", text: "付了。" }, { text: "Bye." });
      const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Pay." }];

      const paused = await ask(messages);
      messages.push({ role: "assistant", content: paused.content });
      await expect(ask([...messages, { role: "user", content: "Well?" }])).rejects.toThrow(/approval/);
      if (isLate) {
        await approve(session);
        await expect.poll(async () => (await read(session)).turn).toBe(null);
      }
      const resumed = ask(messages);
      if (!isLate) await approve(session);
      const answered = await resumed;
      messages.push({ role: "assistant", content: answered.content });

      expect([paused.stop_reason, show(paused)]).toEqual(["pause_turn", "我来付。"]);
      expect([answered.stop_reason, answered.content]).toEqual([
        "end_turn",
        [
          { type: "thinking", thinking: "Done.", signature: "" },
          { type: "text", text: "付了。", citations: null },
        ],
      ]);
      expect(answered.id).not.toBe(paused.id);
      expect(show(await ask([...messages, { role: "user", content: "Thanks." }]))).toBe("Bye.");
      expect((await server.listTexts(session)).filter((line) => line.startsWith("user"))).toEqual(["user: Pay.", "user: Thanks."]);
      await expect(ask(messages)).rejects.toThrow(/messages\.\d+\.role/);
    }
  });

  test("goes on in the SDK's tool loop, also where the model has said nothing yet", async () => {
    for (const stream of [false, true]) {
      const { client, session } = await openWithTool();
      server.provider.enqueue({ tool_calls: [lookUp] }, { text: "Paid." });

      const ran = client.beta.messages.toolRunner({ ...say("Pay."), tools: [], stream }).runUntilDone();
      await expect.poll(async () => (await read(session)).turn?.phase).toBe("awaiting_tools");
      await approve(session);

      expect(show(await ran)).toBe("Paid.");
      expect(await server.listTexts(session)).toHaveLength(4);
    }
  });

  test("that is refused goes on, too", async () => {
    const { client, session } = await openWithTool();
    server.provider.enqueue({ tool_calls: [lookUp] }, { text: "A pity." });
    const paused = await client.messages.create(say("Pay."));
    await approve(session, false);

    const messages: Anthropic.MessageParam[] = [
      { role: "user", content: "Pay." },
      { role: "assistant", content: paused.content },
    ];
    expect(paused.content).toEqual([]);
    expect(show(await client.messages.create(say("", { messages })))).toBe("A pity.");
  });
});

describe("a request without a session", () => {
  const alone = (options: { maxRetries?: number } = {}) => new Anthropic({ baseURL: server.url, apiKey: server.key, ...options });
  const history = (turns: number, words: number): Anthropic.MessageParam[] =>
    Array.from({ length: turns }, (_, nth) => [
      { role: "user" as const, content: `Question ${nth}: ${"why? ".repeat(words)}` },
      { role: "assistant" as const, content: `Answer ${nth}.` },
    ]).flat();

  test("brings its whole conversation, and leaves nothing but its usage", async () => {
    const list = async () => (await server.longhand.get("/v1/sessions", { query: { limit: 200 } })).data.map(({ id }) => id);
    const before = await list();
    server.provider.enqueue({ text: "Rex." }, { text: "雷克斯。" });
    const messages: Anthropic.MessageParam[] = [
      { role: "user", content: "My dog is Rex." },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "A dog.", signature: "abc" },
          { type: "text", text: "Noted." },
        ],
      },
      { role: "user", content: "Its name?" },
    ];

    const whole = await alone().messages.create(say("", { messages, system: "Be brief." }));
    const read = readLast();
    const streamed = await alone().messages.stream(say("", { messages })).finalMessage();

    expect([show(whole), show(streamed)]).toEqual(["Rex.", "雷克斯。"]);
    expect(whole.usage.input_tokens).toBeGreaterThan(0);
    expect(read.map(({ role, content }) => [role, String(content)])).toMatchObject([
      ["system", expect.stringContaining("Be brief.")],
      ["user", "My dog is Rex."],
      ["assistant", "Noted."],
      ["user", "Its name?"],
    ]);
    await expect.poll(list, { timeout: 10_000 }).toEqual(before);
  });

  test("is counted once in the tenant's usage, which names no session that can be read", async () => {
    const { url, key } = await createTenant(server.url, server.adminKey);
    const headers = { authorization: `Bearer ${key}` };
    const read = async (path: string) => await fetch(`${url}${path}`, { headers });
    const count = async () => {
      const { data } = (await (await read("/v1/usage")).json()) as { readonly data: readonly { readonly calls: number }[] };
      return data.reduce((sum, { calls }) => sum + calls, 0);
    };
    const client = new Anthropic({ baseURL: url, apiKey: key });
    const asked = say("Hi", { model: "embedded" });

    const message = await client.messages.create(asked);
    await client.messages.stream(asked).finalMessage();

    await expect.poll(count, { timeout: 10_000 }).toBe(2);
    const session = `ses_${message.id.slice("msg_".length, "msg_".length + 26)}`;
    await expect.poll(async () => (await read(`/v1/sessions/${session}`)).status, { timeout: 10_000 }).toBe(404);
  });

  test("ends with its client: the provider's call is cut off, and nothing is left", async () => {
    const list = async () => (await server.longhand.get("/v1/sessions", { query: { limit: 200 } })).data.length;
    const before = await list();
    // Node never ends a read that is aborted while the whole answer has arrived already, so that this one has no end.
    const left = Promise.withResolvers<void>();
    async function* speak() {
      yield "one two three";
      await left.promise;
      yield " four five six";
      await new Promise(() => undefined);
    }
    server.provider.enqueue(speak(), { text: "Yes." });
    const asked = server.provider.request(server.provider.log.length + 1);
    const stream = alone().messages.stream(say("Count."));
    stream.once("text", () => stream.abort());

    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
    left.resolve();
    const call = await asked;
    await server.provider.settled(call);
    expect(call.aborted).toBe(true);
    expect(show(await alone().messages.create(say("Done?")))).toBe("Yes.");
    expect(readLast()).toHaveLength(1);
    expect(await list()).toBe(before);
  });

  test("runs the SDK's tool loop, whose requests end with results", async () => {
    for (const stream of [false, true]) {
      server.provider.enqueue({ text: "I look.", tool_calls: [asks("1", "Paris"), asks("2", "Oslo")] }, { text: "Sun." });
      const { input_schema: inputSchema, ...named } = WEATHER;
      const tool = betaTool({ ...named, inputSchema, run: ({ city }) => `${city}: sunny` });

      const message = await alone()
        .beta.messages.toolRunner({ ...say("Weather?"), tools: [tool], stream })
        .runUntilDone();

      expect(show(message)).toBe("Sun.");
      expect(readLast().map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
      expect(readLast().flatMap(({ role, content }) => (role === "tool" ? [String(content)] : []))).toEqual([
        "Paris: sunny",
        "Oslo: sunny",
      ]);
    }
  });

  test("that exceeds the window gets the provider's error, or is compacted where it asks for that", async () => {
    server.provider.respondWith(() => ({ text: "Well." }));
    const messages = [...history(20, 80), { role: "user" as const, content: "And now?" }];
    const asked = { model: "scripted-small", max_tokens: 100, messages };

    await expect(alone().messages.create(asked)).rejects.toMatchObject({
      status: 400,
      type: "invalid_request_error",
      message: expect.stringContaining("prompt is too long"),
    });
    const context_management = { edits: [{ type: "compact_20260112" as const }] };
    const compacted = await alone().beta.messages.create({ ...asked, betas: ["compact-2026-01-12"], context_management });

    expect(show(compacted)).toBe("Well.");
  });

  test("is sent again by the SDK when the provider fails, because nothing is kept", async () => {
    const error = { message: "Slow down", type: "rate_limit_error" };
    const headers = { "retry-after": "600" };
    server.provider.enqueue({ status: 429, error, headers }, { text: "Then." });

    expect(show(await alone({ maxRetries: 1 }).messages.create(say("Hi")))).toBe("Then.");
  });

  test("with a result of no call is refused by its place", async () => {
    const messages: Anthropic.MessageParam[] = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello." },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "?" }] },
    ];

    await expect(alone().messages.create(say("", { messages }))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("messages.2.content.0.tool_use_id"),
    });
  });
});

describe("disconnects and failures", () => {
  test("a client that leaves stops nothing: the answer is in the session", async () => {
    const { client, session } = await open();
    const pieces = ["one two three four five", " six seven eight nine ten"];
    const whole = pieces.join("");
    const left = Promise.withResolvers<void>();
    async function* speak() {
      yield pieces[0] ?? "";
      await left.promise;
      yield pieces[1] ?? "";
    }
    server.provider.enqueue(speak(), { text: "Yes." });
    const stream = client.messages.stream(say("Count."));
    stream.once("connect", () => stream.abort());

    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
    left.resolve();
    const next = await client.messages.create(say("Done?"));

    expect(show(next)).toBe("Yes.");
    expect(await server.listTexts(session)).toEqual(["user: Count.", `assistant: ${whole}`, "user: Done?", "assistant: Yes."]);
  });

  test.each([1, 2, 3, 4, 5])("a stream that is cut behind event %i is no message, and the session has it", async (nth) => {
    const { client, session } = await open({ through: server.proxy.url, maxRetries: 0 });
    server.provider.enqueue({ text: "one two three", chunks: 3 }, { text: "Yes." });
    server.proxy.plan((stream) => (stream === 0 ? behindEvent(nth) : "pass"));

    await expect(client.messages.stream(say("Count.")).finalMessage()).rejects.toBeInstanceOf(Error);
    const next = await client.messages.create(say("Done?"));

    expect(show(next)).toBe("Yes.");
    expect(await server.listTexts(session)).toContain("assistant: one two three");
  });

  test("two requests at once are answered one after the other", async () => {
    const { client, session } = await open();
    server.provider.respondWith(({ messages }) => ({ text: `Answer to ${String(messages.at(-1)?.content)}` }));

    const answers = await Promise.all(["A", "B", "C"].map((name) => client.messages.create(say(name))));

    expect(answers.map(show)).toEqual(["Answer to A", "Answer to B", "Answer to C"]);
    expect(await server.listTexts(session)).toHaveLength(6);
  });

  test("the same request with the same idempotency key is one turn", async () => {
    const { client, session } = await open();
    server.provider.enqueue({ text: "Once." });
    const headers = { "Idempotency-Key": "order-1" };

    const [one, other] = [await client.messages.create(say("Buy."), { headers }), await client.messages.create(say("Buy."), { headers })];

    expect(other).toEqual(one);
    expect(await server.listTexts(session)).toEqual(["user: Buy.", "assistant: Once."]);
    await expect(client.messages.create(say("Sell."), { headers })).rejects.toMatchObject({ status: 400 });
  });

  test("a provider that refuses is an error in Anthropic's words, and the message is not sent twice", async () => {
    const { client, session } = await open();
    const error = { message: "Incorrect API key", code: "invalid_api_key" };
    server.provider.enqueue({ status: 401, error }, { status: 401, error });

    await expect(client.messages.create(say("One"))).rejects.toMatchObject({
      status: 500,
      type: "api_error",
      requestID: expect.any(String),
    });
    await expect(client.messages.stream(say("Two")).finalMessage()).rejects.toMatchObject({ type: "api_error" });
    expect((await server.listTexts(session)).map((line) => line.slice(0, 9))).toEqual(["user: One", "user: Two"]);
  });

  test("an unknown model, a wrong key and a wrong session are told apart", async () => {
    const { client } = await open();
    const wrong = new Anthropic({ baseURL: server.url, apiKey: "sk-ant-none" });

    await expect(client.messages.create(say("Hi", { model: "nothing" }))).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    await expect(wrong.messages.create(say("Hi"))).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    const headers = { "X-Session-Id": "ses_01ARZ3NDEKTSV4RRFFQ69G5FAV" };
    await expect(client.messages.create(say("Hi"), { headers })).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });
});

/** The members that an interface of the SDK's types demands. */
function listDemanded(file: string, name: string): readonly string[] {
  const source = readFileSync(join(import.meta.dirname, "../../node_modules/@anthropic-ai/sdk/resources", file), "utf8");
  const [, body = ""] = new RegExp(`export interface ${name} \\{([\\s\\S]*?)\\n\\}`).exec(source) ?? [];
  return [...body.matchAll(/^ {4}(\w+): /gm)].map(([, member = ""]) => member);
}

const lacks = (given: object, file: string, name: string): readonly string[] => {
  const demanded = listDemanded(file, name);
  expect(demanded, name).not.toEqual([]);
  return demanded.filter((member) => !Object.hasOwn(given, member)).map((member) => `${name}.${member}`);
};

const STABLE = "messages/messages.d.ts";
const BETA = "beta/messages/messages.d.ts";

function listLacking(message: Anthropic.Message | Anthropic.Beta.BetaMessage, [file, prefix]: readonly [string, string]): string[] {
  const kinds = { text: "TextBlock", thinking: "ThinkingBlock", tool_use: "ToolUseBlock" } as const;
  const blocks = message.content.flatMap((block) =>
    block.type in kinds ? lacks(block, file, prefix + kinds[block.type as keyof typeof kinds]) : [block.type],
  );
  return [...lacks(message, file, `${prefix}Message`), ...lacks(message.usage, file, `${prefix}Usage`), ...blocks];
}

describe("the SDK's types", () => {
  test("are those of the answers: no member that they demand is missing", async () => {
    for (const isAlone of [true, false]) {
      const connect = async () => (isAlone ? new Anthropic({ baseURL: server.url, apiKey: server.key }) : (await open()).client);
      const said = { reasoning: "Hm.", text: "I look.", tool_calls: [asks("a", "Paris")] };
      server.provider.enqueue(said, said, said);
      const question = say("Weather?", { tools: [WEATHER] });

      const whole = await (await connect()).messages.create(question);
      const events: Anthropic.RawMessageStreamEvent[] = [];
      for await (const event of await (await connect()).messages.create({ ...question, stream: true })) events.push(event);
      const beta = await (await connect()).beta.messages.create({ ...question, betas: [] });

      expect(listLacking(whole, [STABLE, ""])).toEqual([]);
      expect(listLacking(beta, [BETA, "Beta"])).toEqual([]);
      expect(whole.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"]);
      const [start, end] = [events.find(({ type }) => type === "message_start"), events.find(({ type }) => type === "message_delta")];
      if (start?.type !== "message_start" || end?.type !== "message_delta") throw new Error("The stream has no message");
      expect(listLacking(start.message, [STABLE, ""])).toEqual([]);
      expect(lacks(end, BETA, "BetaRawMessageDeltaEvent")).toEqual([]);
      expect(lacks(end.usage, BETA, "BetaMessageDeltaUsage")).toEqual([]);
      expect(Object.keys(end.delta).toSorted()).toEqual(["container", "stop_details", "stop_reason", "stop_sequence"]);
    }
  });

  test("are those of models and counts, too", async () => {
    const { client } = await open();
    const counted = { model: MODEL, messages: [{ role: "user" as const, content: "?" }] };

    expect(lacks(await client.models.retrieve(MODEL), "models.d.ts", "ModelInfo")).toEqual([]);
    expect(lacks(await client.beta.models.retrieve(MODEL), "beta/models.d.ts", "BetaModelInfo")).toEqual([]);
    for await (const model of client.models.list({ limit: 1 })) expect(lacks(model, "models.d.ts", "ModelInfo")).toEqual([]);
    expect(lacks(await client.messages.countTokens(counted), STABLE, "MessageTokensCount")).toEqual([]);
    expect(lacks(await client.beta.messages.countTokens(counted), BETA, "BetaMessageTokensCount")).toEqual([]);
  });
});

describe("a stranger", () => {
  const stateless = () => new Anthropic({ baseURL: server.url, apiKey: server.key, maxRetries: 0 });

  test("runs an agent of twelve calls in Chinese, with thinking sent back, in a small window", async () => {
    const { client, session } = await open({ small: true });
    let asked = 0;
    server.provider.respondWith(() => {
      asked += 1;
      const tool_calls = asked <= 12 ? [asks(`c${asked}`, `城市${asked}`)] : [];
      return { reasoning: "想一想。", text: `第${asked}步。${"看一看。".repeat(10)}`, tool_calls };
    });
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "每个城市的天气？" }];
    const cached = { cache_control: { type: "ephemeral" as const } };
    let last: Anthropic.Message | null = null;

    for (let nth = 0; nth < 14 && last?.stop_reason !== "end_turn"; nth++) {
      const body = {
        model: "scripted-small",
        max_tokens: 200,
        messages,
        system: [{ type: "text" as const, text: "简短。", ...cached }],
        tools: [{ ...WEATHER, ...cached }],
      };
      last = nth % 2 === 0 ? await client.messages.create(body) : await client.messages.stream(body).finalMessage();
      messages.push({ role: "assistant", content: last.content });
      const results = last.content.flatMap((block) =>
        block.type === "tool_use"
          ? [
              {
                type: "tool_result" as const,
                tool_use_id: block.id,
                content: `${JSON.stringify(block.input)}：晴。${"风很小。".repeat(20)}`,
                ...cached,
              },
            ]
          : [],
      );
      if (results.length > 0) messages.push({ role: "user", content: results });
    }

    expect(last?.stop_reason).toBe("end_turn");
    expect(asked).toBe(13);
    expect((await server.listTexts(session)).filter((line) => line.startsWith("tool:"))).toHaveLength(12);
    expect((await server.listTexts(session)).filter((line) => line.startsWith("user:"))).toHaveLength(1);
  }, 60_000);

  test("reads a clear refusal of what there is not", async () => {
    const { client } = await open();
    const hostile = { type: "object", properties: { __proto__: { $ref: "#/nowhere" } } } as const;

    for (const each of [client, stateless()]) {
      const bash = { type: "bash_20250124", name: "bash" } as const;
      await expect(each.messages.create(say("?", { tools: [bash] }))).rejects.toThrow(/tools\.0\.type/);
      await expect(each.messages.create(say(""))).rejects.toThrow(/messages\.0\.content/);
      await expect(each.messages.create(say([]))).rejects.toThrow(/messages\.0\.content/);
      await expect(each.messages.batches.create({ requests: [] })).rejects.toMatchObject({ status: 404, type: "not_found_error" });
      await expect(each.models.retrieve("nothing")).rejects.toMatchObject({ status: 404, type: "not_found_error" });
      server.provider.enqueue({ text: "Fine." });
      expect(show(await each.messages.create(say("?", { tools: [{ name: "odd", input_schema: hostile }] })))).toBe("Fine.");
    }
  });
});

describe("the page of Anthropic Messages", () => {
  test("has a program of under 30 lines, which prints what the page shows", async () => {
    const ran = await runPageProgram("anthropic", await createTenant(server.url, server.adminKey));
    expect(ran.lines).toBeLessThan(30);
    expect(ran.wrong).toBe("");
    expect(ran.said).toBe(ran.output);
  });
});
