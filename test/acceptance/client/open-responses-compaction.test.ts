/**
 * The compaction that a request asks for, as an item of its response: held to the Open Responses specification, through OpenAI's own packages
 * and agents, all unmodified, against a running backend.
 */
import { Agent, MemorySession, OpenAIResponsesModel, Runner } from "@openai/agents";
import OpenAI from "openai";
import OpenAI5 from "openai-v5";
import OpenAI6 from "openai-v6";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ChatServer } from "../../client/chat-server";
import { listTypes, ResponsesCaller, readEvents, readStreamed, readText } from "../../client/responses-caller";
import { ResponsesSocket } from "../../client/responses-socket";
import { itemList, type ResponseResource } from "../../support/open-responses/resource-schemas";

const MINUTES = 60_000;
const MODEL = "scripted";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const ABOVE = { context_management: [{ type: "compaction" as const, compact_threshold: 1_000 }] };
let server: ChatServer;
let responses: ResponsesCaller;
const sockets: ResponsesSocket[] = [];

beforeAll(async () => {
  server = await ChatServer.start();
  responses = new ResponsesCaller(server.url, server.key);
}, 2 * MINUTES);
afterEach(async () => {
  for (const socket of sockets.splice(0)) await socket.close();
});
afterAll(() => server?.close());

async function connect(): Promise<ResponsesSocket> {
  const socket = await ResponsesSocket.open(server.url, server.key);
  sockets.push(socket);
  return socket;
}

const story = (nth: number): string => `Chapter ${nth}: ${"and the dog Rex ran on and on. ".repeat(20)}`;
const user = (content: string) => ({ type: "message", role: "user", content });
/** What a client keeps of a conversation that it sends whole. */
const past = Array.from({ length: 16 }, (_, nth) => ({ role: nth % 2 === 0 ? "user" : "assistant", content: story(nth) }));

/** A stored chain that is above the threshold. Its newest response. */
async function talk(model = MODEL): Promise<ResponseResource> {
  server.provider.respondWith(() => ({ text: story(1) }));
  let last: ResponseResource | null = null;
  for (let nth = 0; nth < 6; nth++)
    last = await responses.create({ model, input: story(nth), ...(last && { previous_response_id: last.id }) });
  if (!last) throw new Error("Nothing was said");
  server.provider.respondWith(() => ({ text: "Rex. 狗" }));
  return last;
}

const findItem = ({ output }: ResponseResource) => {
  const [item, ...more] = output.filter(({ type }) => type === "compaction");
  expect(more).toEqual([]);
  if (item?.type !== "compaction") throw new Error("no compaction");
  return item;
};

const lastRead = (): string => JSON.stringify(server.provider.log.at(-1)?.body.messages);
const count = (text: string): number => lastRead().split(text).length - 1;
const SUMMARY = "<conversation_summary>";

describe("a stored response", () => {
  test(
    "shows it first, keeps it, and tells it again behind each event",
    async () => {
      const { id } = await talk();

      const { sent, response } = await responses.stream({ model: MODEL, input: "Its name?", previous_response_id: id, ...ABOVE });

      expect(listTypes(response)).toEqual(["compaction", "message"]);
      expect(await responses.retrieve(response.id)).toEqual(response);
      for (const [at, { sequence_number: number }] of readEvents(sent).entries())
        expect([...sent.slice(0, at + 1), ...(await responses.replay(response.id, number))], `after ${number}`).toEqual(sent);
      expect((await responses.listInputs(response.id)).data.map(({ type }) => type)).toEqual(["message"]);
      const next = await responses.create({ model: MODEL, input: "Sure?", previous_response_id: response.id });
      expect([listTypes(next), count("Its name?"), count(story(2))]).toEqual([["message"], 1, 0]);
    },
    MINUTES,
  );

  test("is answered as a whole and in the background with the same item", async () => {
    const { id } = await talk();
    const ask = { model: MODEL, input: "Its name?", previous_response_id: id, ...ABOVE };

    const begun = await responses.create({ ...ask, background: true });

    await expect.poll(async () => (await responses.retrieve(begun.id)).status).toBe("completed");
    const whole = await responses.retrieve(begun.id);
    expect(listTypes(whole)).toEqual(["compaction", "message"]);
    if (begun.output.length > 0) expect(findItem(begun)).toEqual(findItem(whole));
    expect(readStreamed(await responses.replay(begun.id)).response).toEqual(whole);
  });

  test("goes on with its output as input, with and without what is before it", async () => {
    const { id } = await talk();
    const response = await responses.create({ model: MODEL, input: "Its name?", previous_response_id: id, ...ABOVE });
    findItem(response);

    for (const before of [past, []]) {
      const next = await responses.stream({ model: MODEL, input: [...before, ...response.output, user("Sure?")] });
      expect(readText(next.response)).toBe("Rex. 狗");
      expect([count(SUMMARY), count("Its name?"), count("Rex. 狗"), count("Sure?")]).toEqual([1, 1, 1, 1]);
      const again = await responses.create({ model: MODEL, input: "Again?", previous_response_id: next.response.id });
      expect([again.status, count(SUMMARY)]).toEqual(["completed", 1]);
    }
  });

  test("of a conversation lists the item, and refuses it once the conversation is deleted", async () => {
    const openai = new OpenAI({ apiKey: server.key, baseURL: `${server.url}/v1`, maxRetries: 0 });
    const { id: conversation } = await openai.conversations.create();
    server.provider.respondWith(() => ({ text: story(1) }));
    for (let nth = 0; nth < 6; nth++) await responses.create({ model: MODEL, input: story(nth), conversation });
    const response = await responses.create({ model: MODEL, input: "Its name?", conversation, ...ABOVE });
    const listed = await fetch(`${server.url}/v1/conversations/${conversation}/items?limit=2`, {
      headers: { authorization: `Bearer ${server.key}` },
    });

    const { data } = itemList.parse(await listed.json());
    expect(data.toReversed()).toEqual(response.output);
    await openai.conversations.delete(conversation);
    expect(await responses.refuseCreate({ model: MODEL, input: [findItem(response), user("Sure?")] })).toMatchObject({
      status: 400,
      param: "input[0].encrypted_content",
    });
  });
});

