/** The official MCP client, unmodified, against a running backend with a scripted model. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createTenant } from "../../scripts/support/connection";
import { cutSummary } from "../support/stand-in/summary";
import { ChatServer } from "./chat-server";
import { runPageProgram } from "./page-program";

const MINUTES = 60_000;
const NOTICE = "Optimizing conversation context…";
let server: ChatServer;
let client: Client;

async function connect(key: string): Promise<Client> {
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit });
  const connected = new Client({ name: "test", version: "1" });
  // The SDK's transport may have an undefined session id, which its own interface does not allow.
  await connected.connect(transport as Parameters<Client["connect"]>[0]);
  // The client validates structured content against the output schemas that it has read.
  await connected.listTools();
  return connected;
}

beforeAll(async () => {
  server = await ChatServer.start();
  await server.longhand.patch("/v1/tenant", { body: { default_model: "scripted" } });
  client = await connect(server.key);
}, 2 * MINUTES);
afterAll(async () => {
  await client?.close();
  await server?.close();
});

type Asked = Record<string, unknown>;
type Hearing = NonNullable<Parameters<Client["callTool"]>[2]>;

async function call(name: string, given: Asked, hearing: Hearing = {}, through = client) {
  const { isError = false, structuredContent, content } = await through.callTool({ name, arguments: given }, undefined, hearing);
  const [said] = z.array(z.object({ text: z.string() })).parse(content);
  return { isError, said: z.record(z.string(), z.any()).parse(structuredContent ?? JSON.parse(said?.text ?? "")) };
}

const create = async (given: Asked = {}): Promise<string> => (await call("create_session", given)).said.session_id;

async function readTexts(session_id: string): Promise<string[]> {
  const { said } = await call("read_messages", { session_id, order: "asc", limit: 100 });
  return said.messages.map(({ role, text: words }: { role: string; text: string }) => `${role}: ${words}`);
}

describe("a conversation", () => {
  test("is created, gone on with, read, looked up, and shown as its model saw it", async () => {
    const session_id = await create({ title: "狗", system: "Be brief.", end_user: "用户" });
    server.provider.enqueue({ text: "你好，雷克斯。🐕" }, { text: "Rex." });

    const first = await call("send_message", { session_id, text: "我的狗叫雷克斯。🐕" });
    const second = await call("send_message", { session_id, text: "What is its name?" });

    expect(first.said).toMatchObject({ status: "completed", is_finished: true, reply: "你好，雷克斯。🐕", replayed: false });
    expect(await readTexts(session_id)).toEqual([
      "user: 我的狗叫雷克斯。🐕",
      "assistant: 你好，雷克斯。🐕",
      "user: What is its name?",
      "assistant: Rex.",
    ]);
    const found = await call("memory_query", { session_id, query: "雷克斯" });
    expect(found.said.text).toContain("雷克斯");
    const seen = await call("show_context", { session_id, turn_id: second.said.turn_id });
    expect(seen.said).toMatchObject({ matches_what_was_sent: true, calls: 1, next_offset: null });
    expect(JSON.parse(seen.said.request)).toEqual(server.provider.log.at(-1)?.body);
    expect((await call("show_context", { session_id })).said).toMatchObject({ turn_id: null, matches_what_was_sent: null });
    expect((await call("get_turn", { session_id, turn_id: first.said.turn_id, wait_seconds: 5 })).said).toMatchObject({
      reply: "你好，雷克斯。🐕",
    });
  });

  test("is found in the list, by its words and among the resources, once the read model has it", async () => {
    const session_id = await create({ title: "Lighthouse", external_id: "灯塔" });
    server.provider.enqueue({ text: "It was built by Zephyrine." });
    await call("send_message", { session_id, text: "Who built the lighthouse?" });

    const search = async () => (await call("search_sessions", { query: "Zephyrine" })).said.found;
    await expect
      .poll(search, { timeout: 20_000 })
      .toMatchObject([{ session: { session_id, external_id: "灯塔" }, matches: [{ position: 2 }] }]);
    expect((await call("list_sessions", { external_id: "灯塔" })).said.sessions).toMatchObject([{ session_id, title: "Lighthouse" }]);
    const { resources } = await client.listResources();
    const resource = resources.find(({ name }) => name === session_id);
    const { contents } = await client.readResource({ uri: resource?.uri ?? "" });
    expect(contents).toMatchObject([{ text: expect.stringMatching(/^\[1\] user, .*\n {4}Who built the lighthouse\?\n\n\[2\] assistant/) }]);
    expect((await call("create_session", { external_id: "灯塔", title: "Other" })).said).toMatchObject({ session_id, is_new: false });
  });

  test("that is empty has no messages, and an unknown, a foreign and an erased one is refused", async () => {
    const session_id = await create();
    expect((await call("read_messages", { session_id })).said).toEqual({ messages: [], next_after: null });
    const stranger = await connect((await createTenant(server.url, server.adminKey)).key);
    for (const name of ["get_session", "read_messages", "memory_query", "show_context", "stop_turn"])
      expect(await call(name, { session_id }, {}, stranger)).toMatchObject({
        isError: true,
        said: { type: "urn:longhand:problem:session_not_found" },
      });
    expect(await call("send_message", { session_id, text: "x" }, {}, stranger)).toMatchObject({ isError: true, said: { status: 404 } });
    await stranger.close();

    await server.longhand.delete("/v1/sessions/{session_id}", { path: { session_id } });

    expect(await call("send_message", { session_id, text: "x" })).toMatchObject({
      isError: true,
      said: { type: "urn:longhand:problem:session_erased" },
    });
    await expect(client.readResource({ uri: `longhand://sessions/${session_id}/transcript` })).rejects.toMatchObject({ code: -32_002 });
  });

  test("hears a repeated message once, two at once in turn, and a huge one in full", async () => {
    const session_id = await create();
    server.provider.respondWith(({ messages }) => ({ text: `${messages.length}` }));
    const said = { session_id, text: "Once.", idempotency_key: "key-1" };

    const [one, other] = await Promise.all([call("send_message", said), call("send_message", said)]);
    expect(one.said.message_id).toBe(other.said.message_id);
    expect([one.said.replayed, other.said.replayed].sort()).toEqual([false, true]);
    expect(await call("send_message", { ...said, text: "Twice." })).toMatchObject({
      isError: true,
      said: { type: "urn:longhand:problem:idempotency_conflict" },
    });
    await Promise.all(["a", "b"].map((words) => call("send_message", { session_id, text: words })));
    const huge = "龙".repeat(20_000);
    await call("send_message", { session_id, text: huge });

    const { said: page } = await call("read_messages", { session_id, order: "desc", limit: 2 });
    const [, long] = page.messages;
    expect(long).toMatchObject({ truncated: true, text: "龙".repeat(8_000) });
    let whole = "";
    for (let next: Asked | null = { from: long.position, to: long.position, offset: 0 }; next; ) {
      const { said: part } = await call("memory_query", { session_id, ...next });
      whole += part.text;
      next = part.next;
    }
    expect(whole.match(/龙/g)).toHaveLength(20_000);
    expect((await call("get_session", { session_id })).said).toMatchObject({ message_count: 8 });
  });
});

describe("a turn", () => {
  const WEATHER = { name: "weather", description: "The weather", parameters: { type: "object", properties: {} } };

  test("that waits for the application's tools says so, and is read to its end after they were answered elsewhere", async () => {
    const { id: session_id } = await server.longhand.post("/v1/sessions", { body: { tools: [WEATHER] } });
    server.provider.enqueue({ tool_calls: [{ id: "a", name: "weather", arguments: '{"city":"北京"}' }] }, { text: "晴。" });

    const { said: turn } = await call("send_message", { session_id, text: "Weather?" });
    expect(turn).toMatchObject({ status: "awaiting_tools", waiting_for: [{ name: "weather", needs: "result" }] });
    const results = [{ execution_id: turn.waiting_for[0].execution_id, output: "clear" }];
    await server.longhand.post("/v1/sessions/{session_id}/tool_results", { path: { session_id }, body: { results } });

    const { said: ended } = await call("get_turn", { session_id, turn_id: turn.turn_id, wait_seconds: 20 });
    expect(ended).toMatchObject({ status: "completed", reply: "晴。", waiting_for: [] });
    const { said: page } = await call("read_messages", { session_id });
    expect(page.messages).toMatchObject([
      { text: "晴。" },
      { role: "tool", tool_name: "weather", text: "clear" },
      { role: "assistant", tool_calls: [{ name: "weather", arguments: '{"city":"北京"}' }] },
      { role: "user" },
    ]);
  });

  test("goes on after the client has left, and can be stopped", async () => {
    const session_id = await create();
    const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
    const { promise: held } = Promise.withResolvers<never>();
    server.provider.respondWith(() => {
      isAsked();
      return held;
    });
    const leaving = new AbortController();

    const sending = call("send_message", { session_id, text: "Wait." }, { signal: leaving.signal }).catch(() => null);
    await asked;
    leaving.abort();
    await sending;
    const { said: session } = await call("get_session", { session_id });
    const { said: open } = await call("get_turn", { session_id, turn_id: session.open_turn.turn_id, wait_seconds: 0 });
    const { said: stopped } = await call("stop_turn", { session_id });
    const { said: late } = await call("stop_turn", { session_id, turn_id: open.turn_id });

    expect(open).toMatchObject({ status: "generating", is_finished: false, hint: expect.stringContaining("get_turn") });
    expect(stopped).toMatchObject({ turn_id: open.turn_id, status: "stopped", is_finished: true });
    expect(late).toEqual(stopped);
    expect(await call("stop_turn", { session_id })).toMatchObject({ isError: true, said: { type: "urn:longhand:problem:no_turn" } });
  });

  test("in a small window is compacted in the middle: progress tells of it, and nothing is lost", async () => {
    const session_id = await create({ model: "scripted-small" });
    const heard: string[] = [];
    const { promise: told, resolve: tell } = Promise.withResolvers<void>();
    const onprogress: Hearing["onprogress"] = ({ message = "" }) => {
      heard.push(message);
      if (message === NOTICE) tell();
    };
    server.provider.respondWith(({ messages }) => ({ text: `${messages.length} messages. ${"Well, well. ".repeat(60)}` }));
    // The summary is not ready before the client has heard that it is being made.
    server.provider.summarizeWith(async (request) => {
      await told;
      return { text: cutSummary(request) };
    });

    let turn_id = "";
    for (let nth = 1; nth <= 12; nth++) {
      const words = nth === 1 ? "The locker code is 4711-龙." : `Question ${nth}: ${"why? ".repeat(40)}`;
      const { said } = await call("send_message", { session_id, text: words }, { onprogress });
      expect(said).toMatchObject({ status: "completed" });
      turn_id = said.turn_id;
    }

    expect(heard).toContain(NOTICE);
    expect((await call("get_session", { session_id })).said).toMatchObject({ message_count: 24, summary: expect.any(String) });
    expect(await readTexts(session_id)).toHaveLength(24);
    const seen = await call("show_context", { session_id, turn_id });
    expect(seen.said.matches_what_was_sent).toBe(true);
    expect(seen.said.parts.map(({ part }: { part: string }) => part)).toContain("summary");
    expect(seen.said.request).not.toContain("Question 3:");
    expect((await call("memory_query", { session_id, query: "locker code" })).said.text).toContain("4711-龙");
  }, 60_000);
});

describe("who connects", () => {
  test("with a key that only reads sees no tool that writes", async () => {
    const { key } = await server.longhand.post("/v1/keys", { body: { name: "reader", scopes: ["sessions:read"] } });
    const reader = await connect(key ?? "");

    const { tools } = await reader.listTools();
    const refused = await call("create_session", {}, {}, reader);

    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    expect(refused).toMatchObject({ isError: true, said: { type: "urn:longhand:problem:forbidden", scope: "sessions:write" } });
    await reader.close();
  });

  test("without a valid key is told so", async () => {
    await expect(connect("lh_dev_invented")).rejects.toMatchObject({ code: 403, message: expect.stringContaining("unauthorized") });
  });
});

describe("the page of MCP", () => {
  test("has a program of under 30 lines, which prints what the page shows", async () => {
    const ran = await runPageProgram("mcp", await createTenant(server.url, server.adminKey));
    expect(ran.lines).toBeLessThan(30);
    expect(ran.wrong).toBe("");
    expect(ran.said).toBe(ran.output);
  });
});
