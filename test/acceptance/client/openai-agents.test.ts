/** OpenAI's agents with a conversation as their session, and its WebSocket client, both unmodified, against a running backend. */
import {
  Agent,
  hostedMcpTool,
  OpenAIConversationsSession,
  OpenAIResponsesCompactionSession,
  OpenAIResponsesModel,
  Runner,
  tool,
} from "@openai/agents";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ChatServer } from "../../client/chat-server";
import { runPageProgram } from "../../client/page-program";
import { startToolServer, type ToolServer } from "../../support/stand-in/tool-server";

const MINUTES = 60_000;
let server: ChatServer;
let openai: OpenAI;
const runner = new Runner({ tracingDisabled: true });

beforeAll(async () => {
  server = await ChatServer.start();
  await server.longhand.patch("/v1/tenant", { body: { default_model: "scripted" } });
  openai = new OpenAI({ apiKey: server.key, baseURL: `${server.url}/v1` });
}, 2 * MINUTES);
afterAll(() => server?.close());

const weather = tool({
  name: "weather",
  description: "The weather in a city",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `Sun in ${city}.`,
});
const buildAgent = (model = "scripted") =>
  new Agent({ name: "Ada", instructions: "Be brief.", model: new OpenAIResponsesModel(openai, model), tools: [weather] });

async function listTexts(conversation: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const item of openai.conversations.items.list(conversation, { order: "asc" })) {
    if (item.type !== "message") texts.push(item.type);
    else texts.push(`${item.role}: ${item.content.map((part) => ("text" in part ? part.text : part.type)).join("")}`);
  }
  return texts;
}

describe("an agent with a conversation as its session", () => {
  test("remembers, runs its tools, and takes the last item back", async () => {
    const session = new OpenAIConversationsSession({ client: openai });
    const agent = buildAgent();
    server.provider.enqueue(
      { text: "你好，雷克斯。" },
      { tool_calls: [{ id: "c1", name: "weather", arguments: '{"city":"里斯本"}' }] },
      { text: "Sunny." },
    );

    const first = await runner.run(agent, "我的狗叫雷克斯。", { session });
    const second = await runner.run(agent, "Weather in Lisbon?", { session });

    expect([first.finalOutput, second.finalOutput]).toEqual(["你好，雷克斯。", "Sunny."]);
    const read = JSON.stringify(server.provider.log.at(-1)?.body.messages);
    for (const said of ["Be brief.", "我的狗叫雷克斯。", "你好，雷克斯。", "Weather in Lisbon?", "Sun in 里斯本."])
      expect(read).toContain(said);
    expect(await listTexts(await session.getSessionId())).toEqual([
      "user: 我的狗叫雷克斯。",
      "assistant: 你好，雷克斯。",
      "user: Weather in Lisbon?",
      "function_call",
      "function_call_output",
      "assistant: Sunny.",
    ]);
    expect(await session.getItems(1)).toMatchObject([{ role: "assistant" }]);
    await session.clearSession();
    await expect(openai.conversations.items.list(await session.getSessionId())).resolves.toMatchObject({ data: [] });
  });

  test("takes back what was said until nothing is left, and begins again", async () => {
    const session = new OpenAIConversationsSession({ client: openai });
    server.provider.enqueue(
      { text: "Rex." },
      { tool_calls: [{ id: "c1", name: "weather", arguments: '{"city":"里斯本"}' }] },
      { text: "Sunny." },
      { text: "Anew." },
    );
    await runner.run(buildAgent(), "My dog?", { session });
    await runner.run(buildAgent(), "Weather?", { session });

    const popped: string[] = [];
    for (let item = await session.popItem(); item; item = await session.popItem()) popped.push(item.type ?? "");
    expect(popped).toEqual(["message", "function_call_result", "function_call", "message", "message", "message"]);
    expect(await session.getItems()).toEqual([]);
    expect(await session.popItem()).toBeUndefined();

    await session.addItems([
      { role: "user", content: "I am Ada." },
      { role: "user", content: "Wrong." },
    ]);
    expect(await session.getItems(1)).toMatchObject([{ content: [{ text: "Wrong." }] }]);
    await session.popItem();
    const again = await runner.run(buildAgent(), "Who am I?", { session });
    expect(again.finalOutput).toBe("Anew.");
    const read = JSON.stringify(server.provider.log.at(-1)?.body.messages);
    for (const left of ["I am Ada.", "Who am I?"]) expect(read).toContain(left);
    for (const gone of ["Wrong.", "[redacted]", "My dog?", "Rex."]) expect(read).not.toContain(gone);
    expect(await listTexts(await session.getSessionId())).toEqual(["user: I am Ada.", "user: Who am I?", "assistant: Anew."]);

    // The model of our own history reads it as the SDK's.
    server.provider.enqueue({ text: "Still Ada." });
    await openai.responses.create({ model: "scripted", input: "And now?", conversation: await session.getSessionId() });
    const own = JSON.stringify(server.provider.log.at(-1)?.body.messages);
    expect(own).toContain("I am Ada.");
    for (const gone of ["Wrong.", "[redacted]", "My dog?"]) expect(own).not.toContain(gone);
  });

  test("streams", async () => {
    const session = new OpenAIConversationsSession({ client: openai });
    server.provider.enqueue({ text: "Once upon a time." });
    const result = await runner.run(buildAgent(), "A story.", { session, stream: true });
    let told = "";
    for await (const piece of result.toTextStream()) told += piece;
    await result.completed;
    expect(told).toBe("Once upon a time.");
    expect(await listTexts(await session.getSessionId())).toEqual(["user: A story.", "assistant: Once upon a time."]);
  });

  test("compacts a history of its own by our compaction", async () => {
    // The SDK compacts by models of OpenAI's names alone.
    const model = "gpt-6-luna";
    const spec = { provider: "openai-compatible", base_url: server.provider.baseUrl, context_window: 32_000, max_output: 256 } as const;
    await server.longhand.put("/v1/models/{model_id}", { path: { model_id: model }, body: spec });
    const session = new OpenAIResponsesCompactionSession({ client: openai, model, shouldTriggerCompaction: () => false });
    server.provider.enqueue({ text: "One." }, { text: "Two." });
    await runner.run(buildAgent(), "Count.", { session });
    await session.runCompaction({ force: true, compactionMode: "input" });
    expect((await session.getItems()).at(-1)).toMatchObject({ type: "compaction" });
    const result = await runner.run(buildAgent(), "On.", { session });
    expect(result.finalOutput).toBe("Two.");
    expect(JSON.stringify(server.provider.log.at(-1)?.body.messages)).toContain("Count.");
  });
});

