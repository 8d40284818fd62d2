/** What single operations are refused for, each caused in the running Worker. `request` checks every answer against the document. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { sessionObjectName, tenantObjectName } from "../../src/app/object-name";
import type { SessionId } from "../../src/domain/ids";
import { SCOPES } from "../../src/domain/scopes";
import { ACT } from "../support/act";
import { advanceClock } from "./clock";
import { words } from "./conversation";
import { text } from "./files";
import { type Chat, migrate, newChat, newId, newTenant, readBody, request, type Tenant } from "./support";

beforeAll(migrate);

const look = { name: "look", parameters: { type: "object" } };
const findStub = (tenant: Tenant) => env.TENANTS.getByName(tenantObjectName(tenant.id));

/** `409 turn_running`, or the status of a success. */
async function read(asked: Response | Promise<Response>): Promise<string> {
  const response = await asked;
  const body = await response.text();
  if (response.status < 400) return String(response.status);
  return `${response.status} ${(JSON.parse(body) as { type: string }).type.replace("urn:longhand:problem:", "")}`;
}

type Asked = readonly [method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>];

/** Sends each request to the session, and expects each to be refused alike. */
async function expectAll(chat: Chat, refusal: string, all: readonly Asked[]): Promise<void> {
  for (const [method, path, body, headers] of all) {
    expect([method, path, await read(chat.call(method, path, body, headers))]).toEqual([method, path, refusal]);
  }
}

/** Two turns, a finished compaction and an open draft. */
async function compacted(): Promise<{ readonly chat: Chat; readonly done: string; readonly draft: string; readonly asked: string }> {
  const chat = await newChat({ window: 32_000, summaries: [{ text: words(60, "SUMMARY") }, { text: words(50, "SECOND") }] });
  let asked = "";
  for (let turn = 1; turn <= 4; turn++) {
    await chat.model.says({ text: words(300, `reply-${turn}`) });
    asked = (await chat.say(words(250, `question-${turn}`))).message_id ?? "";
  }
  const frames = await chat.listen(0);
  const first = await readBody<{ id: string }>(await chat.call("POST", "/compactions", { keep_recent: 900 }), 202);
  await frames.until("compaction.completed", (frame) => frame.compaction_id === first.id);
  const second = await readBody<{ id: string }>(await chat.call("POST", "/compactions", { draft: true, keep_recent: 100 }), 202);
  await frames.until("compaction.drafted", (frame) => frame.compaction_id === second.id);
  await frames.leave();
  return { chat, done: first.id, draft: second.id, asked };
}

const generation = { temperature: 0.5 };
const questions = [{ question: "Who?" }];

describe("a session whose model is gone", () => {
  it("is refused whatever needs the model", async () => {
    const { chat, done, draft, asked } = await compacted();
    await chat.tenant.call("DELETE", `/v1/models/${chat.model.upstream}`);
    advanceClock(31_000);

    await expectAll(chat, "422 model_gone", [
      ["PATCH", "", { system: "Be brief." }],
      ["POST", "/messages", { content: "x", generation }],
      ["POST", "/respond", { messages: [{ content: "x" }], generation }],
      ["POST", "/retry", { generation }],
      ["POST", `/messages/${asked}/edit`, { content: "y", generation }],
      ["POST", `/messages/${asked}/regenerate`, { generation }],
      ["POST", "/compactions", {}],
      ["POST", `/compactions/${done}/revert`, {}],
      ["DELETE", "/summary"],
      ["PATCH", `/compactions/${draft}`, { summary: "They spoke.", edits: 0 }],
      ["POST", `/compactions/${draft}/commit`, {}],
      ["POST", "/compactions/compare", { a: "current", b: "current", questions }],
      ["PUT", "/pins", { pins: ["One"] }],
      ["GET", "/context"],
      ["POST", "/context", { content: "x" }],
      ["GET", "/context/diff?from=now&to=now"],
    ]);
    const evaluated = chat.tenant.call("POST", "/v1/policies/evaluate", { session: chat.id, policy: "economy" });
    expect(await read(evaluated)).toBe("422 model_gone");
  });
});

