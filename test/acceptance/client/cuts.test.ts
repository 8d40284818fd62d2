/**
 * Streams that break off behind each of their events, over every surface, with the vendors' own packages. A client comes back as its
 * vendor lets it: what it then has equals an answer that nothing interrupted, and the session has each message once.
 */
import { Chat } from "@ai-sdk/react";
import Anthropic from "@anthropic-ai/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { DefaultChatTransport, type UIMessage } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { ChatServer } from "../../client/chat-server";
import { behindEvent } from "../../client/cutting-proxy";
import { ResponsesCaller, readEvents } from "../../client/responses-caller";
import { ResponsesSocket } from "../../client/responses-socket";
import { startToolServer, type ToolServer } from "../../support/stand-in/tool-server";
import type { ScriptedReply } from "../../support/stand-in/wire";

const MINUTES = 60_000;
const [MODEL, SMALL] = ["scripted", "scripted-small"];
const SCHEMA = { type: "object" as const, properties: { city: { type: "string" } } };
const DESCRIPTION = "The weather in a city";
/** A turn of two legs: the first one ends with a call of the client. */
const [GREETING, QUESTION, REASONING, TEXT, CITY, RESULT] = ["Hello.", "天气?", "Hm, 嗯。", "Let me look. 🐕", "里斯本", "sun"];
const FIRST: ScriptedReply = {
  ...{ reasoning: REASONING, text: TEXT, chunks: 3 },
  tool_calls: [{ id: "call_1", name: "weather", arguments: JSON.stringify({ city: CITY }) }],
};
const PIECES = ["In 里斯本", " the sun", " shines. ", "🐕"];
const LAST = PIECES.join("");

let server: ChatServer;
let tools: ToolServer;

beforeAll(async () => {
  [server, tools] = await Promise.all([ChatServer.start(), startToolServer()]);
  const parameters = { type: "object" };
  await server.longhand.put("/v1/tools/{tool_name}", {
    path: { tool_name: "find" },
    body: { description: "Finds", parameters, url: `${tools.url}/echo` },
  });
  await server.longhand.patch("/v1/tenant", { body: { default_model: MODEL } });
}, 2 * MINUTES);
afterAll(async () => {
  await server?.close();
  await tools?.close();
});
beforeEach(() => server.proxy.plan(() => "pass"));

/** An answer without ids. */
interface Answer {
  readonly reasoning: string;
  readonly text: string;
  /** The cities that the weather is asked for. */
  readonly cities: readonly unknown[];
}

interface Dialogue {
  readonly session: string;
  /** Asks through the proxy. Fails, or hears less, where the stream breaks off. */
  ask(): Promise<unknown>;
  /** Comes back as the vendor lets a client come back. */
  readAgain(): Promise<Answer>;
  /** Answers the call, through the proxy. */
  giveResult(): Promise<unknown>;
  readLast(): Promise<Answer>;
}

/** Speaks piece by piece as the client hears them, and without waiting once the client comes back. */
function speak() {
  const back = Promise.withResolvers<void>();
  async function* pieces() {
    for (const piece of PIECES) {
      const moved = server.proxy.moved();
      yield piece;
      await Promise.race([moved, back.promise]);
    }
  }
  return { reply: pieces(), comeBack: back.resolve };
}

const cutFirst = (nth: number): void => server.proxy.plan((stream) => (stream === 0 ? behindEvent(nth) : "pass"));

/** Cuts both legs of a turn behind the nth event. Returns whether there was one to cut behind. */
async function cutBoth(nth: number, open: () => Promise<Dialogue>): Promise<boolean> {
  server.provider.enqueue({ text: GREETING });
  const dialogue = await open();
  server.provider.enqueue(FIRST);
  cutFirst(nth);
  await dialogue.ask().catch(() => null);
  let { cuts } = server.proxy;
  expect(await dialogue.readAgain(), `cut behind event ${nth}`).toEqual({ reasoning: REASONING, text: TEXT, cities: [CITY] });

  const { reply, comeBack } = speak();
  server.provider.enqueue(reply);
  cutFirst(nth);
  await dialogue.giveResult().catch(() => null);
  cuts += server.proxy.cuts;
  comeBack();
  expect(await dialogue.readLast(), `the second leg, cut behind event ${nth}`).toEqual({ reasoning: "", text: LAST, cities: [] });
  expect(await server.listTexts(dialogue.session)).toEqual([
    ...["user: Hi", `assistant: ${GREETING}`, `user: ${QUESTION}`],
    ...[`assistant: ${REASONING}${TEXT}`, `tool: ${RESULT}`, `assistant: ${LAST}`],
  ]);
  return cuts > 0;
}

