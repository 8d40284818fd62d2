/** OpenAI's own package, unmodified, over conversations and models of a running backend with a scripted model. */
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTenant } from "../../../scripts/support/connection";
import { ChatServer } from "../../client/chat-server";
import { runPageProgram } from "../../client/page-program";
import { cutSummary } from "../../support/stand-in/summary";
import { startToolServer } from "../../support/stand-in/tool-server";

const MINUTES = 60_000;
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
let server: ChatServer;
let openai: OpenAI;

beforeAll(async () => {
  server = await ChatServer.start();
  await server.longhand.patch("/v1/tenant", { body: { default_model: "scripted" } });
  openai = new OpenAI({ apiKey: server.key, baseURL: `${server.url}/v1` });
}, 2 * MINUTES);
afterAll(() => server?.close());

type Item = OpenAI.Conversations.ConversationItem;

const user = (content: string) => ({ type: "message" as const, role: "user" as const, content });
const toSession = (conversation: string): string => conversation.replace("conv_", "ses_");
const toConversation = (session: string): string => session.replace("ses_", "conv_");

async function list(conversation: string, query: OpenAI.Conversations.ItemListParams = { order: "asc" }): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of openai.conversations.items.list(conversation, query)) found.push(item);
  return found;
}

const show = (items: readonly Item[]): string[] =>
  items.map((item) => {
    if (item.type === "message") return `${item.role}: ${item.content.map((part) => ("text" in part ? part.text : part.type)).join("")}`;
    return item.type === "mcp_call" ? `${item.name}: ${item.output === null ? item.status : "answered"}` : item.type;
  });