describe("a model that a request names and no tenant has", () => {
  it("is the request's fault", async () => {
    const chat = await newChat({ summaries: [{ text: words(60, "SUMMARY") }] });
    const asked = (await chat.say("hello")).message_id;
    const model = "of-nobody";

    await expectAll(chat, "400 unknown_model", [
      ["PATCH", "", { model }],
      ["POST", "/messages", { content: "x", model }],
      ["POST", "/respond", { messages: [{ content: "x" }], model }],
      ["POST", "/retry", { model }],
      ["POST", `/messages/${asked}/edit`, { content: "y", model }],
      ["POST", `/messages/${asked}/regenerate`, { model }],
      ["POST", "/compactions", { model }],
    ]);
    const { chat: summarised } = await compacted();
    const compare = { a: "current", b: "current", questions, model };
    expect(await read(summarised.call("POST", "/compactions/compare", compare))).toBe("400 unknown_model");
  });
});

describe("while a turn runs", () => {
  it("nothing goes back, is committed or is reverted", async () => {
    const { chat, done, draft, asked } = await compacted();
    await chat.model.says({ text: "at last", gate: "held" });
    const running = await chat.post("and now?");
    const branched = await newChat({ replies: [{ text: "at last", gate: "held" }] });
    await readBody(await branched.call("POST", "/branches", { to: 0 }), 201);
    const other = await branched.post("and now?");
    await expectAll(branched, "409 turn_running", [["POST", "/branches/1/switch", {}]]);
    await branched.model.open("held");
    await branched.ended(other.turn_id);

    await expectAll(chat, "409 turn_running", [
      ["POST", "/branches", { to: 0 }],
      ["POST", `/messages/${asked}/edit`, { content: "y" }],
      ["POST", `/messages/${asked}/regenerate`, {}],
      ["POST", `/messages/${running.message_id}/redact`, {}],
      ["POST", "/retry", {}],
      ["DELETE", "/summary"],
      ["POST", `/compactions/${done}/revert`, {}],
      ["POST", `/compactions/${draft}/commit`, {}],
    ]);
    await chat.model.open("held");
    await chat.ended(running.turn_id);
  });
});

describe("a draft", () => {
  it("is refused when it changed, ended or makes nothing smaller", async () => {
    const { chat, done, draft } = await compacted();
    const none = newId("cmp");
    await expectAll(chat, "404 compaction_not_found", [
      ["GET", `/compactions/${none}`],
      ["PATCH", `/compactions/${none}`, { summary: "x", edits: 0 }],
      ["POST", `/compactions/${none}/commit`, {}],
      ["DELETE", `/compactions/${none}`],
    ]);
    await expectAll(chat, "409 not_drafted", [
      ["PATCH", `/compactions/${done}`, { summary: "x", edits: 0 }],
      ["POST", `/compactions/${done}/commit`, {}],
      ["DELETE", `/compactions/${done}`],
    ]);
    await expectAll(chat, "409 draft_edited", [["POST", `/compactions/${draft}/commit`, { edits: 7 }]]);
    const headers = { "idempotency-key": "k-1" };
    await chat.call("POST", "/messages", { content: "x", run: false }, headers);
    await expectAll(chat, "422 idempotency_conflict", [
      ["POST", `/compactions/${draft}/commit`, {}, headers],
      ["POST", `/compactions/${done}/revert`, {}, headers],
    ]);
    await readBody(await chat.call("PATCH", `/compactions/${draft}`, { summary: words(6_000, "LONG"), edits: 0 }));
    await expectAll(chat, "422 not_smaller", [["POST", `/compactions/${draft}/commit`, {}]]);
  });
});