describe("an agent whose calls a person approves", () => {
  let desk: ToolServer;
  const url = (): string => `${desk.url}/mcp`;
  beforeAll(async () => {
    desk = await startToolServer();
    await server.longhand.put("/v1/mcp_servers/{server_name}", { path: { server_name: "desk" }, body: { url: url() } });
  });
  afterAll(() => desk?.close());

  type Options = Parameters<typeof hostedMcpTool>[0];
  const buildHosted = (options: Partial<Options> = {}) =>
    new Agent({
      name: "Ada",
      instructions: "Be brief.",
      model: new OpenAIResponsesModel(openai, "scripted"),
      tools: [hostedMcpTool({ serverLabel: "desk", serverUrl: url(), requireApproval: "always", ...options } as Options)],
    });
  const greet = (...names: readonly string[]) => ({
    tool_calls: names.map((name) => ({ id: name, name: "desk__greet_person", arguments: JSON.stringify({ name }) })),
  });

  test.each([{ stream: false }, { stream: true }])(
    "runs what is approved of a hosted server, and tells the model what is refused: %j",
    async ({ stream }) => {
      const agent = buildHosted();
      server.provider.enqueue(greet("Ada", "Rex"), { text: "Greeted." }, { text: "Gern." });
      const run = async (input: Parameters<typeof runner.run>[1]) => {
        if (!stream) return runner.run(agent, input);
        const streamed = await runner.run(agent, input, { stream: true });
        await streamed.completed;
        return streamed;
      };
      const first = await run("Greet both.");
      expect(first.interruptions).toHaveLength(2);
      const [ada, rex] = first.interruptions;
      if (!ada || !rex) throw new Error("nothing is asked");
      first.state.approve(ada);
      first.state.reject(rex, { message: "不" });
      const second = await run(first.state);

      expect(second.finalOutput).toBe("Greeted.");
      const read = JSON.stringify(server.provider.log.at(-1)?.body.messages);
      for (const said of ["Greet both.", "Hello, Ada.", "a person refused it", "不"]) expect(read).toContain(said);
      expect(read).not.toContain("Hello, Rex.");
      const third = await run([...second.history, { role: "user", content: "谢谢。" }]);
      expect(third.finalOutput).toBe("Gern.");
      const readSession = ({ lastResponseId = "" }: { readonly lastResponseId?: string | undefined }): string =>
        lastResponseId.slice(5, 31);
      expect(readSession(third)).toBe(readSession(first));
      const all = JSON.stringify(server.provider.log.at(-1)?.body.messages);
      for (const said of ["Greet both.", "Hello, Ada.", "a person refused it", "谢谢。"]) expect(all).toContain(said);
    },
  );

  test("has its calls with their results in a conversation of its own, though it sends none of them", async () => {
    const session = new OpenAIConversationsSession({ client: openai });
    const agent = buildHosted();
    server.provider.enqueue(greet("Ada"), { text: "Greeted." }, { text: "Gern." });
    const first = await runner.run(agent, "Greet.", { session });
    const [ada] = first.interruptions;
    if (!ada) throw new Error("nothing is asked");
    first.state.approve(ada);
    const second = await runner.run(agent, first.state, { session });
    expect(second.finalOutput).toBe("Greeted.");
    const third = await runner.run(agent, "谢谢。", { session });
    expect(third.finalOutput).toBe("Gern.");
    const read = JSON.stringify(server.provider.log.at(-1)?.body.messages);
    for (const said of ["Greet.", "Hello, Ada.", "Greeted.", "谢谢。"]) expect(read).toContain(said);
    expect(await listTexts(await session.getSessionId())).toEqual([
      "user: Greet.",
      "function_call",
      "function_call_output",
      "assistant: Greeted.",
      "user: 谢谢。",
      "assistant: Gern.",
    ]);
  });

  test("asks only where the request or the registration says so", async () => {
    server.provider.enqueue(greet("Ada"), { text: "Once." }, greet("Ada"), { text: "Twice." });
    const never = await runner.run(buildHosted({ requireApproval: "never" }), "Greet.");
    const other = await runner.run(buildHosted({ requireApproval: { always: { toolNames: ["headers"] } } }), "Greet.");
    expect([never, other].map(({ finalOutput }) => finalOutput)).toEqual(["Once.", "Twice."]);
  });

  test.each<[string, Partial<Options>]>([
    ["tools[0].server_label", { serverLabel: "unknown" }],
    ["tools[0].server_url", { serverUrl: "https://mcp.example.com/" }],
    ["tools[0].headers", { headers: { authorization: "Bearer x" } }],
    ["tools[0].authorization", { authorization: "x" }],
    ["tools[0].allowed_tools", { allowedTools: { toolNames: ["missing"] } }],
  ])("is refused by the name of what it asks otherwise: %s", async (param, options) => {
    const refused = await runner.run(buildHosted(options), "Greet.").catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 400, param: expect.stringContaining(param) });
  });

  test("approves its own tools by itself, also in a conversation", async () => {
    const pay = tool({
      name: "pay",
      description: "Pays",
      parameters: z.object({ to: z.string() }),
      needsApproval: true,
      execute: async ({ to }) => `Paid ${to}.`,
    });
    const agent = new Agent({ name: "Ada", model: new OpenAIResponsesModel(openai, "scripted"), tools: [pay] });
    for (const session of [undefined, new OpenAIConversationsSession({ client: openai })]) {
      server.provider.enqueue(
        { tool_calls: ["a", "b"].map((id) => ({ id, name: "pay", arguments: JSON.stringify({ to: id }) })) },
        { text: "Paid one." },
      );
      const first = await runner.run(agent, "Pay both.", { ...(session && { session }) });
      const [one, two] = first.interruptions;
      if (!one || !two) throw new Error("nothing is asked");
      first.state.approve(one);
      first.state.reject(two);
      const second = await runner.run(agent, first.state, { ...(session && { session }) });
      expect(second.finalOutput).toBe("Paid one.");
      const read = JSON.stringify(server.provider.log.at(-1)?.body.messages);
      for (const said of ["Pay both.", "Paid a.", "not approved"]) expect(read).toContain(said);
      if (!session) continue;
      expect(await listTexts(await session.getSessionId())).toEqual([
        "user: Pay both.",
        ...["function_call", "function_call", "function_call_output", "function_call_output"],
        "assistant: Paid one.",
      ]);
    }
  });
});