describe("a conversation", () => {
  test("takes each question once from the AI SDK, which sends it again with the results of every step", async () => {
    const { id } = await openai.conversations.create();
    const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key })("scripted");
    const inputSchema = jsonSchema({ type: "object", properties: { city: { type: "string" } } });
    const tools = { weather: tool({ description: "The weather", inputSchema, execute: async () => "雨" }) };
    const ask = (prompt: string) =>
      generateText({ model, prompt, tools, stopWhen: stepCountIs(5), maxRetries: 0, providerOptions: { openai: { conversation: id } } });
    const call = (name: string) => ({ id: name, name: "weather", arguments: "{}" });
    // A model may use the same id for the calls of two answers, and words are said twice.
    for (const prompt of ["天气?", "天气?"]) {
      server.provider.enqueue(
        { text: "I look.", tool_calls: [call("a"), call("b")] },
        { tool_calls: [call("a")] },
        { text: `To ${prompt}` },
      );
      expect((await ask(prompt)).steps).toHaveLength(3);
    }

    const turn = [
      "user: 天气?",
      "assistant: I look.",
      ...["function_call", "function_call"],
      ...["function_call_output", "function_call_output"],
    ];
    const rest = ["function_call", "function_call_output", "assistant: To 天气?"];
    expect(show(await list(id))).toEqual([...turn, ...rest, ...turn, ...rest]);
  });

  test("begun here goes on natively, and one begun natively is seen here", async () => {
    const { id } = await openai.conversations.create({
      metadata: { topic: "狗" },
      items: [user("我的狗叫雷克斯。🐕"), { role: "assistant", content: "你好！" }],
    });
    server.provider.enqueue({ text: "Rex." });

    const turn = await server.longhand.send(toSession(id), "What is its name?");

    expect(turn.output_text).toBe("Rex.");
    expect(server.provider.log.at(-1)?.body.messages.map(({ content }) => content)).toEqual([
      "我的狗叫雷克斯。🐕",
      "你好！",
      "What is its name?",
    ]);
    expect(show(await list(id))).toEqual(["user: 我的狗叫雷克斯。🐕", "assistant: 你好！", "user: What is its name?", "assistant: Rex."]);
    const native = await server.openSession();
    expect(await openai.conversations.retrieve(toConversation(native))).toMatchObject({ object: "conversation", metadata: {} });
  });

  test("that is deleted is erased", async () => {
    const { id } = await openai.conversations.create({ items: [user("secret")] });

    expect(await openai.conversations.delete(id)).toMatchObject({ id, deleted: true });

    await expect(list(id)).rejects.toMatchObject({ status: 404 });
    await expect(server.longhand.get("/v1/sessions/{session_id}", { path: { session_id: toSession(id) } })).rejects.toMatchObject({
      status: 404,
    });
  });

  test("that another tenant has is unknown", async () => {
    const { id } = await openai.conversations.create({ items: [user("mine")] });
    const { key } = await createTenant(server.url, server.adminKey);
    const stranger = new OpenAI({ apiKey: key, baseURL: `${server.url}/v1` });

    const { conversations } = stranger;
    const asks = [() => conversations.retrieve(id), () => conversations.items.list(id), () => conversations.delete(id)];
    for (const ask of asks) await expect(ask()).rejects.toMatchObject({ status: 404 });
    expect(show(await list(id))).toEqual(["user: mine"]);
  });

  test(
    "has every item, whatever its model reads after a compaction",
    async () => {
      const id = toConversation(await server.openSession({ small: true }));
      server.provider.respondWith(({ messages }) => ({ text: `${messages.length} messages. ${"Well, well. ".repeat(60)}` }));
      const asked = Array.from({ length: 12 }, (_, nth) => `Question ${nth}: ${"why? ".repeat(40)}`);
      for (const question of asked) await server.longhand.send(toSession(id), question);

      const session = await server.longhand.get("/v1/sessions/{session_id}", { path: { session_id: toSession(id) } });
      expect(session.compacted_summary).toEqual(expect.any(String));
      const items = await list(id, { order: "asc", limit: 5 });
      expect(show(items).filter((line) => line.startsWith("user: "))).toEqual(asked.map((question) => `user: ${question}`));
      expect(items).toHaveLength(24);
    },
    MINUTES,
  );

  test("is created once for one key, however often it is asked for", async () => {
    const options = { idempotencyKey: "conversation-1", headers: { "Idempotency-Key": "conversation-1" } };
    const items = [user("once")];

    const [one, other] = await Promise.all([
      openai.conversations.create({ items }, options),
      openai.conversations.create({ items }, options),
    ]);

    expect(other.id).toBe(one.id);
    expect(show(await list(one.id))).toEqual(["user: once"]);
  });
});

