/** OpenAI's own package, in three majors and unmodified, over responses of a running backend with a scripted model. */
import OpenAI from "openai";
import OpenAI5 from "openai-v5";
import OpenAI6 from "openai-v6";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTenant } from "../../scripts/support/connection";
import { ChatServer } from "./chat-server";
import { runPageProgram } from "./page-program";

const MINUTES = 60_000;
const MODEL = "scripted";
const SMALL = "scripted-small";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const WEATHER = {
  type: "function" as const,
  name: "weather",
  description: "The weather in a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
  strict: true,
};
const asks = (id: string, city: string) => ({ id, name: "weather", arguments: JSON.stringify({ city }) });

let server: ChatServer;

beforeAll(async () => {
  server = await ChatServer.start();
}, 2 * MINUTES);
afterAll(() => server?.close());

// The types of three majors are not one type. What these tests call is the same in all of them.
const PACKAGES = [
  ["5", OpenAI5 as unknown as typeof OpenAI],
  ["6", OpenAI6 as unknown as typeof OpenAI],
  ["7", OpenAI],
] as const;

const connect = (through = server.url, Package: typeof OpenAI = OpenAI) =>
  new Package({ apiKey: server.key, baseURL: `${through}/v1`, maxRetries: 0 });

type Event = OpenAI.Responses.ResponseStreamEvent;
interface Asked {
  readonly model: string;
  readonly input: string;
  readonly previous_response_id: string | null;
}
type Created = OpenAI.Responses.Response;

/** The events until the stream ends or breaks off. */
async function hear(stream: AsyncIterable<Event>): Promise<Event[]> {
  const heard: Event[] = [];
  try {
    for await (const event of stream) heard.push(event);
  } catch (error) {
    if (!(error instanceof Error) || /^\d{3} /.test(error.message)) throw error;
  }
  return heard;
}

const readText = ({ output }: Created): string =>
  output.flatMap((item) => (item.type === "message" ? item.content.map((part) => ("text" in part ? part.text : "")) : [])).join("");
const lastRequest = () => server.provider.log.at(-1)?.body;

describe.each(PACKAGES)("version %s", (_, Package) => {
  test("creates, streams, chains, calls tools, retrieves and deletes", async () => {
    const openai = connect(server.url, Package);
    const asked = { model: MODEL, tools: [WEATHER], metadata: { topic: "天气" } };
    server.provider.enqueue(
      { text: "你好。🐕" },
      { reasoning: "Hm.", tool_calls: [asks("1", "巴黎"), asks("2", "Oslo")] },
      { text: "Sun in both." },
    );

    const first = await openai.responses.create({ ...asked, input: "我的狗叫雷克斯。🐕", instructions: "Be brief." });
    const second = await openai.responses.stream({ ...asked, input: "Weather?", previous_response_id: first.id }).finalResponse();
    const input = second.output.flatMap((item) =>
      item.type === "function_call"
        ? [{ type: "function_call_output" as const, call_id: item.call_id, output: `${item.arguments}: sun` }]
        : [],
    );
    const third = await openai.responses.stream({ ...asked, input, previous_response_id: second.id }).finalResponse();

    expect(first).toMatchObject({
      status: "completed",
      output_text: "你好。🐕",
      metadata: { topic: "天气" },
      usage: { total_tokens: expect.any(Number) },
    });
    expect(second.output).toMatchObject([
      { type: "reasoning", summary: [{ text: "Hm." }] },
      { type: "function_call", name: "weather", arguments: '{"city":"巴黎"}' },
      { type: "function_call", name: "weather", arguments: '{"city":"Oslo"}' },
    ]);
    expect(readText(third)).toBe("Sun in both.");
    expect(lastRequest()?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "tool", "tool"]);
    for (const { id, status, usage, output } of [first, second, third])
      expect(await openai.responses.retrieve(id)).toMatchObject({ id, status, usage, output: output.map(({ type }) => ({ type })) });
    const given = await openai.responses.inputItems.list(third.id, { order: "asc" });
    expect(given.data).toMatchObject([{ type: "function_call_output", output: '{"city":"巴黎"}: sun' }, { type: "function_call_output" }]);

    await openai.responses.delete(first.id);
    await expect(openai.responses.retrieve(first.id)).rejects.toBeInstanceOf(Package.NotFoundError);
  });

  test("runs in the background, hears it, and cancels it", async () => {
    const openai = connect(server.url, Package);
    const until = Promise.withResolvers<void>();
    server.provider.enqueue({ text: "Done." }, holdOn("So far", until.promise));

    const begun = await openai.responses.create({ model: MODEL, input: "Slowly.", background: true });
    expect(begun).toMatchObject({ background: true, status: expect.stringMatching(/^(?:queued|in_progress|completed)$/) });
    const events = await hear(await openai.responses.retrieve(begun.id, { stream: true }));
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { id: begun.id } });

    const endless = await openai.responses.create({ model: MODEL, input: "For ever.", background: true });
    for await (const event of await openai.responses.retrieve(endless.id, { stream: true }))
      if (event.type === "response.output_text.delta") break;
    const cancelled = await openai.responses.cancel(endless.id);
    until.resolve();
    expect(cancelled).toMatchObject({ id: endless.id, status: "cancelled" });
    expect(readText(cancelled)).toBe("So far");
    await expect(openai.responses.cancel(begun.id)).resolves.toMatchObject({ status: "completed" });
  });
});