describe("what a session does not have", () => {
  it("is unknown by its own name", async () => {
    const chat = await newChat();
    await chat.say("hello");
    const none = newId("msg");
    const turn = newId("trn");

    await expectAll(chat, "404 message_not_found", [
      ["POST", `/messages/${none}/edit`, { content: "y" }],
      ["POST", `/messages/${none}/regenerate`, {}],
      ["POST", `/messages/${none}/redact`, {}],
    ]);
    await expectAll(chat, "404 branch_not_found", [
      ["GET", "/branches/compare?a=9"],
      ["GET", "/messages?branch=9"],
      ["POST", "/branches/9/switch", {}],
    ]);
    await expectAll(chat, "404 turn_not_found", [
      ["GET", `/turns/${turn}`],
      ["GET", `/context/diff?from=${turn}&to=now`],
    ]);
    const [ended] = (await chat.read<{ data: readonly { id: string }[] }>("/turns")).data;
    await expectAll(chat, "404 request_not_found", [["GET", `/context/diff?from=${ended?.id}&from_call=9&to=now`]]);
  });

  it("is unknown in a tenant, too", async () => {
    const tenant = await newTenant();
    const { key } = { key: env.ADMIN_KEY };
    const absent = newId("ten");
    const ask = (method: string, path: string, body?: unknown) => read(request(method, path, { key, body }));

    expect(await read(tenant.call("DELETE", "/v1/credentials/none"))).toBe("404 credential_not_found");
    expect(await read(tenant.call("DELETE", `/v1/keys/${newId("key")}`))).toBe("404 key_not_found");
    expect(await read(tenant.call("POST", `/v1/keys/${newId("key")}/rotate`))).toBe("404 key_not_found");
    expect(await read(tenant.call("DELETE", "/v1/mcp_servers/none"))).toBe("404 mcp_server_not_found");
    expect(await read(tenant.call("POST", "/v1/mcp_servers/none/refresh"))).toBe("404 mcp_server_not_found");
    expect(await read(tenant.call("POST", "/v1/models/none/probe"))).toBe("404 model_not_found");
    expect(await ask("GET", `/v1/admin/tenants/${absent}`)).toBe("404 tenant_not_found");
    expect(await ask("GET", `/v1/admin/tenants/${absent}/sessions`)).toBe("404 tenant_not_found");
    expect(await ask("POST", `/v1/admin/tenants/${absent}/keys`, { name: "x" })).toBe("404 tenant_not_found");
    expect(await ask("POST", `/v1/admin/tenants/${absent}/credentials/rotate`)).toBe("404 tenant_not_found");
    expect(await ask("POST", `/v1/admin/tenants/${absent}/rebuild`)).toBe("404 tenant_not_found");
  });
});

describe("a session whose object was erased, and whose external id is not free yet", () => {
  it("is erased by that id, too", async () => {
    const tenant = await newTenant();
    const path = "/v1/sessions/by-external-id/order-1";
    const { id } = await readBody<{ id: SessionId }>(await tenant.call("PUT", path, {}), 201);
    // The tenant's object cannot note the erasure, so the session's object is erased and the name is still taken.
    await runInDurableObject(env.TENANTS.getByName(tenantObjectName(tenant.id)), (_, { storage }) => {
      storage.sql.exec("ALTER TABLE erasures RENAME TO erasures_out_of_reach");
    });
    await env.SESSIONS.getByName(sessionObjectName(tenant.id, id)).erase({ tenant: tenant.id, session: id });

    expect(await read(tenant.call("GET", path))).toBe("404 session_erased");
    expect(await read(tenant.call("PUT", path, {}))).toBe("404 session_erased");
  });
});

describe("a cursor of another list", () => {
  it("is refused", async () => {
    const chat = await newChat();
    const after = "of-no-list";

    expect(await read(chat.tenant.call("GET", `/v1/sessions?after=${after}`))).toBe("400 invalid_cursor");
    expect(await read(chat.tenant.call("POST", "/v1/sessions/search", { query: "x", after }))).toBe("400 invalid_cursor");
    expect(await read(chat.tenant.call("GET", `/v1/usage?group_by=day&after=${after}`))).toBe("400 invalid_cursor");
    const rebuild = `/v1/admin/tenants/${chat.tenant.id}/sessions/${chat.id}/rebuild?after=${after}`;
    expect(await read(request("POST", rebuild, { key: env.ADMIN_KEY }))).toBe("400 invalid_cursor");
  });
});