const user = (content: string) => ({ role: "user", content }) as const;
const said = (content: string) => ({ role: "assistant", content }) as const;
const readCity = (written: string): unknown => z.object({ city: z.unknown() }).parse(JSON.parse(written)).city;

/** The same request again, by turns as a stream and as JSON. */
async function openChatCompletions(): Promise<Dialogue> {
  const session = await server.openSession();
  const connect = (url: string) =>
    new OpenAI({ baseURL: `${url}/v1`, apiKey: server.key, maxRetries: 0, defaultHeaders: { "X-Session-Id": session } });
  const [cut, direct] = [connect(server.proxy.url), connect(server.url)];
  const asked = {
    model: MODEL,
    tools: [{ type: "function" as const, function: { name: "weather", description: DESCRIPTION, parameters: SCHEMA } }],
  };
  await direct.chat.completions.create({ ...asked, messages: [user("Hi")] });
  const messages: OpenAI.ChatCompletionMessageParam[] = [user("Hi"), said(GREETING), user(QUESTION)];
  const stream = (openai: OpenAI) => openai.chat.completions.stream({ ...asked, messages }).finalChatCompletion();
  let isStreamed = false;
  const read = async (): Promise<Answer> => {
    isStreamed = !isStreamed;
    const { choices } = isStreamed ? await stream(direct) : await direct.chat.completions.create({ ...asked, messages });
    const message = choices[0]?.message;
    if (!message) throw new Error("There is no choice");
    const calls = (message.tool_calls ?? []).flatMap((call) => (call.type === "function" ? [call] : []));
    const reasoning = "reasoning_content" in message ? String(message.reasoning_content) : "";
    if (calls.length > 0) messages.push(message, ...calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: RESULT })));
    return { reasoning, text: message.content ?? "", cities: calls.map((call) => readCity(call.function.arguments)) };
  };
  const ask = () => stream(cut);
  return { session, ask, readAgain: read, giveResult: ask, readLast: read };
}

/** The same request again, with its key. */
async function openAnthropic(): Promise<Dialogue> {
  const session = await server.openSession();
  const connect = (url: string) =>
    new Anthropic({ baseURL: url, apiKey: server.key, maxRetries: 0, defaultHeaders: { "X-Session-Id": session } });
  const [cut, direct] = [connect(server.proxy.url), connect(server.url)];
  const asked = { model: MODEL, max_tokens: 200, tools: [{ name: "weather", description: DESCRIPTION, input_schema: SCHEMA }] };
  await direct.messages.create({ ...asked, messages: [user("Hi")] });
  const messages: Anthropic.MessageParam[] = [user("Hi"), said(GREETING), user(QUESTION)];
  let requests = 0;
  const byKey = () => ({ headers: { "Idempotency-Key": `${session}-${requests}` } });
  const read = async (): Promise<Answer> => {
    const { content } = await direct.messages.stream({ ...asked, messages, stream: true }, byKey()).finalMessage();
    requests++;
    const uses = content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
    const results = uses.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: RESULT }));
    if (uses.length > 0) messages.push({ role: "assistant", content }, { role: "user", content: results });
    const join = (type: "text" | "thinking") =>
      content
        .map((block) => (block.type !== type ? "" : block.type === "text" ? block.text : block.type === "thinking" ? block.thinking : ""))
        .join("");
    return { reasoning: join("thinking"), text: join("text"), cities: uses.map(({ input }) => readCity(JSON.stringify(input))) };
  };
  const stream = () => cut.messages.stream({ ...asked, messages, stream: true }, byKey()).finalMessage();
  return { session, ask: stream, readAgain: read, giveResult: stream, readLast: read };
}

let chats = 0;