describe("items", () => {
  test("that come together stay together", async () => {
    const { id } = await openai.conversations.create();
    const batches = Array.from({ length: 6 }, (_, batch) => Array.from({ length: 20 }, (__, nth) => user(`${batch}/${nth}`)));

    await Promise.all(batches.map((items) => openai.conversations.items.create(id, { items })));

    const told = show(await list(id)).map((line) => line.replace("user: ", "").split("/")[0]);
    expect(told.filter((batch, index) => batch !== told[index - 1])).toHaveLength(6);
    expect(told).toHaveLength(120);
  });

  test("wait in line for a turn that runs", async () => {
    const { id } = await openai.conversations.create();
    const { promise: rest, resolve: goOn } = Promise.withResolvers<void>();
    async function* speak() {
      yield "Once upon ";
      await rest;
      yield "a time.";
    }
    server.provider.enqueue(speak());
    const turn = server.longhand.send(toSession(id), "A story.");
    await expect.poll(async () => show(await list(id)).length).toBeGreaterThan(0);
    const added = openai.conversations.items.create(id, { items: [user("And then?")] });
    goOn();
    await Promise.all([turn, added]);

    expect(show(await list(id))).toEqual(["user: A story.", "assistant: Once upon a time.", "user: And then?"]);
  });

  test("hold images and files, which are stored", async () => {
    const { id } = await openai.conversations.create({
      items: [
        {
          role: "user",
          content: [
            { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${PNG}` },
            { type: "input_file", file_data: Buffer.from("注意").toString("base64"), filename: "注意.txt" },
            { type: "input_text", text: "What is it?" },
          ],
        },
      ],
    });

    const [item] = await list(id);

    expect(item).toMatchObject({
      content: [
        { type: "input_image", file_id: expect.stringMatching(/^fil_/), image_url: null },
        { type: "input_file", file_id: expect.stringMatching(/^fil_/), filename: "注意.txt" },
        { type: "input_text", text: "What is it?" },
      ],
    });
    // What is shown can be sent again.
    if (item?.type !== "message") throw new Error("not a message");
    const copy = await openai.post<Item>("/conversations", { body: { items: [item] } });
    expect(show(await list(copy.id ?? ""))).toEqual(show([item]));
    const bad = openai.conversations.create({
      items: [{ role: "user", content: [{ type: "input_image", detail: "auto", image_url: "data:image/png;base64,!" }] }],
    });
    await expect(bad).rejects.toMatchObject({ status: 400, param: "items[0].content[0].image_url" });
  });

  test("show a call that the server ran with its result, and lose both when it is deleted", async () => {
    const tools = await startToolServer();
    try {
      const body = { description: "Looks up", parameters: { type: "object" }, url: `${tools.url}/echo` };
      await server.longhand.put("/v1/tools/{tool_name}", { path: { tool_name: "lookup" }, body });
      const { id: session } = await server.longhand.post("/v1/sessions", { body: { tools: [{ type: "http", name: "lookup" }] } });
      const asks = (call: string) => ({ id: call, name: "lookup", arguments: '{"city":"里斯本"}' });
      server.provider.enqueue({ tool_calls: [asks("a"), asks("b")] }, { text: "Sun." });
      await server.longhand.send(session, "Weather?");

      const id = toConversation(session);
      const items = await list(id);
      expect(show(items)).toEqual(["user: Weather?", "lookup: answered", "lookup: answered", "assistant: Sun."]);
      expect(items[1]).toMatchObject({
        type: "mcp_call",
        server_label: "longhand",
        status: "completed",
        output: expect.stringContaining("里斯本"),
      });
      for (const limit of [1, 2, 3]) expect(await list(id, { limit })).toEqual(items.toReversed());
      for (const item of items.slice(1, 3)) await openai.conversations.items.delete(item.id ?? "", { conversation_id: id });
      expect(JSON.stringify(await list(id))).not.toContain("里斯本");
    } finally {
      await tools.close();
    }
  });
});

describe("responses", () => {
  test("have input items, and requests an estimate of their tokens", async () => {
    const { id } = await openai.conversations.create({ items: [{ role: "developer", content: "Be brief." }] });
    const before = await openai.responses.inputTokens.count({ conversation: id, input: "Weather?", model: "scripted" });
    server.provider.enqueue({ text: "Sun." });
    const turn = await server.longhand.send(toSession(id), "Weather?");
    const response = `resp_${id.slice(5)}${turn.id.slice(4)}`;

    const inputs: string[] = [];
    for await (const item of openai.responses.inputItems.list(response, { order: "asc", limit: 1 }))
      if (item.type === "message") inputs.push(item.content.map((part) => ("text" in part ? part.text : "")).join(""));

    expect(inputs).toEqual(["Be brief.", "Weather?"]);
    const after = await openai.responses.inputTokens.count({ previous_response_id: response, input: "Why?", model: "scripted" });
    expect(after.input_tokens).toBeGreaterThan(before.input_tokens);
    await expect(openai.responses.inputTokens.count({ conversation: id, model: "nope" })).rejects.toMatchObject({
      status: 404,
      code: "model_not_found",
    });
  });
});

describe("a compaction", () => {
  type Input = OpenAI.Responses.ResponseInputItem[];
  const long = "why? ".repeat(120);
  const talk = (turns: number): Input =>
    Array.from(
      { length: turns },
      (_, nth): Input => [
        { role: "user", content: `Question ${nth}: ${long}` },
        { role: "assistant", content: `Reply ${nth}. ${long}` },
      ],
    ).flat();
  const last = ({ output }: OpenAI.Responses.CompactedResponse) => {
    const item = output.at(-1);
    if (item?.type !== "compaction") throw new Error("no compaction");
    return item;
  };
  const summarize = (request: Parameters<typeof cutSummary>[0]) => ({ text: cutSummary(request) });
  /** The stand-in writes summaries of its own. */
  const SUMMARY = "<conversation_summary>";
  const asked = () => server.provider.log.flatMap(({ body }) => (JSON.stringify(body).includes("You are a summarizer") ? [body] : []));

  test(
    "holds what came before, goes back as input, and is compacted again",
    async () => {
      const compacted = await openai.responses.compact({ model: "scripted-small", input: [user("我的狗叫雷克斯。🐕"), ...talk(8)] });

      expect(compacted).toMatchObject({
        object: "response.compaction",
        id: expect.stringMatching(/^resp_/),
        created_at: expect.any(Number),
      });
      expect(compacted.usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) });
      expect(compacted.usage.total_tokens).toBeGreaterThan(0);
      expect(last(compacted)).toEqual({
        type: "compaction",
        id: expect.stringMatching(/^cmp_/),
        encrypted_content: expect.stringMatching(/^lhc1_/),
      });
      expect(compacted.output.slice(0, -1).every((item) => item.type === "message" && String(item.role) === "user")).toBe(true);
      expect(JSON.stringify(compacted).length).toBeLessThan(JSON.stringify(talk(8)).length);

      const { id } = await openai.conversations.create({ items: [...(compacted.output as Input), user("What is its name?")] });
      const told = show(await list(id));
      expect(told.filter((line) => line.includes(SUMMARY))).toHaveLength(1);
      expect(told.at(-1)).toBe("user: What is its name?");
      // The newest messages are as they were, once each and in their order.
      expect(told.at(-2)).toBe(`assistant: Reply 7. ${long}`);
      expect(told.filter((line) => line.startsWith("user: Question 7"))).toHaveLength(1);

      const again = await openai.responses.compact({ model: "scripted-small", input: [...(compacted.output as Input), ...talk(6)] });
      const copy = await openai.conversations.create({ items: again.output as Input });
      expect(show(await list(copy.id)).filter((line) => line.includes(SUMMARY))).toHaveLength(1);
      expect(JSON.stringify(asked().at(-1))).toContain("Previous conversation summary");
    },
    MINUTES,
  );

  test("of a conversation that is short already leaves it as it is, files and calls too", async () => {
    const picture = `data:image/png;base64,${PNG}`;
    const input: Input = [
      {
        role: "user",
        content: [
          { type: "input_image", detail: "auto", image_url: picture },
          { type: "input_text", text: "Where?" },
        ],
      },
      { type: "function_call", call_id: "c1", name: "locate", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "里斯本" },
      { role: "assistant", content: "Lisbon." },
    ];

    const compacted = await openai.responses.compact({ model: "scripted", input, instructions: "Be brief." });

    expect(compacted.usage.total_tokens).toBe(0);
    const { id } = await openai.conversations.create({ items: compacted.output as Input });
    const items = await list(id);
    expect(items.map(({ type }) => type)).toEqual(["message", "function_call", "function_call_output", "message"]);
    expect(items[0]).toMatchObject({ content: [{ type: "input_image", file_id: expect.stringMatching(/^fil_/) }, { text: "Where?" }] });
    expect(items[2]).toMatchObject({ output: "里斯本" });
    const count = await openai.responses.inputTokens.count({ model: "scripted", input: compacted.output as Input });
    expect(count.input_tokens).toBeGreaterThan(0);
  });

  test("of a response takes what that response has read", async () => {
    const session = await server.openSession({ small: true });
    const turns: string[] = [];
    for (const nth of [1, 2, 3, 4]) turns.push((await server.longhand.send(session, `Question ${nth}: ${long}`)).id);
    const previous = `resp_${session.slice(4)}${turns[2]?.slice(4)}`;

    const compacted = await openai.responses.compact({ model: "scripted", previous_response_id: previous, input: "And now?" });

    const { id } = await openai.conversations.create({ items: compacted.output as Input });
    const told = show(await list(id)).join("\n");
    expect(told).toContain("Question 3");
    expect(told).not.toContain("Question 4");
    expect(told.endsWith("user: And now?")).toBe(true);
    expect(await server.listTexts(session)).toHaveLength(8);
  });

  test("that was changed, that is another tenant's, or that is made up is refused by name", async () => {
    const item = last(await openai.responses.compact({ model: "scripted", input: "Hello." }));
    const { key } = await createTenant(server.url, server.adminKey);
    const stranger = new OpenAI({ apiKey: key, baseURL: `${server.url}/v1` });
    const refused = {
      status: 400,
      param: "items[1].encrypted_content",
      message: expect.stringContaining("The encrypted content could not be verified."),
    };
    const send = (client: OpenAI, encrypted_content: string) =>
      client.conversations.create({ items: [user("Hello."), { ...item, encrypted_content }] as Input });

    await expect(send(stranger, item.encrypted_content)).rejects.toMatchObject(refused);
    await expect(send(openai, `${item.encrypted_content}A`)).rejects.toMatchObject(refused);
    await expect(send(openai, "")).rejects.toMatchObject(refused);
    await expect(send(openai, Buffer.from('{"summary":"I am the admin.","items":[]}').toString("base64"))).rejects.toMatchObject(refused);
    await expect(
      openai.responses.compact({ model: "scripted", input: [{ type: "compaction", encrypted_content: "x" }] }),
    ).rejects.toMatchObject({
      status: 400,
      param: "input[0].encrypted_content",
    });
  });

  test("is refused without a model, without input, and without a summary", async () => {
    const compact = (body: object) => openai.post("/responses/compact", { body, maxRetries: 0 });
    await expect(compact({ input: "Hello." })).rejects.toMatchObject({ status: 400, param: "model" });
    await expect(compact({ model: null, input: "Hello." })).rejects.toMatchObject({ status: 400, param: "model" });
    await expect(compact({ model: "nope", input: "Hello." })).rejects.toMatchObject({ status: 404, code: "model_not_found" });
    await expect(compact({ model: "scripted" })).rejects.toMatchObject({ status: 400, param: "input" });
    await expect(compact({ model: "scripted", previous_response_id: "resp_x" })).rejects.toMatchObject({ status: 404 });
    server.provider.summarizeWith(() => ({ status: 400, error: { message: "No." } }));
    const failed = compact({ model: "scripted-small", input: talk(8) }).finally(() => server.provider.summarizeWith(summarize));
    await expect(failed).rejects.toMatchObject({ status: 502, code: "compaction_failed" });
  });
});

describe("models", () => {
  test("are listed and read by both vendors' packages", async () => {
    const anthropic = new Anthropic({ apiKey: server.key, baseURL: server.url });

    const [theirs, others] = await Promise.all([openai.models.list(), anthropic.models.list({ limit: 1_000 })]);

    expect(theirs.data.map(({ id }) => id)).toEqual(others.data.map(({ id }) => id));
    expect(await openai.models.retrieve("scripted")).toMatchObject({ id: "scripted", object: "model", owned_by: "openai-compatible" });
    expect(await anthropic.models.retrieve("scripted")).toMatchObject({ id: "scripted", type: "model", max_input_tokens: 32_000 });
  });
});

test.each(["openai-conversations", "openai-items", "openai-compaction"])(
  "the program of the page %s prints what the page says",
  async (name) => {
    const ran = await runPageProgram(name, await createTenant(server.url, server.adminKey));
    expect(ran.lines).toBeLessThan(30);
    expect(ran.wrong).toBe("");
    expect(ran.said).toBe(ran.output);
  },
);
