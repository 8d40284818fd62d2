/** Restricted keys: what they are not held to does not exist for them, on every route. */
import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { listAll, sampleBody, sampleQuery, world } from "../../http/support";
import { type Chat, migrate, newChat, newId, newTenant, readBody, readText, request, type Tenant } from "../../workers/support";

beforeAll(migrate);

type Restriction = { readonly models?: string[]; readonly end_users?: string[]; readonly metadata?: Record<string, string> };

async function makeKey(tenant: Tenant, restriction: Restriction): Promise<string> {
  const made = await tenant.call("POST", "/v1/keys", { name: "held", restriction });
  return (await readBody<{ key: string }>(made, 201)).key;
}

const readCode = async (answer: Response | Promise<Response>): Promise<string> => {
  const response = await answer;
  if (response.ok) return String(response.status);
  const { type } = await response.json<{ type: string }>();
  return `${response.status} ${type.split(":").at(-1)}`;
};

/** Sends a request in another vendor's words. */
function send(key: string, path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "anthropic-version": "2023-06-01" };
  return exports.default.fetch(new Request(`https://longhand.test${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

/** A caller with a key. */
const caller = (key: string) => (method: string, path: string, body?: unknown) =>
  request(method, path, { key, ...(body !== undefined && { body }) });

describe("a key that is made with a restriction", () => {
  it("shows it, has the scopes that it allows, and keeps both when it is rotated", async () => {
    const tenant = await newTenant();
    const made = await readBody<{ id: string; scopes: string[] }>(
      await tenant.call("POST", "/v1/keys", { name: "held", restriction: { end_users: ["ada"] } }),
      201,
    );
    expect(made).toMatchObject({
      scopes: ["sessions:read", "sessions:write"],
      restriction: { models: null, end_users: ["ada"], metadata: null },
    });
    const next = await readBody(await tenant.call("POST", `/v1/keys/${made.id}/rotate`, {}), 201);

    expect(next).toMatchObject({ scopes: made.scopes, restriction: { models: null, end_users: ["ada"], metadata: null } });
  });

  it.each([
    ["scopes", { scopes: ["sessions:erase"], restriction: { end_users: ["ada"] } }],
    ["scopes", { scopes: ["models:write"], restriction: { models: ["embedded"] } }],
    ["scopes", { scopes: ["keys:write"], restriction: { metadata: { a: "b" } } }],
    ["restriction", { restriction: {} }],
    ["restriction.end_users", { restriction: { end_users: [] } }],
    ["restriction.metadata", { restriction: { metadata: {} } }],
    ["restriction.models.0", { restriction: { models: [""] } }],
  ])("is refused with the field %s: %j", async (field, body) => {
    const tenant = await newTenant();
    const refused = await readBody<{ errors: { field: string }[] }>(await tenant.call("POST", "/v1/keys", { name: "held", ...body }), 400);

    expect(refused.errors.map((each) => each.field)).toContain(field);
  });
});

describe("a key that is held to an end user", () => {
  it("creates, names and finds the sessions of that end user alone", async () => {
    const tenant = await newTenant();
    const call = caller(await makeKey(tenant, { end_users: ["ada"] }));
    const foreign = await readBody<{ id: string }>(
      await tenant.call("PUT", "/v1/sessions/by-external-id/theirs", { end_user: "eve", title: "zanzibar" }),
      201,
    );

    const own = await readBody<{ id: string; end_user: string }>(await call("POST", "/v1/sessions", { title: "zanzibar" }), 201);
    const named = await readBody<{ id: string }>(await call("PUT", "/v1/sessions/by-external-id/mine", { end_user: "ada" }), 201);
    expect(own.end_user).toBe("ada");
    expect(await readCode(call("GET", "/v1/sessions/by-external-id/mine"))).toBe("200");
    expect(await readCode(call("POST", "/v1/sessions", { end_user: "eve" }))).toBe("403 beyond_own_key");
    expect(await readCode(call("PUT", "/v1/sessions/by-external-id/new", { end_user: "eve" }))).toBe("403 beyond_own_key");
    expect(await readCode(call("PUT", "/v1/sessions/by-external-id/theirs", {}))).toBe("404 session_not_found");
    expect(await readCode(call("GET", "/v1/sessions/by-external-id/theirs"))).toBe("404 session_not_found");
    expect(await readCode(call("GET", `/v1/sessions/${foreign.id}`))).toBe("404 session_not_found");
    expect(await readCode(call("PATCH", `/v1/sessions/${own.id}`, { end_user: "eve" }))).toBe("403 beyond_own_key");

    const list = await readBody<{ data: { id: string }[] }>(await call("GET", "/v1/sessions?limit=100"));
    expect(list.data.map(({ id }) => id).sort()).toEqual([own.id, named.id].sort());
    expect(await readCode(call("GET", "/v1/sessions?end_user=eve"))).toBe("403 beyond_own_key");
    const search = await readBody<{ data: { session: { id: string } }[] }>(
      await call("POST", "/v1/sessions/search", { query: "zanzibar" }),
    );
    expect(search.data.map(({ session }) => session.id)).toEqual([own.id]);
    expect(await readCode(call("POST", "/v1/sessions/search", { query: "zanzibar", end_user: "eve" }))).toBe("403 beyond_own_key");
  });

  it("reaches a session no more once that is another end user's", async () => {
    const tenant = await newTenant();
    const call = caller(await makeKey(tenant, { end_users: ["ada"] }));
    const { id } = await readBody<{ id: string }>(await call("POST", "/v1/sessions", {}), 201);

    await readBody(await tenant.call("PATCH", `/v1/sessions/${id}`, { end_user: "eve" }));

    expect(await readCode(call("GET", `/v1/sessions/${id}`))).toBe("404 session_not_found");
  });

  it("of several names one of them, and makes tokens for them alone", async () => {
    const tenant = await newTenant();
    const call = caller(await makeKey(tenant, { end_users: ["ada", "bob"] }));
    const { id: foreign } = await readBody<{ id: string }>(await tenant.call("POST", "/v1/sessions", { end_user: "eve" }), 201);

    expect(await readCode(call("POST", "/v1/sessions", {}))).toBe("403 beyond_own_key");
    const { id } = await readBody<{ id: string }>(await call("POST", "/v1/sessions", { end_user: "bob" }), 201);
    expect(await readCode(call("POST", "/v1/tokens", { end_user: "bob" }))).toBe("201");
    expect(await readCode(call("POST", "/v1/tokens", { session_id: id }))).toBe("201");
    expect(await readCode(call("POST", "/v1/tokens", { end_user: "eve" }))).toBe("403 beyond_own_key");
    expect(await readCode(call("POST", "/v1/tokens", { session_id: foreign }))).toBe("404 session_not_found");
  });

  it("names no file that its session does not have already", async () => {
    const tenant = await newTenant();
    const call = caller(await makeKey(tenant, { end_users: ["ada"] }));
    const { id } = await readBody<{ id: string }>(await call("POST", "/v1/sessions", {}), 201);
    const headers = { "content-type": "text/plain" };
    const sent = await request("POST", "/v1/files", { key: tenant.key, body: new TextEncoder().encode("Eve's diary"), headers });
    const file = await readBody<{ id: string }>(sent, 201);

    const content = [{ type: "file", file_id: file.id }];

    expect(await readCode(call("POST", `/v1/sessions/${id}/messages`, { content, run: false }))).toBe("400 invalid_request");
  });
});

describe("a key that is held to metadata", () => {
  it("reaches the sessions with these entries, and makes no others", async () => {
    const tenant = await newTenant();
    const call = caller(await makeKey(tenant, { metadata: { shop: "north" } }));
    const made = await readBody<{ id: string }>(await call("POST", "/v1/sessions", { metadata: { colour: "red" } }), 201);
    const other = await readBody<{ id: string }>(await tenant.call("POST", "/v1/sessions", { metadata: { shop: "south" } }), 201);

    expect(await readBody(await call("GET", `/v1/sessions/${made.id}`))).toMatchObject({ metadata: { shop: "north", colour: "red" } });
    expect(await readCode(call("GET", `/v1/sessions/${other.id}`))).toBe("404 session_not_found");
    expect(await readCode(call("POST", "/v1/sessions", { metadata: { shop: "south" } }))).toBe("403 beyond_own_key");
    expect(await readCode(call("PATCH", `/v1/sessions/${made.id}`, { metadata: {} }))).toBe("403 beyond_own_key");
    expect(await readCode(call("POST", "/v1/tokens", { end_user: "ada" }))).toBe("403 beyond_own_key");
    const list = await readBody<{ data: { id: string }[] }>(await call("GET", "/v1/sessions"));
    expect(list.data.map(({ id }) => id)).toEqual([made.id]);
  });
});

describe("a key that is held to models", () => {
  let chat: Chat;
  let other: string;
  let key: string;
  let call: ReturnType<typeof caller>;
  beforeAll(async () => {
    chat = await newChat({ replies: [{ text: "One" }, { text: "Two" }, { text: "Three" }] });
    other = chat.model.upstream;
    key = await makeKey(chat.tenant, { models: ["embedded"] });
    call = caller(key);
  });

  it("sets and asks no other model, on any surface", async () => {
    const { id } = await readBody<{ id: string }>(await call("POST", "/v1/sessions", { model: "embedded" }), 201);
    const path = `/v1/sessions/${id}`;
    const turn = await readBody<{ message_id: string }>(await call("POST", `${path}/messages`, { content: "hello" }));

    for (const answer of [
      call("POST", "/v1/sessions", { model: other }),
      call("PATCH", path, { model: other }),
      call("POST", `${path}/messages`, { content: "x", model: other }),
      call("POST", `${path}/respond`, { messages: [{ content: "x" }], model: other }),
      call("POST", `${path}/messages/${turn.message_id}/edit`, { content: "x", model: other }),
      call("POST", `${path}/messages/${turn.message_id}/regenerate`, { model: other }),
    ])
      expect(await readCode(answer)).toBe("400 unknown_model");
    const messages = [{ role: "user", content: "x" }];
    const ofOpenAi = await send(key, "/v1/chat/completions", { model: other, messages });
    const ofResponses = await send(key, "/v1/responses", { model: other, input: "x" });
    expect([ofOpenAi.status, ofResponses.status]).toEqual([404, 404]);
    expect(await ofOpenAi.json()).toMatchObject({ error: { code: "model_not_found" } });
    expect((await send(key, "/v1/chat/completions", { model: "embedded", messages })).status).toBe(200);
    expect(await chat.model.heard(0)).toHaveLength(0);
  });

  it("asks nothing in a session of another model, and reads it", async () => {
    const path = `/v1/sessions/${chat.id}`;
    const told = await chat.say("hello");

    expect(await readCode(call("POST", `${path}/messages`, { content: "x" }))).toBe("422 model_gone");
    expect(await readCode(call("POST", `${path}/messages/${told.message_id}/regenerate`, {}))).toBe("422 model_gone");
    expect(await readCode(call("POST", `${path}/messages`, { content: "noted", run: false }))).toBe("201");
    expect(await readCode(call("GET", `${path}/messages`))).toBe("200");
    expect(await readCode(call("POST", "/v1/tokens", { session_id: chat.id }))).toBe("403 beyond_own_key");
  });

  it("repeats a turn with the session's model, not with that of the turn", async () => {
    const tenant = chat.tenant;
    const { id } = await readBody<{ id: string }>(await call("POST", "/v1/sessions", { model: "embedded" }), 201);
    const path = `/v1/sessions/${id}`;
    const turn = await readBody<{ message_id: string }>(await tenant.call("POST", `${path}/messages`, { content: "hello", model: other }));
    const before = (await chat.model.heard(0)).length;

    await readBody(await call("POST", `${path}/messages/${turn.message_id}/regenerate`, {}));

    expect(await chat.model.heard(0)).toHaveLength(before);
  });
});

describe("on every route", () => {
  const routes = listAll(world().app).filter(({ path }) => /^\/(v1|api|mcp)/.test(path) && !path.startsWith("/v1/admin/"));
  const PLANTED = "zanzibar-planted-text";
  let foreign: Readonly<Record<string, string>>;
  let chat: Chat;
  let key: string;
  const absent: Readonly<Record<string, string>> = {
    session_id: newId("ses"),
    turn_id: newId("trn"),
    message_id: newId("msg"),
    branch: "1",
    chat_id: newId("ses"),
  };
  const others: Readonly<Record<string, string>> = {
    compaction_id: newId("cmp"),
    execution_id: newId("exe"),
    key_id: newId("key"),
    file_id: newId("fil"),
    conversation_id: `conv_${newId("ses").slice(4)}`,
    response_id: `resp_${newId("ses").slice(4)}${newId("trn").slice(4)}`,
    item_id: newId("msg"),
  };

  beforeAll(async () => {
    chat = await newChat({ replies: [{ text: PLANTED }] });
    await readBody(await chat.tenant.call("PATCH", `/v1/sessions/${chat.id}`, { end_user: "eve", title: PLANTED }));
    const turn = await chat.say(PLANTED);
    foreign = { session_id: chat.id, turn_id: turn.id, message_id: turn.message_id ?? "", branch: "1", chat_id: chat.id };
    key = await makeKey(chat.tenant, { end_users: ["ada"] });
    expect(readText((await chat.items())[1])).toBe(PLANTED);
  });

  const fill = (path: string, ids: Readonly<Record<string, string>>) =>
    path.replace(/:([a-z_]+)/g, (_, name: string) => ids[name] ?? others[name] ?? "a-name") + sampleQuery(path);

  async function ask(route: (typeof routes)[number], ids: Readonly<Record<string, string>>) {
    const body = route.method === "GET" || route.method === "DELETE" ? undefined : sampleBody(route);
    const path = fill(route.path, ids);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const init = { method: route.method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await exports.default.fetch(new Request(`https://longhand.test${path}`, init));
    return { status: answer.status, text: await answer.text() };
  }
  const hide = (text: string) =>
    text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|"req_[^"]*"/g, "REQUEST").replaceAll(/(?:ses|trn|msg|exp|tok)_\w+/g, "ID");

  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s answers for a session out of reach as for none, shows nothing of it and appends nothing",
    async (_, route) => {
      const before = await chat.api.events(chat.caller, { after: 0, limit: 200, order: "asc" });

      const [out, none] = [await ask(route, foreign), await ask(route, absent)];

      expect(out.text).not.toContain(PLANTED);
      if (route.path.includes(":session_id")) expect([out.status, hide(out.text)]).toEqual([none.status, hide(none.text)]);
      if (route.path.includes(":session_id")) expect([400, 403, 404]).toContain(out.status);
      expect(await chat.api.events(chat.caller, { after: 0, limit: 200, order: "asc" })).toEqual(before);
    },
  );

  it("that reaches beyond its sessions it is refused as without the scope", async () => {
    const refused = [
      send(key, "/v1/responses", { model: "embedded", input: "x" }),
      send(key, "/v1/conversations", {}),
      send(key, "/v1/messages", { model: "embedded", max_tokens: 10, messages: [{ role: "user", content: "x" }] }),
      caller(key)("GET", "/v1/usage"),
    ];

    const statuses = (await Promise.all(refused)).map(({ status }) => status);

    expect(statuses).toEqual(refused.map(() => 403));
  });
});