/** A page that is loaded anew: the history, and the stream of what is under way. */
async function openAiSdk(): Promise<Dialogue> {
  const id = `cut 天气 ${++chats}`;
  const path = { external_id: id };
  const offered = [{ name: "weather", description: DESCRIPTION, parameters: SCHEMA }];
  const session = await server.longhand.put("/v1/sessions/by-external-id/{external_id}", { path, body: { model: MODEL, tools: offered } });
  const headers = { authorization: `Bearer ${server.key}` };
  const open = (messages: UIMessage[] = []) =>
    new Chat<UIMessage>({ id, messages, transport: new DefaultChatTransport({ api: `${server.proxy.url}/api/chat`, headers }) });
  const readHistory = async (): Promise<UIMessage[]> => {
    const response = await fetch(`${server.url}/api/chat/${encodeURIComponent(id)}/messages`, { headers });
    return z.object({ messages: z.array(z.custom<UIMessage>()) }).parse(await response.json()).messages;
  };
  let chat = open();
  await chat.sendMessage({ text: "Hi" });
  const read = async (): Promise<Answer> => {
    chat = open(await readHistory());
    await chat.resumeStream();
    expect(chat.error).toBeUndefined();
    // Nothing ran any more: the turn ended after its history was read.
    if (chat.messages.at(-1)?.role === "user") chat.messages = await readHistory();
    const history = await readHistory();
    expect(JSON.parse(JSON.stringify(chat.messages))).toEqual(history);
    const parts = chat.messages.at(-1)?.parts ?? [];
    const open_calls = parts.flatMap((part) => ("state" in part && part.state === "input-available" && "input" in part ? [part] : []));
    // A page has both legs in one message. The second one begins with its own step.
    const leg = parts.slice(open_calls.length > 0 ? 0 : parts.findLastIndex(({ type }) => type === "step-start"));
    const join = (type: string) => leg.map((part) => (part.type === type && "text" in part ? part.text : "")).join("");
    return { reasoning: join("reasoning"), text: join("text"), cities: open_calls.map(({ input }) => readCity(JSON.stringify(input))) };
  };
  const giveResult = async () => {
    const call = chat.messages.at(-1)?.parts.find(({ type }) => type === "tool-weather");
    const toolCallId = call && "toolCallId" in call ? call.toolCallId : "";
    await chat.addToolOutput({ tool: "weather", toolCallId, output: RESULT });
    await chat.sendMessage();
  };
  return { session: session.id, ask: () => chat.sendMessage({ text: QUESTION }), readAgain: read, giveResult, readLast: read };
}

type Created = OpenAI.Responses.Response;
type Event = OpenAI.Responses.ResponseStreamEvent;

/** The events until the stream ends or breaks off. */
async function hear(opening: Promise<AsyncIterable<Event>>): Promise<Event[]> {
  const heard: Event[] = [];
  const stream = await opening;
  try {
    for await (const event of stream) heard.push(event);
  } catch (error) {
    if (!(error instanceof Error) || /^\d{3} /.test(error.message)) throw error;
  }
  return heard;
}

/** An output without ids, which differ from response to response. */
const toPlain = ({ output }: Created): unknown =>
  JSON.parse(
    JSON.stringify(output, (key, value) => (key === "id" || key === "call_id" ? null : value)).replace(/exe_[0-9A-Z]{26}/g, "exe_"),
  );

class Resuming {
  readonly #direct = new OpenAI({ apiKey: server.key, baseURL: `${server.url}/v1`, maxRetries: 0 });
  readonly #cut = new OpenAI({ apiKey: server.key, baseURL: `${server.proxy.url}/v1`, maxRetries: 0 });