describe("a response that is not stored", () => {
  test("holds the content in the item, which goes back as input", async () => {
    server.provider.respondWith(() => ({ text: "Rex. 狗" }));
    const ask = { model: MODEL, store: false };
    const picture = { role: "user", content: [{ type: "input_image", image_url: `data:image/png;base64,${PNG}` }] };
    const input = [...past, picture, { role: "assistant", content: "A dot." }, user("Its name?")];

    const { response } = await responses.stream({ ...ask, ...ABOVE, input });
    const whole = await responses.create({ ...ask, ...ABOVE, input });

    for (const each of [response, whole]) {
      expect(listTypes(each)).toEqual(["compaction", "message"]);
      for (const before of [input, []]) {
        const next = await responses.create({ ...ask, input: [...before, ...each.output, user("Sure?")] });
        expect(readText(next)).toBe("Rex. 狗");
        expect([count(SUMMARY), count("Its name?"), count(PNG), count("Sure?")]).toEqual([1, 1, 1, 1]);
      }
    }
  });
});

describe("a socket", () => {
  test.each([true, false])("tells it first, and goes on by name and by its output, stored: %s", async (store) => {
    const socket = await connect();
    server.provider.respondWith(() => ({ text: story(1).repeat(2) }));
    const ask = { model: MODEL, store };
    let first = await socket.create({ ...ask, input: story(0) });
    for (let nth = 1; nth < 4; nth++) first = await socket.create({ ...ask, input: story(nth), previous_response_id: first.response.id });
    server.provider.respondWith(() => ({ text: "Rex. 狗" }));

    const { response } = await socket.create({ ...ask, ...ABOVE, input: "Its name?", previous_response_id: first.response.id });

    expect(listTypes(response)).toEqual(["compaction", "message"]);
    if (store) expect(await responses.retrieve(response.id)).toEqual(response);
    const item = findItem(response);
    const named = await socket.create({ ...ask, input: [item, user("Sure?")], previous_response_id: response.id });
    expect([readText(named.response), count(SUMMARY), count("Its name?")]).toEqual(["Rex. 狗", 1, 1]);
    const anew = await (await connect()).create({ ...ask, input: [...response.output, user("Sure?")] });
    expect([readText(anew.response), count(SUMMARY), count("Its name?")]).toEqual(["Rex. 狗", 1, 1]);
  });
});

// The types of three majors are not one type. What these tests call is the same in all of them.
describe.each([
  ["5", OpenAI5 as unknown as typeof OpenAI],
  ["6", OpenAI6 as unknown as typeof OpenAI],
  ["7", OpenAI],
] as const)("openai %s", (_, Package) => {
  test.each([true, false])("accumulates the response that is kept, and sends its output back, stored: %s", async (store) => {
    const openai = new Package({ apiKey: server.key, baseURL: `${server.url}/v1`, maxRetries: 0 });
    const chain = store ? { previous_response_id: (await talk()).id, input: "Its name?" } : { store, input: [...past, user("Its name?")] };
    server.provider.respondWith(() => ({ text: "Rex. 狗" }));
    const stream = openai.responses.stream({ model: MODEL, ...chain, ...ABOVE } as never);
    const told: string[] = [];
    stream.on("event", ({ type }) => void told.push(type));

    const final = await stream.finalResponse();

    expect(told.slice(0, 4)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.output_item.done",
    ]);
    expect(final.output.map(({ type }) => type)).toEqual(["compaction", "message"]);
    if (store)
      expect(await openai.responses.retrieve(final.id)).toMatchObject({ output: [{ ...final.output[0] }, { id: final.output[1]?.id }] });
    const input = [...final.output.map(({ ...item }) => item), { role: "user", content: "Sure?" }] as OpenAI.Responses.ResponseInput;
    const next = await openai.responses.create({ model: MODEL, input, store });
    expect([next.output_text, count(SUMMARY), count("Its name?")]).toEqual(["Rex. 狗", 1, 1]);
  });
});

test.each([true, false])("an agent with a history of its own keeps the item in it, stored: %s", async (store) => {
  const openai = new OpenAI({ apiKey: server.key, baseURL: `${server.url}/v1` });
  const agent = new Agent({
    name: "Ada",
    instructions: "Be brief.",
    model: new OpenAIResponsesModel(openai, MODEL),
    modelSettings: { store, contextManagement: [{ type: "compaction", compactThreshold: 1_000 }] },
  });
  const runner = new Runner({ tracingDisabled: true });
  const session = new MemorySession();
  server.provider.respondWith(() => ({ text: story(1).repeat(3) }));
  for (let nth = 0; nth < 6; nth++) await runner.run(agent, story(nth), { session });
  server.provider.respondWith(() => ({ text: "Rex." }));

  const result = await runner.run(agent, "Its name?", { session });

  expect(result.finalOutput).toBe("Rex.");
  expect([(await session.getItems()).some(({ type }) => type === "compaction"), count("Its name?")]).toEqual([true, 1]);
  expect(count(SUMMARY)).toBeGreaterThan(0);
});