async function* holdOn(piece: string, until: Promise<void>): AsyncGenerator<string> {
  yield piece;
  await until;
  yield " and more";
}

describe("a conversation", () => {
  test("is compacted in the middle of a chain, and goes on", async () => {
    const openai = connect();
    server.provider.respondWith(({ messages }) => ({ text: `${messages.length} messages. ${"Well, well. ".repeat(60)}` }));
    let previous: Created | null = null;
    for (let nth = 1; nth <= 12; nth++) {
      const before: string | null = previous?.id ?? null;
      const asked: Asked = { model: SMALL, input: `Question ${nth}: ${"why? ".repeat(40)}`, previous_response_id: before };
      previous = nth % 2 === 0 ? await openai.responses.create(asked) : await openai.responses.stream(asked).finalResponse();
      expect(previous.status).toBe("completed");
    }

    const session = `ses_${previous?.id.slice("resp_".length, "resp_".length + 26)}`;
    const described = await server.longhand.get("/v1/sessions/{session_id}", { path: { session_id: session } });
    expect(described).toMatchObject({ message_count: 24, compacted_summary: expect.any(String) });
    expect(await server.listTexts(session)).toHaveLength(24);
  }, 60_000);

  test("is compacted by hand, and goes on in a new chain", async () => {
    const openai = connect();
    server.provider.respondWith(({ messages }) => ({ text: `echo ${messages.length}` }));
    server.provider.summarizeWith(() => ({ text: "The dog is called Rex." }));
    const first = await openai.responses.create({ model: MODEL, input: "My dog is Rex." });
    const second = await openai.responses.create({ model: MODEL, input: "He is old.", previous_response_id: first.id });
    const compacted = await openai.responses.compact({ model: MODEL, previous_response_id: second.id });
    server.provider.summarizeWith(null);

    const input = [...compacted.output, { role: "user" as const, content: "Its name?" }] as OpenAI.Responses.ResponseInput;
    const next = await openai.responses.create({ model: MODEL, input });

    expect(next.status).toBe("completed");
    expect(JSON.stringify(lastRequest()?.messages)).toContain("Rex");
  });

  test("begun natively goes on here, with images, and two at once are answered one after the other", async () => {
    const openai = connect();
    const session = await server.openSession();
    const conversation = session.replace("ses_", "conv_");
    server.provider.respondWith(({ messages }) => ({ text: `echo ${messages.length}` }));
    await server.longhand.send(session, "One");
    const ask = (input: string | OpenAI.Responses.ResponseInput) => openai.responses.create({ model: MODEL, conversation, input });

    const answers = await Promise.all([
      ask("Two"),
      ask([{ role: "user", content: [{ type: "input_image", detail: "auto", image_url: `data:image/png;base64,${PNG}` }] }]),
    ]);

    expect(answers.map(readText).toSorted()).toEqual(["echo 3", "echo 5"]);
    expect((await server.listTexts(session)).filter((line) => line.startsWith("assistant:"))).toEqual([
      "assistant: echo 1",
      "assistant: echo 3",
      "assistant: echo 5",
    ]);
  });

  test("that is not kept leaves no session", async () => {
    const openai = connect();
    server.provider.enqueue({ text: "A." }, { text: "B." });
    const input = [
      { role: "user" as const, content: "Weather?" },
      { type: "function_call" as const, call_id: "c1", name: "weather", arguments: "{}" },
      { type: "function_call_output" as const, call_id: "c1", output: "sun" },
    ];
    const asked = { model: MODEL, tools: [WEATHER], store: false, input };
    const answers = [await openai.responses.create(asked), await openai.responses.stream(asked).finalResponse()];
    expect(answers.map(readText)).toEqual(["A.", "B."]);
    for (const { id } of answers) {
      const session = `${server.url}/v1/sessions/ses_${id.slice(5, 31)}`;
      const read = async () => (await fetch(session, { headers: { authorization: `Bearer ${server.key}` } })).status;
      await expect.poll(read, { timeout: 10_000 }).toBe(404);
    }
  });
});