describe("a message", () => {
  it("is refused for its client id, its call and its files", async () => {
    const chat = await newChat({ tools: [look] });
    await readBody(await chat.call("POST", "/messages", { content: "x", run: false, client_id: "c-1" }), 201);
    const zip = [{ type: "file", url: `data:application/zip;base64,${btoa("PK\x03\x04 and more")}` }];
    const [item] = await chat.items();

    await expectAll(chat, "409 client_id_taken", [["POST", "/messages", { content: "y", run: false, client_id: "c-1" }]]);
    await expectAll(chat, "415 file_type_not_allowed", [
      ["POST", "/messages", { content: zip }],
      ["POST", "/messages/batch", { items: [{ content: zip }] }],
      ["POST", "/respond", { messages: [{ content: zip }] }],
      ["POST", `/messages/${item?.id}/edit`, { content: zip }],
    ]);
    await findStub(chat.tenant).beginFile({ file: newId("fil"), name: null, media_type: "text/plain", bytes: 9_999_999_999 });
    const note = [{ type: "file", url: `data:text/plain;base64,${btoa("A note of many words")}` }];
    await expectAll(chat, "409 file_limit", [
      ["POST", "/messages", { content: note }],
      ["POST", "/messages/batch", { items: [{ content: note }] }],
      ["POST", "/respond", { messages: [{ content: note }] }],
      ["POST", `/messages/${item?.id}/edit`, { content: note }],
    ]);
    expect(await read(chat.tenant.call("POST", "/v1/files", text("A note"), { "content-type": "text/plain" }))).toBe("409 file_limit");
  });

  it("of an access token chooses no model", async () => {
    const chat = await newChat();
    const asked = (await chat.say("hello")).message_id;
    const made = await chat.tenant.call("POST", "/v1/tokens", { session_id: chat.id });
    const { token: key } = await readBody<{ token: string }>(made, 201);
    const ask = (path: string, body: object) => read(request("POST", `/v1/sessions/${chat.id}${path}`, { key, body }));
    const model = chat.model.upstream;

    expect(await ask("/messages", { content: "x", model })).toBe("403 beyond_access_token");
    expect(await ask("/respond", { messages: [{ content: "x" }], model })).toBe("403 beyond_access_token");
    expect(await ask("/retry", { model })).toBe("403 beyond_access_token");
    expect(await ask(`/messages/${asked}/edit`, { content: "x", model })).toBe("403 beyond_access_token");
    expect(await ask(`/messages/${asked}/regenerate`, { model })).toBe("403 beyond_access_token");
    const person = await chat.tenant.call("POST", "/v1/tokens", { end_user: "ada" });
    const theirs = (await readBody<{ token: string }>(person, 201)).token;
    const search = { key: theirs, body: { query: "x", end_user: "eve" } };
    expect(await read(request("POST", "/v1/sessions/search", search))).toBe("403 beyond_access_token");
  });
});

describe("a request that has no room", () => {
  it("is refused before it is sent", async () => {
    const chat = await newChat({ window: 4_000, maxOutput: 200, system: words(1_500, "rule") });
    await chat.append(words(300, "one"));
    await expectAll(chat, "422 cannot_fit", [["POST", "/context", { content: words(4_000, "large") }]]);
    const large = { provider: "openai-compatible", base_url: inject("standIn").baseUrl, context_window: 1_024, max_output: 1_000 };
    await readBody(await chat.tenant.call("PUT", `/v1/models/${chat.model.upstream}`, large));
    advanceClock(31_000);
    await expectAll(chat, "422 cannot_fit", [["POST", "/compactions", {}]]);
  });
});

describe("a tenant's limits", () => {
  it("hold for branches", async () => {
    const chat = await newChat();
    const first = (await chat.say("hello")).id;
    await chat.append("more");
    for (let count = 1; count < 500; count++) await chat.api.rewind(chat.caller, { to: 1, idempotency: null });
    const [asked] = await chat.items();

    await expectAll(chat, "409 branch_limit", [
      ["POST", "/respond", { after: first, messages: [{ content: "y" }] }],
      ["POST", "/branches", { to: 1 }],
      ["POST", `/messages/${asked?.id}/edit`, { content: "y" }],
      ["POST", `/messages/${asked?.id}/regenerate`, {}],
    ]);
  });

  it("hold for keys, models, credentials and tools", async () => {
    const tenant = await newTenant();
    const stub = findStub(tenant);
    const scopes = [...SCOPES];
    const order = { name: "x", scopes, restriction: null, clients: null, expires_at: null, by: null, idempotency: null };
    for (let count = 0; count < 100; count++) await stub.addKey(ACT, { ...order, id: newId("key"), hash: `hash-${count}` });
    expect(await read(tenant.call("POST", "/v1/keys", { name: "more" }))).toBe("409 key_limit");
    const keys = await readBody<{ data: { id: string }[] }>(await tenant.call("GET", "/v1/keys?limit=1"));
    expect(await read(tenant.call("POST", `/v1/keys/${keys.data[0]?.id}/rotate`))).toBe("409 key_limit");
    const byAdmin = { key: env.ADMIN_KEY, body: { name: "more" } };
    expect(await read(request("POST", `/v1/admin/tenants/${tenant.id}/keys`, byAdmin))).toBe("409 key_limit");

    const credential = { api_key: "sk-a-key-for-tests" };
    for (let count = 0; count < 50; count++) await tenant.call("PUT", `/v1/credentials/c${count}`, credential);
    expect(await read(tenant.call("PUT", "/v1/credentials/more", credential))).toBe("409 credential_limit");

    const model = { provider: "openai", max_output: 1_000 };
    for (let count = 0; count < 100; count++) await tenant.call("PUT", `/v1/models/m${count}`, model);
    expect(await read(tenant.call("PUT", "/v1/models/more", model))).toBe("409 model_limit");

    const tool = { url: "https://api.example.com/weather", parameters: { type: "object" } };
    for (let count = 0; count < 128; count++) await tenant.call("PUT", `/v1/tools/t${count}`, tool);
    expect(await read(tenant.call("PUT", "/v1/tools/more", tool))).toBe("409 tool_limit");

    const server = {
      url: `${inject("toolServer")}/mcp`,
      secret_header: null,
      timeout_ms: 1_000,
      needs_approval: false,
      allowed_tools: null,
    };
    const listing = { tools: [], skipped: [], truncated: false };
    for (let count = 0; count < 16; count++) await stub.putMcpServer(ACT, { name: `s${count}`, server, listing });
    expect(await read(tenant.call("PUT", "/v1/mcp_servers/more", { url: server.url }))).toBe("409 tool_limit");
  });

  it("hold for what a key may give away", async () => {
    const tenant = await newTenant();
    const made = await tenant.call("POST", "/v1/keys", { name: "few", scopes: ["keys:write"] });
    const { key } = await readBody<{ key: string }>(made, 201);
    const other = await readBody<{ id: string }>(await tenant.call("POST", "/v1/keys", { name: "other" }), 201);

    expect(await read(request("POST", "/v1/keys", { key, body: { name: "x", scopes: ["models:write"] } }))).toBe("403 beyond_own_key");
    expect(await read(request("DELETE", `/v1/keys/${other.id}`, { key }))).toBe("403 beyond_own_key");
    expect(await read(request("POST", `/v1/keys/${other.id}/rotate`, { key }))).toBe("403 beyond_own_key");
    expect(await read(request("POST", "/v1/tokens", { key, body: { end_user: "ada" } }))).toBe("403 beyond_own_key");
  });
});

