/** Responses over a WebSocket, held to the Open Responses specification. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ChatServer } from "../../client/chat-server";
import { ResponsesCaller, readCalls, readEvents, readStreamed, readText } from "../../client/responses-caller";
import { ResponsesSocket } from "../../client/responses-socket";
import { startToolServer, type ToolServer } from "../../support/stand-in/tool-server";

const MINUTES = 60_000;
const MODEL = "scripted";
const LOOK_UP = { type: "function", name: "look_up", parameters: { type: "object" } };
let server: ChatServer;
let responses: ResponsesCaller;
const open: ResponsesSocket[] = [];

beforeAll(async () => {
  server = await ChatServer.start();
  responses = new ResponsesCaller(server.url, server.key);
}, 2 * MINUTES);
afterEach(async () => {
  for (const socket of open.splice(0)) await socket.close();
});
afterAll(() => server?.close());

async function connect(): Promise<ResponsesSocket> {
  const socket = await ResponsesSocket.open(server.url, server.key);
  open.push(socket);
  return socket;
}

const result = (call_id: string) => ({ type: "function_call_output", call_id, output: "sun" });
const NOT_FOUND = { code: "previous_response_not_found", param: "previous_response_id" };

function speak() {
  const { promise, resolve } = Promise.withResolvers<void>();
  async function* pieces() {
    yield "Once upon ";
    await promise;
    yield "a time.";
  }
  return { reply: pieces(), goOn: resolve };
}

describe("a socket", () => {
  test("has one response after the other, and each goes on from the one before", async () => {
    server.provider.enqueue({ reasoning: "Hm.", text: "Rex it is. 狗" }, { text: "Rex." });
    const socket = await connect();

    const first = await socket.create({ model: MODEL, input: "My dog is Rex." });
    const second = await socket.create({ model: MODEL, input: "Its name?", previous_response_id: first.response.id });

    expect(readText(second.response)).toBe("Rex.");
    expect(second.response).toMatchObject({ previous_response_id: first.response.id, background: false, store: true });
    for (const { response, sent } of [first, second]) {
      expect(await responses.retrieve(response.id)).toEqual(response);
      expect(readEvents(await responses.replay(response.id))).toEqual(readEvents(sent));
    }
  });

  test("keeps what is not stored for itself, through calls and their results", async () => {
    const call = { id: "call_1", name: "look_up", arguments: "{}" };
    server.provider.enqueue({ tool_calls: [call] }, { text: "Sun." }, { text: "Bye." });
    const socket = await connect();
    const ask = { model: MODEL, store: false, tools: [LOOK_UP] };

    const first = await socket.create({ ...ask, input: "Weather?" });
    const second = await socket.create({ ...ask, input: [result("call_1")], previous_response_id: first.response.id });

    expect(readCalls(first.response)).toHaveLength(1);
    expect(readText(second.response)).toBe("Sun.");
    expect(second.response).toMatchObject({ store: false, previous_response_id: first.response.id });
    const other = await connect();
    const away = { ...ask, input: "And?", previous_response_id: second.response.id };
    expect(await other.refuse(away)).toMatchObject(NOT_FOUND);
    expect(readText((await socket.create(away)).response)).toBe("Bye.");
  });

  test("refers to items: of what is stored anywhere, and of what is not stored nowhere but here", async () => {
    server.provider.enqueue({ text: "Rex." }, { text: "A dog." }, { text: "Kept here." }, { text: "Again." });
    const socket = await connect();
    const refer = ({ output }: { readonly output: readonly { readonly id?: string | undefined }[] }) =>
      output.map(({ id }) => ({ type: "item_reference", id }));
    const first = (await socket.create({ model: MODEL, input: "My dog?" })).response;
    const repeated = [{ role: "user", content: "My dog?" }, ...refer(first), { role: "user", content: "What is Rex?" }];
    const second = (await socket.create({ model: MODEL, input: repeated })).response;
    const alone = { model: MODEL, store: false };
    const unstored = (await socket.create({ ...alone, input: [...refer(second), { role: "user", content: "Go on." }] })).response;
    const own = [...refer(unstored), { role: "user", content: "And?" }];
    const next = (await socket.create({ ...alone, previous_response_id: unstored.id, input: own })).response;

    expect(second.id.slice(0, 31)).toBe(first.id.slice(0, 31));
    expect(readText(next)).toBe("Again.");
    expect(server.provider.log.at(-1)?.body.messages.map(({ role }) => role)).toEqual(["assistant", "user", "assistant", "user"]);
    expect(await socket.refuse({ ...alone, input: own })).toMatchObject({ status: 404, param: "input" });
  });

  test.each([true, false])("is warmed up, and the next request has what it was warmed up with, stored: %s", async (store) => {
    server.provider.enqueue({ text: "One." }, { text: "Two." });
    const socket = await connect();
    const ask = { model: MODEL, store };
    const first = await socket.create({ ...ask, input: "1", stream: true });
    const requests = server.provider.log.length;
    const behind = { ...ask, previous_response_id: first.response.id };
    const warm = await socket.create({ ...behind, input: [{ role: "developer", content: "请简短" }], generate: false });
    expect(warm.response).toMatchObject({ status: "completed", output: [], usage: { total_tokens: 0 }, store });
    expect(server.provider.log).toHaveLength(requests);

    const second = await socket.create({ ...ask, input: "2", previous_response_id: warm.response.id });
    expect(readText(second.response)).toBe("Two.");
    expect(server.provider.log.at(-1)?.body.messages.map(({ content }) => content)).toEqual(["1", "One.", "请简短", "2"]);
    expect(await socket.refuse({ ...ask, input: "3", previous_response_id: warm.response.id })).toMatchObject(NOT_FOUND);
    expect(await responses.refuse(`/${warm.response.id}`, {})).toMatchObject({ status: 404 });
    expect(await socket.refuse({ store, input: "3", generate: false })).toMatchObject({ status: 400, param: "model" });
  });

  test("is warmed up several times and in large pieces, and by nothing alone", async () => {
    server.provider.enqueue({ text: "Long." }, { text: "Short." });
    const socket = await connect();
    const piece = `狗${"document ".repeat(4_000)}`;
    const empty = await socket.create({ model: MODEL, generate: false });
    const one = await socket.create({ model: MODEL, input: piece, generate: false, previous_response_id: empty.response.id });
    const two = await socket.create({ model: MODEL, input: `${piece}.`, generate: false, previous_response_id: one.response.id });

    const { response } = await socket.create({ model: MODEL, input: "Go.", previous_response_id: two.response.id });

    expect(readText(response)).toBe("Long.");
    expect(server.provider.log.at(-1)?.body.messages.map(({ content }) => content)).toEqual([piece, `${piece}.`, "Go."]);
    const left = await socket.create({ model: MODEL, input: "Lost", generate: false });
    expect(readText((await socket.create({ model: MODEL, input: "Other" })).response)).toBe("Short.");
    expect(await socket.refuse({ model: MODEL, input: "?", previous_response_id: left.response.id })).toMatchObject(NOT_FOUND);
  });

  test("forgets what is not stored when going on with it failed", async () => {
    server.provider.enqueue({ text: "One." });
    const socket = await connect();
    const ask = { model: MODEL, store: false };
    const { response } = await socket.create({ ...ask, input: "1" });
    const next = { ...ask, previous_response_id: response.id };

    expect(await socket.refuse({ ...next, input: [result("call_nope")] })).toMatchObject({ status: 400 });

    expect(await socket.refuse({ ...next, input: "2" })).toMatchObject(NOT_FOUND);
    server.provider.enqueue({ text: "Two." });
    expect(readText((await socket.create({ ...ask, input: "2" })).response)).toBe("Two.");
  });

  test("that is gone leaves what is stored, and a new one goes on with it", async () => {
    const { reply, goOn } = speak();
    server.provider.enqueue(reply, { text: "The end." }, { text: "Hello." });
    const socket = await connect();
    socket.send({ model: MODEL, input: "A story." });
    const before = await socket.hearUntil((type) => type === "response.output_text.delta");
    const events = readEvents(before);
    const [created] = events;
    if (created?.type !== "response.created") throw new Error("The stream has no beginning");
    const { id } = created.response;

    await socket.close();
    goOn();

    await expect.poll(async () => (await responses.retrieve(id)).status).toBe("completed");
    const rest = await responses.replay(id, events.at(-1)?.sequence_number);
    const named = before.map(({ data }, at) => ({ event: events[at]?.type ?? null, data }));
    const { response } = readStreamed([...named, ...rest]);
    expect(await responses.retrieve(id)).toEqual(response);
    const again = await connect();
    const next = await again.create({ model: MODEL, input: "And then?", previous_response_id: id });
    expect(readText(next.response)).toBe("The end.");
    const unstored = await again.create({ model: MODEL, input: "Hello", store: false });
    await again.close();
    const third = await connect();
    const lost = { model: MODEL, input: "And?", store: false, previous_response_id: unstored.response.id };
    expect(await third.refuse(lost)).toMatchObject(NOT_FOUND);
  });

  test("begins a new chain with what the conversation was compacted to", async () => {
    const input = Array.from({ length: 12 }, (_, nth) => ({
      type: "message",
      role: nth % 2 === 0 ? "user" : "assistant",
      content: `Chapter ${nth}: ${"and the dog Rex ran on and on. ".repeat(20)}`,
    }));
    const { output } = await responses.compact({ model: "scripted-small", input });
    server.provider.enqueue({ text: "Rex." });
    const socket = await connect();

    const { response } = await socket.create({
      model: "scripted-small",
      store: false,
      input: [...output, { type: "message", role: "user", content: "Its name?" }],
    });

    expect(readText(response)).toBe("Rex.");
  });

  test("has a chain that is not stored compacted above its threshold, with a warm-up behind it", async () => {
    const story = `The dog Rex ran on and on. ${"And the dog ran. ".repeat(200)}`;
    server.provider.enqueue({ text: story }, { text: "Once more." }, { text: "Rex." });
    const socket = await connect();
    const ask = { model: MODEL, store: false };
    const first = await socket.create({ ...ask, input: story });
    const second = await socket.create({ ...ask, input: "Again.", previous_response_id: first.response.id });
    const { compactions } = server.provider.totals();
    const warm = await socket.create({ ...ask, input: "Hm.", previous_response_id: second.response.id, generate: false });
    const above = { context_management: [{ type: "compaction", compact_threshold: 1_000 }] };

    const { response } = await socket.create({ ...ask, ...above, input: "Its name?", previous_response_id: warm.response.id });

    expect(readText(response)).toBe("Rex.");
    expect(server.provider.totals().compactions).toBe(compactions + 1);
    expect(response.usage?.input_tokens).toBeLessThan(second.response.usage?.input_tokens ?? 0);
  });

  test("is told of failures of the model in the stream, and stays open", async () => {
    server.provider.enqueue({ text: "Once upon", error: { message: "boom", type: "invalid_request_error" } }, { text: "Hello." });
    const socket = await connect();

    const { response, events } = await socket.create({ model: MODEL, input: "A story." });

    expect(response).toMatchObject({ status: "failed", error: { code: "server_error" } });
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
    expect(readText((await socket.create({ model: MODEL, input: "Hello" })).response)).toBe("Hello.");
  });

  test("refuses a second request while one is answered", async () => {
    const { reply, goOn } = speak();
    server.provider.enqueue(reply);
    const socket = await connect();
    socket.send({ model: MODEL, input: "A story." });
    const before = await socket.hearUntil((type) => type === "response.output_text.delta");

    const refused = await socket.refuse({ model: MODEL, input: "Another." });
    goOn();

    expect(refused.status).toBeGreaterThanOrEqual(400);
    const rest = await socket.hearUntil((type) => type === "response.completed");
    expect(readText(readStreamed([...before, ...rest], "socket").response)).toBe("Once upon a time.");
  });

  test.each([
    ["that is not JSON", "{", { status: 400 }],
    ["of another type", JSON.stringify({ type: "response.cancel" }), { status: 400, param: "type" }],
    ["without input", { model: MODEL }, { status: 400, param: "input" }],
    ["in the background", { model: MODEL, input: "Hello", background: true }, { status: 400, param: "background" }],
    ["with a parameter that is not offered", { model: MODEL, input: "Hello", prompt: { id: "p" } }, { status: 400, param: "prompt" }],
    ["for an unknown model", { model: "nope", input: "Hello" }, { status: 404, code: "model_not_found" }],
    ["on an unknown response", { model: MODEL, input: "Hello", previous_response_id: "resp_nope" }, NOT_FOUND],
  ])("refuses a message %s, and stays open", async (_, message, expected) => {
    const socket = await connect();

    expect(await socket.refuse(message)).toMatchObject(expected);

    server.provider.enqueue({ text: "Hello." });
    expect(readText((await socket.create({ model: MODEL, input: "Hello" })).response)).toBe("Hello.");
  });
});

describe("a call that a person approves over a socket", () => {
  let desk: ToolServer;
  beforeAll(async () => {
    desk = await startToolServer();
    await server.longhand.put("/v1/mcp_servers/{server_name}", { path: { server_name: "desk" }, body: { url: `${desk.url}/mcp` } });
  });
  afterAll(() => desk?.close());

  const ask = { model: MODEL, tools: [{ type: "mcp", server_label: "desk", require_approval: "always" }] };
  const greet = (...names: readonly string[]) => ({
    tool_calls: names.map((name) => ({ id: name, name: "desk__greet_person", arguments: JSON.stringify({ name }) })),
  });
  type Output = Awaited<ReturnType<ResponsesSocket["create"]>>["response"];
  const listTypes = ({ output }: Output): readonly string[] => output.map(({ type }) => type);
  const answer = ({ output }: Output, ...approve: readonly boolean[]) =>
    output
      .filter(({ type }) => type === "mcp_approval_request")
      .map(({ id }, index) => ({ type: "mcp_approval_response", approval_request_id: id, approve: approve[index] ?? false }));

  test.each([{ store: true }, { store: false }])("is asked for, approved and refused behind its response: %j", async (kept) => {
    server.provider.enqueue(greet("Ada", "Rex"), { text: "Greeted one." }, { text: "Gern." });
    const socket = await connect();
    const first = await socket.create({ ...ask, ...kept, input: "Greet both." });
    expect(listTypes(first.response)).toEqual(["mcp_approval_request", "mcp_approval_request"]);
    const previous_response_id = first.response.id;
    const half = { ...ask, ...kept, previous_response_id, input: answer(first.response, true).slice(0, 1) };
    if (kept.store) expect(await socket.refuse(half)).toMatchObject({ status: 400, param: "input" });
    const second = await socket.create({ ...half, input: answer(first.response, true, false) });

    expect(listTypes(second.response).toSorted()).toEqual(["mcp_call", "mcp_call", "message"]);
    expect(readText(second.response)).toBe("Greeted one.");
    const read = JSON.stringify(server.provider.log.at(-1)?.body.messages);
    for (const said of ["Hello, Ada.", "a person refused it"]) expect(read).toContain(said);
    expect(read).not.toContain("Hello, Rex.");
    const third = await socket.create({ ...ask, ...kept, previous_response_id: second.response.id, input: "谢谢。" });
    expect(readText(third.response)).toBe("Gern.");
    if (!kept.store) return;
    for (const { response, sent } of [first, second, third]) {
      expect(await responses.retrieve(response.id)).toEqual(response);
      expect(readEvents(await responses.replay(response.id))).toEqual(readEvents(sent));
    }
  });

  test("waits for a connection that was lost, and is approved over another one, once", async () => {
    server.provider.enqueue(greet("Ada"), { text: "Greeted." });
    const lost = await connect();
    const first = await lost.create({ ...ask, input: "Greet her." });
    lost.drop();
    const socket = await connect();
    const given = { ...ask, previous_response_id: first.response.id, input: answer(first.response, true) };
    const second = await socket.create(given);

    expect(listTypes(second.response)).toEqual(["mcp_call", "message"]);
    expect(await socket.refuse(given)).toMatchObject({ status: 400, param: "input[0].approval_request_id" });
    expect(await responses.retrieve(second.response.id)).toEqual(second.response);
  });

  test("is approved by an input that repeats the conversation, and not where the response ended with its connection", async () => {
    server.provider.enqueue(greet("Ada"), { text: "Greeted." }, greet("Rex"));
    const socket = await connect();
    const input = [{ role: "user", content: "Greet her." }];
    const first = await socket.create({ ...ask, input });
    const second = await socket.create({ ...ask, input: [...input, ...first.response.output, ...answer(first.response, true)] });
    expect(second.response.id).toBe(`${first.response.id}_2`);

    const unstored = await socket.create({ ...ask, store: false, input: "Greet him." });
    socket.drop();
    const other = await connect();
    const given = { ...ask, store: false, previous_response_id: unstored.response.id, input: answer(unstored.response, true) };
    expect(await other.refuse(given)).toMatchObject(NOT_FOUND);
  });
});