test("a request without its key is sent again by the SDK only while nothing was recorded", async () => {
  const openai = new OpenAI({ apiKey: server.key, baseURL: `${server.url}/v1`, maxRetries: 2 });
  server.provider.enqueue({ status: 401, error: { message: "no", type: "invalid_request_error", code: "invalid_api_key" } });
  const failed: unknown = await openai.responses.create({ model: MODEL, input: "x" }).catch((error: unknown) => error);
  if (!(failed instanceof OpenAI.InternalServerError)) throw failed;
  expect(failed).toMatchObject({ code: "server_error", message: expect.stringContaining("API key") });
  expect(failed.headers?.get("x-should-retry")).toBe("false");
  const id = failed.headers?.get("x-response-id") ?? "";
  expect(await openai.responses.retrieve(id)).toMatchObject({
    status: "failed",
    error: { code: "server_error", message: expect.any(String) },
  });

  await expect(openai.responses.create({ model: "missing", input: "x" })).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  const stranger = new OpenAI({ apiKey: "lh_wrong", baseURL: `${server.url}/v1` });
  await expect(stranger.responses.create({ model: MODEL, input: "x" })).rejects.toMatchObject({ status: 401, code: "invalid_api_key" });
  const other = await createTenant(server.url, server.adminKey);
  const foreign = new OpenAI({ apiKey: other.key, baseURL: `${server.url}/v1` });
  await expect(foreign.responses.retrieve(id)).rejects.toMatchObject({ status: 404, code: "response_not_found" });
  await expect(foreign.responses.create({ model: "embedded", input: "x", previous_response_id: id })).rejects.toMatchObject({
    code: "previous_response_not_found",
  });
});

test("the page's program prints what the page shows", async () => {
  const ran = await runPageProgram("openai-responses", await createTenant(server.url, server.adminKey));
  expect(ran.lines).toBeLessThan(30);
  expect(ran.wrong).toBe("");
  expect(ran.said).toBe(ran.output);
});

describe("branches of a response whose session waits for tools", () => {
  test("are answered at once, each in a copy that is listed as a fork, and the session goes on", async () => {
    const openai = connect();
    const asked = { model: MODEL, tools: [WEATHER] };
    server.provider.enqueue({ text: "Root." }, { tool_calls: [asks("1", "巴黎")] });
    const first = await openai.responses.create({ ...asked, input: "根" });
    const waiting = await openai.responses.create({ ...asked, input: "Weather?", previous_response_id: first.id });
    const names = ["one", "two", "three", "四", "five"];
    server.provider.enqueue(...names.map(() => ({ text: "Here." })));

    const branches = await Promise.all(names.map((input) => openai.responses.create({ ...asked, input, previous_response_id: first.id })));

    expect(branches.map(({ status, previous_response_id: previous }) => [status, previous])).toEqual(
      names.map(() => ["completed", first.id]),
    );
    const read = server.provider.log.slice(-names.length).map(({ body }) => body.messages.map(({ content }) => content));
    expect(read.toSorted()).toEqual(names.map((name) => ["根", "Root.", name]).toSorted());
    const toSession = ({ id }: { readonly id: string }): string => `ses_${id.slice("resp_".length, "resp_".length + 26)}`;
    const source = toSession(first);
    for (const branch of branches) {
      const session = await server.longhand.get("/v1/sessions/{session_id}", { path: { session_id: toSession(branch) } });
      expect(session.forked_from).toEqual({ session_id: source, at: 2 });
    }

    const results = [{ type: "function_call_output" as const, call_id: "1", output: "sun" }];
    server.provider.enqueue({ text: "Sun." }, { text: "Rain." });
    const answered = await openai.responses.create({ ...asked, input: results, previous_response_id: waiting.id });
    const other = [{ type: "function_call_output" as const, call_id: "1", output: "rain" }];
    const again = await openai.responses.create({ ...asked, input: other, previous_response_id: waiting.id });
    expect([answered, again].map(readText)).toEqual(["Sun.", "Rain."]);
    expect(lastRequest()?.messages.at(-1)?.content).toBe("rain");

    await openai.conversations.delete(source.replace("ses_", "conv_"));
    await expect(openai.responses.retrieve(answered.id)).rejects.toMatchObject({ status: 404 });
    for (const copy of [...branches, again]) expect(await openai.responses.retrieve(copy.id)).toMatchObject({ status: "completed" });
    const { data } = await openai.responses.inputItems.list(again.id);
    expect(data.map(({ type }) => type)).toEqual(["function_call_output"]);
  });
});