  /** The events of a response whose stream is cut behind the nth event, and resumed. */
  async hear(nth: number, asked: Partial<OpenAI.Responses.ResponseCreateParamsStreaming>): Promise<Event[]> {
    cutFirst(nth);
    const heard = await hear(this.#cut.responses.create({ model: MODEL, ...asked, stream: true }));
    if (server.proxy.cuts === 0) return heard;
    // Behind the last event [DONE] comes, which the package keeps for itself.
    expect(heard).toHaveLength(heard.at(-1)?.type === "response.completed" ? Math.min(nth, heard.length) : nth);
    const [created] = heard;
    const id = created?.type === "response.created" ? created.response.id : "";
    const starting_after = heard.at(-1)?.sequence_number ?? 0;
    return [...heard, ...(await hear(this.#cut.responses.retrieve(id, { stream: true, starting_after })))];
  }

  /** The response that the events tell of, which must be the one that is stored and told again. */
  async check(events: readonly Event[]): Promise<Created> {
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const last = events.at(-1);
    if (last?.type !== "response.completed") throw new Error(`The stream ends with ${JSON.stringify(last)}`);
    expect(events).toEqual(await hear(this.#direct.responses.retrieve(last.response.id, { stream: true })));
    expect({ ...(await this.#direct.responses.retrieve(last.response.id)), output_text: undefined }).toEqual(last.response);
    return last.response;
  }
}

/** A call that the server runs. */
const FIND = { id: "call_f", name: "find", arguments: JSON.stringify({ city: CITY }) };
const WEATHER = { type: "function" as const, name: "weather", description: DESCRIPTION, parameters: SCHEMA, strict: false };
const answerCalls = ({ output }: Created) =>
  output.flatMap((item) =>
    item.type === "function_call" ? [{ type: "function_call_output" as const, call_id: item.call_id, output: RESULT }] : [],
  );

describe("responses: a stream that is cut off behind any of its events is resumed", () => {
  const twice = [...(FIRST.tool_calls ?? []), { id: "call_2", name: "weather", arguments: "{}" }];

  const ASKS_TWICE: ScriptedReply = { ...FIRST, tool_calls: twice };
  const ENDS: ScriptedReply = { text: LAST, chunks: 3 };

  test.each([
    ["over both legs of a turn, with reasoning and calls", false, [ASKS_TWICE, ENDS]],
    ["in the background", true, [ASKS_TWICE]],
  ])(
    "%s",
    async (_, background, replies) => {
      const resuming = new Resuming();
      const legs = async (nth: number): Promise<{ readonly isCut: boolean; readonly outputs: readonly unknown[] }> => {
        const outputs: unknown[] = [];
        let [isCut, before]: [boolean, Created | null] = [false, null];
        for (const reply of replies) {
          server.provider.enqueue(reply);
          const input: OpenAI.Responses.ResponseInput = before === null ? [user(QUESTION)] : answerCalls(before);
          const previous: string | null = before?.id ?? null;
          const events: Event[] = await resuming.hear(nth, { input, previous_response_id: previous, tools: [WEATHER], background });
          isCut ||= server.proxy.cuts > 0;
          before = await resuming.check(events);
          outputs.push(toPlain(before));
        }
        return { isCut, outputs };
      };
      const { outputs: whole } = await legs(10_000);
      expect(whole[0]).toMatchObject([{ type: "reasoning" }, { type: "message" }, { type: "function_call" }, { type: "function_call" }]);
      let nth = 1;
      for (; ; nth++) {
        const { isCut, outputs } = await legs(nth);
        expect(outputs).toEqual(whole);
        if (!isCut) break;
      }
      expect(nth).toBeGreaterThan(18);
    },
    4 * MINUTES,
  );

  test(
    "where the server runs the tools",
    async () => {
      const resuming = new Resuming();
      const { id } = await server.longhand.post("/v1/sessions", { body: { model: MODEL, tools: [{ type: "http", name: "find" }] } });
      const ask = async (nth: number): Promise<unknown> => {
        server.provider.enqueue({ text: "Wait.", tool_calls: [FIND, FIND] }, { reasoning: REASONING, text: LAST });
        const events = await resuming.hear(nth, { conversation: id.replace("ses_", "conv_"), input: "?" });
        return toPlain(await resuming.check(events));
      };
      const whole = await ask(10_000);
      expect(whole).toMatchObject([
        ...[{ type: "message" }, { type: "mcp_call", output: expect.stringContaining("里斯本") }, { type: "mcp_call" }],
        ...[{ type: "reasoning" }, { type: "message" }],
      ]);
      for (let nth = 1; nth === 1 || server.proxy.cuts > 0; nth++) expect(await ask(nth)).toEqual(whole);
    },
    2 * MINUTES,
  );

  test(
    "in a window of 2,048 tokens, while it is compacted",
    async () => {
      const resuming = new Resuming();
      const text = "Well, well. ".repeat(60);
      server.provider.respondWith(({ messages }) => ({ text: `${messages.length}: ${text}`, chunks: 3 }));
      const before = server.provider.totals();
      let previous: string | null = null;
      for (let nth = 1; nth <= 24; nth++) {
        const input = `Question ${nth}: ${"why? ".repeat(40)}`;
        const events: Event[] = await resuming.hear(1 + (nth % 9), { model: SMALL, input, previous_response_id: previous });
        expect(server.proxy.cuts).toBe(1);
        const response = await resuming.check(events);
        expect(response.output_text ?? JSON.stringify(response.output)).toContain(text);
        previous = response.id;
      }
      expect(server.provider.totals().compactions).toBeGreaterThan(before.compactions);
      expect(server.provider.totals().overflows).toBe(before.overflows);
      expect(await server.listTexts(`ses_${previous?.slice("resp_".length, "resp_".length + 26)}`)).toHaveLength(48);
    },
    2 * MINUTES,
  );
});

test(
  "responses over a WebSocket: a connection that is lost behind any message is taken up by another",
  async () => {
    const caller = new ResponsesCaller(server.url, server.key);
    /** What a leg says in the end, and whether the connection was lost before that. */
    const lose = async (nth: number, asked: object) => {
      const socket = await ResponsesSocket.open(server.url, server.key);
      socket.send({ model: MODEL, tools: [WEATHER], ...asked });
      const heard = await socket.hearUntil((type) => type === "response.completed" || --nth === 0);
      socket.drop();
      const events = readEvents(heard);
      const [created, last] = [events[0], events.at(-1)];
      if (created?.type !== "response.created") throw new Error("The response did not begin");
      const { id } = created.response;
      const isLost = last?.type !== "response.completed";
      const rest = isLost ? await caller.replay(id, last?.sequence_number) : [];
      const whole = await caller.replay(id);
      expect([...heard, ...rest].map(({ data }) => data).filter((data) => data !== "[DONE]")).toEqual(
        whole.map(({ data }) => data).filter((data) => data !== "[DONE]"),
      );
      const response = await caller.retrieve(id);
      expect(response.status).toBe("completed");
      return { isLost, response };
    };
    let nth = 1;
    for (let isLost = true; isLost; nth++) {
      server.provider.enqueue(FIRST);
      const first = await lose(nth, { input: QUESTION });
      const calls = first.response.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
      expect(first.response.output).toMatchObject([
        { type: "reasoning", summary: [{ text: REASONING }] },
        { type: "message", content: [{ text: TEXT }] },
        { type: "function_call", arguments: JSON.stringify({ city: CITY }) },
      ]);
      server.provider.enqueue({ text: LAST, chunks: 3 });
      const input = calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: RESULT }));
      const last = await lose(nth, { input, previous_response_id: first.response.id });
      expect(last.response.output).toMatchObject([{ type: "message", content: [{ text: LAST }] }]);
      isLost = first.isLost || last.isLost;
    }
    expect(nth).toBeGreaterThan(15);
  },
  2 * MINUTES,
);

test(
  "MCP: a call whose stream is cut behind any message is made again with its key",
  async () => {
    const connect = async (url: string): Promise<Client> => {
      const requestInit = { headers: { authorization: `Bearer ${server.key}` } };
      // The client would wait for a stream that the server does not resume.
      const reconnectionOptions = { maxRetries: 0, initialReconnectionDelay: 1, maxReconnectionDelay: 1, reconnectionDelayGrowFactor: 1 };
      const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit, reconnectionOptions });
      const client = new Client({ name: "test", version: "1" });
      // The SDK's transport may have an undefined session id, which its own interface does not allow.
      await client.connect(transport as Parameters<Client["connect"]>[0]);
      return client;
    };
    const direct = await connect(server.url);
    let nth = 1;
    for (let isCut = true; isCut; nth++) {
      const body = { model: MODEL, tools: [{ type: "http" as const, name: "find" }] };
      const { id: session } = await server.longhand.post("/v1/sessions", { body });
      server.provider.enqueue({ text: TEXT, tool_calls: [FIND, FIND] }, { text: LAST, chunks: 4 });
      const call = { name: "send_message", arguments: { session_id: session, text: QUESTION, idempotency_key: `key-${nth}` } };
      const cut = await connect(server.proxy.url);
      cutFirst(nth);
      const asked = cut.callTool(call, undefined, { onprogress: () => undefined }).catch(() => null);
      await Promise.race([asked, server.proxy.cut()]);
      isCut = server.proxy.cuts > 0;
      const { structuredContent } = await direct.callTool(call);
      expect(structuredContent, `cut behind event ${nth}`).toMatchObject({ status: "completed", replayed: true });
      expect(structuredContent).toMatchObject({ reply: expect.stringContaining(LAST) });
      const found = expect.stringMatching(/^tool: /);
      const texts = [`user: ${QUESTION}`, `assistant: ${TEXT}`, found, found, `assistant: ${LAST}`];
      expect(await server.listTexts(session)).toEqual(texts);
      await cut.close();
    }
    await direct.close();
    expect(nth).toBeGreaterThan(2);
  },
  2 * MINUTES,
);

test.each([
  ["chat completions", openChatCompletions, 6],
  ["Anthropic messages", openAnthropic, 12],
  ["the AI SDK", openAiSdk, 12],
])(
  "%s: a stream that is cut behind any event is had whole",
  async (_, open, least) => {
    let nth = 1;
    while (await cutBoth(nth, open)) nth++;
    expect(nth).toBeGreaterThan(least);
  },
  4 * MINUTES,
);