describe("the SDK's socket", () => {
  type Event = OpenAI.Responses.ResponsesServerEvent;
  const ENDS = new Set(["response.completed", "response.failed", "response.incomplete", "error"]);

  async function ask(socket: ResponsesWS, body: Omit<OpenAI.Responses.ResponsesClientEvent.ResponseCreate, "type">): Promise<Event[]> {
    const events: Event[] = [];
    const done = new Promise<void>((resolve) => {
      const note = (event: Event): void => {
        events.push(event);
        if (!ENDS.has(event.type)) return;
        socket.off("event", note);
        resolve();
      };
      socket.on("event", note);
    });
    socket.send({ type: "response.create", ...body });
    await done;
    return events;
  }
  const readResponse = (events: readonly Event[]): OpenAI.Responses.Response => {
    const last = events.at(-1);
    if (last?.type !== "response.completed") throw new Error(JSON.stringify(last));
    return last.response;
  };

  test("goes on with stored and with unstored responses, and is refused by name", async () => {
    const socket = new ResponsesWS(openai);
    let errors = 0;
    socket.on("error", () => {
      errors++;
    });
    server.provider.enqueue(
      { text: "一。" },
      { tool_calls: [{ id: "c1", name: "weather", arguments: "{}" }] },
      { text: "三。" },
      { text: "四。" },
    );

    const one = await ask(socket, { model: "scripted", input: "数。" });
    expect(one.map(({ type }) => type).slice(0, 2)).toEqual(["response.created", "response.in_progress"]);
    const two = readResponse(await ask(socket, { model: "scripted", input: "On.", previous_response_id: readResponse(one).id }));
    expect(two.output).toMatchObject([{ type: "function_call", call_id: "c1" }]);
    const three = await ask(socket, {
      model: "scripted",
      previous_response_id: two.id,
      input: [{ type: "function_call_output", call_id: "c1", output: "Sun." }],
    });
    expect(JSON.stringify(readResponse(three).output)).toContain("三。");
    expect(await openai.responses.retrieve(readResponse(three).id)).toMatchObject({ status: "completed", previous_response_id: two.id });

    const four = readResponse(await ask(socket, { model: "scripted", input: "Once.", store: false }));
    expect(four).toMatchObject({ store: false });
    await expect(openai.responses.retrieve(four.id)).rejects.toMatchObject({ status: 404 });
    const stored = readResponse(one).id;
    const refused = await ask(socket, { model: "scripted", input: "More.", store: false, previous_response_id: stored });
    expect(refused).toMatchObject([
      { type: "error", status: 400, error: { code: "previous_response_not_found", param: "previous_response_id" } },
    ]);
    expect(errors).toBe(1);
    server.provider.respondWith(() => ({ text: "五。" }));
    const more = await ask(socket, { model: "scripted", input: "More.", store: false, previous_response_id: four.id });
    expect(JSON.stringify(readResponse(more).output)).toContain("五。");
    socket.close();
  });

  test("needs a key", async () => {
    const socket = new ResponsesWS(new OpenAI({ apiKey: "lh_no_key", baseURL: `${server.url}/v1` }));
    await new Promise<void>((resolve) => socket.on("error", () => resolve()));
    socket.close();
  });
});

test.each(["openai-agents", "openai-websocket"])("the program of the page %s prints what the page says", async (name) => {
  server.provider.respondWith(() => ({ text: "Sunny." }));
  const ran = await runPageProgram(name, { url: server.url, key: server.key });
  expect(ran.lines).toBeLessThan(30);
  expect(ran.wrong).toBe("");
  expect(ran.said).toBe(ran.output);
});