describe("what the deployment owns", () => {
  it("is neither deleted nor made twice", async () => {
    const tenant = await newTenant();
    const { default_model } = await readBody<{ default_model: string }>(await tenant.call("GET", "/v1/tenant"));
    const { data } = await readBody<{ data: readonly { id: string }[] }>(await tenant.call("GET", "/v1/models"));
    const other = data.find(({ id }) => id !== default_model)?.id ?? "";
    await readBody(await tenant.call("PUT", "/v1/models/mine", { provider: "embedded", context_window: 16_000, max_output: 1_000 }));
    await readBody(await tenant.call("PATCH", "/v1/tenant", { default_model: "mine" }));

    expect(await read(tenant.call("DELETE", "/v1/models/mine"))).toBe("409 model_is_default");
    expect(await read(tenant.call("DELETE", `/v1/models/${encodeURIComponent(other || default_model)}`))).toBe("409 model_not_own");
    const headers = { "idempotency-key": `once-${tenant.id}` };
    const create = () => request("POST", "/v1/admin/tenants", { key: env.ADMIN_KEY, body: { name: "Bo" }, headers });
    expect(await read(create())).toBe("201");
    advanceClock(25 * 60 * 60 * 1_000);
    expect(await read(create())).toBe("409 tenant_exists");
  });

  it("does not ask a server without its credential", async () => {
    const tenant = await newTenant();
    const url = `${inject("toolServer")}/mcp`;
    const secret_header = { name: "authorization", credential: "gone" };

    expect(await read(tenant.call("PUT", "/v1/mcp_servers/desk", { url, secret_header }))).toBe("422 mcp_failed");
    await readBody(await tenant.call("PUT", "/v1/credentials/gone", { api_key: "sk-a-key-for-tests" }));
    const server = { url, secret_header: { ...secret_header, prefix: "" }, timeout_ms: 1_000, needs_approval: false, allowed_tools: null };
    await findStub(tenant).putMcpServer(ACT, { name: "desk", server, listing: { tools: [], skipped: [], truncated: false } });
    await tenant.call("DELETE", "/v1/credentials/gone");
    expect(await read(tenant.call("POST", "/v1/mcp_servers/desk/refresh"))).toBe("422 mcp_failed");
  });

  it("takes no file without a length", async () => {
    const tenant = await newTenant();
    const { readable, writable } = new IdentityTransformStream();
    const sent = tenant.call("POST", "/v1/files", readable, { "content-type": "text/plain" });
    const writer = writable.getWriter();
    await Promise.allSettled([writer.write(text("A note")), writer.close()]);

    expect(await read(sent)).toBe("411 length_required");
  });
});

it("a file of the reference page is not sent again to a client that has it", async () => {
  const { etag = "" } = Object.fromEntries((await request("GET", "/docs/start.js", {})).headers);

  expect((await request("GET", "/docs/start.js", { headers: { "if-none-match": etag } })).status).toBe(304);
});
