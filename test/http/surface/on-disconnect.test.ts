/** A client that leaves an answer: its turn goes on, or stops where the client or its key says so. */
import { describe, expect, test } from "vitest";
import type { ClientSettings } from "../../../src/contract/client-settings";
import { connect, says } from "../openai/response-life";
import { KEY, principal } from "../support";

const hello = { role: "user", content: "Hello." };
const STREAMS = [
  ["/v1/chat/completions", { messages: [hello] }],
  ["/v1/messages", { max_tokens: 100, messages: [hello] }],
  ["/v1/responses", { input: [hello] }],
  ["/api/chat", { message: { role: "user", parts: [{ type: "text", text: "Hello." }] } }],
] as const;

async function open(on_disconnect: ClientSettings["on_disconnect"] = null) {
  const clients = { session_header: null, on_disconnect, chat_instructions: null };
  const life = connect({ principal: { ...principal(), clients } });
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json", "anthropic-version": "2023-06-01" };
  const made = await life.app.request("/v1/sessions", { method: "POST", headers, body: "{}" });
  const { id } = (await made.json()) as { id: string };
  const held = Promise.withResolvers<void>();
  life.model.say = async ({ messages }) => {
    await held.promise;
    return says(`heard ${messages.length}`);
  };
  const ask = (path: string, body: object, { more = {}, signal }: { more?: Record<string, string>; signal?: AbortSignal } = {}) =>
    life.app.request(path, {
      method: "POST",
      headers: { ...headers, "x-session-id": id, ...more },
      body: JSON.stringify({ model: "m", ...(path === "/api/chat" && { id, model: undefined }), ...body }),
      ...(signal && { signal }),
    });
  /** The status of the newest turn of the session that was asked last. */
  const readStatus = async (): Promise<string | undefined> => {
    const turns = await life.app.request(`/v1/sessions/${[...life.lives.keys()].at(-1)}/turns?limit=1`, { headers });
    return ((await turns.json()) as { data: { status: string }[] }).data[0]?.status;
  };
  return { ...life, id, ask, readStatus, release: () => held.resolve() };
}

const leave = async (answer: Response): Promise<void> => {
  await answer.body?.cancel();
};

describe.each(STREAMS)("%s", (path, body) => {
  const streamed = path === "/api/chat" ? body : { ...body, stream: true };

  test.each([
    [null, { "x-on-disconnect": "stop" }],
    ["stop", {}],
  ] as const)("the turn stops with its client, by the key's %j or the header: %j", async (setting, more) => {
    const { ask, readStatus, settle } = await open(setting);
    await leave(await ask(path, streamed, { more }));
    await settle();
    expect(await readStatus()).toBe("stopped");
  });

  test.each([
    [null, {}],
    [null, { "x-on-disconnect": "maybe" }],
    ["stop", { "x-on-disconnect": "continue" }],
  ] as const)("the turn goes on otherwise: %j, %j", async (setting, more) => {
    const { ask, readStatus, settle, release } = await open(setting);
    await leave(await ask(path, streamed, { more }));
    await settle();
    expect(await readStatus()).toBe("generating");
    release();
    await settle();
    expect(await readStatus()).toBe("completed");
  });

  test("a client that heard the end leaves nothing to stop", async () => {
    const { ask, readStatus, settle, release } = await open("stop");
    release();
    const answer = await ask(path, streamed);
    await answer.text();
    await settle();
    expect(await readStatus()).toBe("completed");
  });
});

describe.each(STREAMS.filter(([path]) => path !== "/api/chat"))("the request again: %s", (path, body) => {
  test.each([{}, { "x-stainless-retry-count": "1" }])("asks the model again after its client had left: %j", async (more) => {
    const { ask, model, settle } = await open("stop");
    const first = "x-stainless-retry-count" in more ? { "x-stainless-retry-count": "0" } : {};
    await leave(await ask(path, { ...body, stream: true, store: false }, { more: first }));
    await settle();
    model.say = () => says("Here it is.");
    const again = await ask(path, { ...body, stream: true, store: false }, { more });
    expect([again.status, await again.text()]).toEqual([200, expect.stringContaining("Here it is.")]);
  });
});

describe.each(STREAMS.filter(([path]) => path !== "/api/chat"))("a whole answer of %s", (path, body) => {
  test("the turn stops with the request", async () => {
    const { ask, readStatus, settle } = await open("stop");
    const leaving = new AbortController();
    const answer = ask(path, body, { signal: leaving.signal });
    await settle();
    leaving.abort();
    await settle();
    expect(await readStatus()).toBe("stopped");
    expect((await answer).status).toBe(200);
  });
});

test.each([{ "x-session-id": "" }, {}])("a response in the background goes on without its client: %j", async (more) => {
  const { ask, readStatus, settle, release } = await open("stop");
  await leave(await ask("/v1/responses", { input: "Hello.", background: true, stream: true }, { more }));
  release();
  await settle();
  expect(await readStatus()).toBe("completed");
});
