/** Erasures as resources, end to end: with forks, of an end user, interrupted, and with a store out of reach. */
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { ErasureView } from "../../../src/contract/erasure";
import type { SessionErasure } from "../../../src/contract/session";
import { parseId } from "../../../src/domain/ids";
import { ACT } from "../../support/act";
import { ringErasures, ringNow } from "../../workers/alarms";
import { png, upload } from "../../workers/files";
import { Chat, migrate, newChat, newId, readBody, readStorage, request, TABLES, type Tenant } from "../../workers/support";

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

const MARK = "PLANTED";
const OPEN = { model: "embedded", policy: "oneclaw", system: null, tools: null, title: null, metadata: {} };

const tenantStub = (tenant: Tenant) => env.TENANTS.getByName(tenantObjectName(tenant.id));
const readErasure = async (tenant: Tenant, id: string): Promise<ErasureView> =>
  readBody<ErasureView>(await tenant.call("GET", `/v1/erasures/${id}`));
const eraseUser = async (tenant: Tenant, user: string): Promise<ErasureView> =>
  readBody<ErasureView>(await tenant.call("DELETE", `/v1/end-users/${encodeURIComponent(user)}`));

/** Where the mark is: tables of the read model, and the objects of the tenant and of the sessions. */
async function findMarks(chats: readonly Chat[], mark = MARK): Promise<string[]> {
  const found: string[] = [];
  const tables = await env.DB.prepare(`${TABLES} AND name <> 'd1_migrations'`).all<{ name: string }>();
  for (const { name } of tables.results) {
    const { results } = await env.DB.prepare(`SELECT * FROM "${name}"`).all();
    if (JSON.stringify(results).includes(mark)) found.push(name);
  }
  for (const chat of chats) if ((await readStorage(chat.stub)).includes(mark)) found.push(chat.id);
  const [first] = chats;
  if (first && (await readStorage(tenantStub(first.tenant))).includes(mark)) found.push("tenant");
  return found;
}

/** A session of an end user, with a mark in every field that can contain text. */
async function startChat(user: string, tenant?: Tenant): Promise<Chat> {
  const tools = [{ name: "look", description: `${MARK}-tool`, parameters: { type: "object" } }];
  const replies = [
    { text: `${MARK}-reply`, tool_calls: [{ id: `${MARK}-call`, name: "look", arguments: `{"q":"${MARK}"}` }] },
    { text: `${MARK}-end` },
  ];
  const chat = await newChat({ system: `${MARK}-system`, tools, replies, ...(tenant && { tenant }) });
  await readBody(await chat.call("PATCH", "", { title: `${MARK}-title`, metadata: { note: `${MARK}-note` }, end_user: user }));
  await readBody(await chat.call("PUT", "/pins", { pins: [{ text: `${MARK}-pin` }] }));
  await readBody(await chat.send(`${MARK}-question`, {}, { "idempotency-key": `${MARK}-key` }));
  await readBody(await chat.call("POST", "/tool_results", { results: [{ call_id: `${MARK}-call`, output: `${MARK}-result` }] }));
  await readBody(await chat.call("GET", `/recall?q=${MARK}`));
  return chat;
}

async function fork(chat: Chat): Promise<Chat> {
  const { id } = await readBody<{ id: string }>(await chat.call("POST", "/fork"), 201);
  const session = parseId("ses", id);
  if (!session) throw new Error("no id");
  return new Chat(chat.tenant, session, chat.model);
}

describe("the erasure of a session", () => {
  it("is a resource: its receipt names every store, what is kept, and what may remain elsewhere until when", async () => {
    const chat = await startChat("ada");
    const answer = await chat.call("DELETE");
    const location = answer.headers.get("location");
    const { erasure_id: id } = await readBody<SessionErasure>(answer);

    expect(location).toBe(`/v1/erasures/${id}`);
    const erasure = await readErasure(chat.tenant, id ?? "");
    expect(erasure).toMatchObject({ of: "session", target: chat.id, forks: false, status: "done", sessions: { total: 1, done: 1 } });
    const kept = erasure.stores.filter(({ status }) => status === "kept").map(({ store }) => store);
    expect(kept).toEqual(["usage", "forks"]);
    expect(erasure.stores.filter(({ status }) => status === "erased")).toHaveLength(erasure.stores.length - 2);
    expect(erasure.may_remain.map(({ where }) => where)).toEqual([
      "objects_point_in_time_recovery",
      "database_point_in_time_recovery",
      "provider",
    ]);
    expect(erasure.may_remain.at(-1)?.models).toEqual([chat.model.upstream]);
    expect((await readBody<SessionErasure>(await chat.call("DELETE"))).erasure_id).toBe(id);
    const list = await readBody<{ data: ErasureView[] }>(await chat.tenant.call("GET", "/v1/erasures"));
    expect(list.data).toEqual([erasure]);
  });

  it("of another tenant is unknown", async () => {
    const chat = await newChat();
    const { erasure_id: id } = await readBody<SessionErasure>(await chat.call("DELETE"));
    const other = await newChat();

    expect((await other.tenant.call("GET", `/v1/erasures/${id}`)).status).toBe(404);
  });

  it("with forks takes forks, and forks of forks; without, they keep their copies", async () => {
    const chat = await startChat("ada");
    const copy = await fork(chat);
    const second = await fork(copy);
    const other = await newChat({ tenant: chat.tenant });

    await readBody(await chat.call("DELETE"));
    expect((await copy.call("GET")).status).toBe(200);
    const { erasure_id: id } = await readBody<SessionErasure>(await chat.call("DELETE", "?forks=true"));

    expect(await readErasure(chat.tenant, id ?? "")).toMatchObject({ forks: true, status: "done", sessions: { total: 3, done: 3 } });
    for (const erased of [copy, second]) expect((await erased.call("GET")).status).toBe(404);
    expect((await other.call("GET")).status).toBe(200);
    expect(await findMarks([chat, copy, second])).toEqual([]);
  });

  it("with forks leaves no fork that is made at the same time", async () => {
    const chat = await startChat("ada");
    const [answers] = await Promise.all([
      Promise.all([1, 2, 3, 4].map(() => chat.call("POST", "/fork"))),
      chat.call("DELETE", "?forks=true").then((answer) => readBody(answer)),
    ]);
    await ringErasures(chat.tenant);
    const made = (await Promise.all(answers.map((answer) => answer.json()))).flatMap((body) => {
      const id = parseId("ses", String((body as { id?: string }).id));
      return id ? [new Chat(chat.tenant, id, chat.model)] : [];
    });

    for (const copy of made) expect((await copy.call("GET")).status).toBe(404);
    expect(await findMarks([chat, ...made])).toEqual([]);
  });
});

describe("the erasure of an end user", () => {
  const user = `${MARK} Ada/1`;

  it("leaves nothing of any session of the end user in any store, and every other session as it was", async () => {
    const first = await startChat(user);
    const { tenant } = first;
    const second = await startChat(user, tenant);
    const copy = await fork(second);
    const created = await tenant.call("PUT", `/v1/sessions/by-external-id/${MARK}-order`, { end_user: user });
    const { id: named } = await readBody<{ id: string }>(created, 201);
    const other = await newChat({ tenant });
    await readBody(await other.call("PATCH", "", { end_user: "eve" }));
    await other.say("hello");
    expect(await findMarks([first, second, copy])).not.toEqual([]);

    const { id } = await eraseUser(tenant, user);
    // On a busy machine the answer comes before the end.
    await ringErasures(tenant);
    const erasure = await readErasure(tenant, id);

    expect(erasure).toMatchObject({ of: "end_user", status: "done", sessions: { total: 4, done: 4 } });
    expect(await findMarks([first, second, copy])).toEqual([]);
    for (const chat of [first, second, copy]) expect((await chat.call("GET")).status).toBe(404);
    expect((await tenant.call("GET", `/v1/sessions/${named}`)).status).toBe(404);
    expect((await tenant.call("GET", `/v1/sessions/by-external-id/${MARK}-order`)).status).toBe(404);
    expect(await readBody<{ data: unknown[] }>(await other.call("GET", "/messages"))).toMatchObject({ data: [{}, {}] });
    expect(await readErasure(tenant, erasure.id)).toEqual(erasure);
  });

  it("leaves its name in no usage: of a session erased before, of one given to another; the sums stay", async () => {
    const erased = await startChat(user);
    const { tenant } = erased;
    const given = await startChat(user, tenant);
    await readBody(await given.call("PATCH", "", { end_user: "eve", title: "hers", metadata: {} }));
    await readBody(await given.call("PUT", "/pins", { pins: [] }));
    await given.say("hello");
    await readBody(await erased.call("DELETE"));
    const readUsage = async (group: string) =>
      (await readBody<{ data: Record<string, unknown>[] }>(await tenant.call("GET", `/v1/usage?group_by=${group}`))).data;
    await expect
      .poll(async () => (await readUsage("end_user")).map(({ end_user, calls }) => [end_user, calls]))
      .toEqual([
        [user, 4],
        ["eve", 1],
      ]);
    const before = await readUsage("day,model,purpose");

    const erasure = await eraseUser(tenant, user);
    await ringErasures(tenant);

    const done = await readErasure(tenant, erasure.id);
    expect(done).toMatchObject({ status: "done", sessions: { total: 0, done: 0 } });
    expect(done.stores).toContainEqual({ store: "usage_names", status: "erased", pending: 0, note: null });
    expect(await readUsage("day,model,purpose")).toEqual(before);
    expect((await readUsage("end_user")).map(({ end_user, calls }) => [end_user, calls])).toEqual([
      [null, 4],
      ["eve", 1],
    ]);
    const names = await env.DB.prepare("SELECT end_user FROM usage UNION ALL SELECT end_user FROM erased_usage").all();
    expect(JSON.stringify(names.results)).not.toContain(user);
    expect(await readStorage(tenantStub(tenant))).not.toContain(user);
    expect(await readStorage(given.stub)).not.toContain(user);
    const ledger = await readBody<{ data: { end_user: string | null }[] }>(await given.call("GET", "/usage"));
    expect(ledger.data.map(({ end_user }) => end_user)).toEqual([null, null, "eve"]);
    await readBody(await given.call("DELETE"));
    expect(await findMarks([erased, given])).toEqual([]);
  });

  it("leaves sessions that are created after it, and is then another one", async () => {
    const chat = await startChat(user);
    const before = await eraseUser(chat.tenant, user);
    const later = await newChat({ tenant: chat.tenant });
    await readBody(await later.call("PATCH", "", { end_user: user }));

    expect((await later.call("GET")).status).toBe(200);
    const after = await eraseUser(chat.tenant, user);

    expect(after.id).not.toBe(before.id);
    expect(after.sessions).toEqual({ total: 1, done: 1 });
    expect((await later.call("GET")).status).toBe(404);
  });

  it("ends the access tokens that were made for the end user before it", async () => {
    const chat = await startChat(user);
    const make = async (name: string) =>
      (await readBody<{ token: string }>(await chat.tenant.call("POST", "/v1/tokens", { end_user: name }), 201)).token;
    const [key, others] = [await make(user), await make("eve")];
    expect((await request("GET", "/v1/sessions", { key })).status).toBe(200);

    await eraseUser(chat.tenant, user);

    expect((await request("GET", "/v1/sessions", { key })).status).toBe(401);
    expect((await request("GET", "/v1/sessions", { key: others })).status).toBe(200);
  });

  it.each([0, 1, 2, 4])(
    "finishes by the tenant's alarm when every object dies during it, %i calls after it was asked for",
    async (calls) => {
      const first = await startChat(user);
      const { tenant } = first;
      const second = await startChat(user, tenant);
      const asked = eraseUser(tenant, user).catch(() => null);
      for (let call = 0; call < calls; call++) await tenant.call("GET", "/v1/tenant");
      await abortAllDurableObjects();
      await asked;

      // A request that died before its note is sent again, as its client would.
      const list = await readBody<{ data: ErasureView[] }>(await tenant.call("GET", "/v1/erasures"));
      const id = list.data[0]?.id ?? (await eraseUser(tenant, user)).id;
      await ringErasures(tenant);

      expect(await readErasure(tenant, id)).toMatchObject({ status: "done", sessions: { total: 2, done: 2 } });
      expect(await findMarks([first, second])).toEqual([]);
    },
  );

  it("with the read model out of reach empties the objects, runs on, and says so until the alarm has done the rest", async () => {
    const chat = await startChat(user);
    await ringNow(chat.stub);
    vi.spyOn(env.DB, "batch").mockRejectedValue(new Error("gone"));
    vi.spyOn(env.DB, "prepare").mockImplementation(() => {
      throw new Error("gone");
    });

    const erasure = await eraseUser(chat.tenant, user);

    expect(erasure).toMatchObject({ status: "running", done_at: null, sessions: { total: 1, done: 0 } });
    const pending = erasure.stores.filter(({ status }) => status === "pending").map(({ store }) => store);
    expect(pending).toEqual(["read_model", "session_search", "files", "exports", "chat", "directory", "usage_names"]);
    expect(await readStorage(chat.stub)).not.toContain(MARK);
    expect((await chat.call("GET")).status).toBe(404);

    vi.restoreAllMocks();
    await abortAllDurableObjects();
    await ringErasures(chat.tenant);
    expect(await readErasure(chat.tenant, erasure.id)).toMatchObject({ status: "done", sessions: { total: 1, done: 1 } });
    expect(await findMarks([chat])).toEqual([]);
  });
});

describe("the deletion of a tenant", () => {
  const admin = (method: string, path: string) => request(method, `/v1/admin/tenants${path}`, { key: env.ADMIN_KEY ?? "" });

  it("refuses its keys, leaves nothing of it in any store but sums of usage, and stays as a receipt", async () => {
    const chat = await startChat("ada");
    const { tenant } = chat;
    const other = await newChat();
    await readBody(await tenant.call("PATCH", "/v1/tenant", { name: `${MARK} Ltd` }));
    await readBody(await tenant.call("POST", "/v1/keys", { name: `${MARK}-key`, scopes: ["usage:read"] }), 201);
    await readBody(await tenant.call("PUT", `/v1/credentials/${MARK.toLowerCase()}`, { api_key: `sk-${MARK}` }));
    const file = await upload(tenant, png(MARK));

    const erasure = await readBody<ErasureView>(await admin("DELETE", `/${tenant.id}`));

    expect(erasure).toMatchObject({ of: "tenant", target: tenant.id, status: "done", sessions: { total: 1, done: 1 } });
    expect((await tenant.call("GET", "/v1/tenant")).status).toBe(401);
    expect((await other.call("GET")).status).toBe(200);
    expect(await findMarks([chat])).toEqual([]);
    expect(await findMarks([chat], MARK.toLowerCase())).toEqual([]);
    expect((await env.FILES?.list({ prefix: `${tenant.id}/` }))?.objects).toEqual([]);
    expect(file.id).toMatch(/^fil_/);
    await expect
      .poll(async () => (await admin("GET", "?limit=200")).text())
      .toMatch(new RegExp(`"id":"${tenant.id}","name":"",[^}]*deleted_at`));
    expect(await readBody(await admin("GET", `/${tenant.id}/erasures/${erasure.id}`))).toEqual(erasure);
    expect((await readBody<ErasureView>(await admin("DELETE", `/${tenant.id}`))).id).toBe(erasure.id);
    const page = await tenantStub(tenant).keepUsage({ session: chat.id, usage: [] });
    expect(page).toMatchObject({ ok: true, value: [{ model: chat.model.upstream }] });
  });

  it("refuses late writers, and its id is not given out again", async () => {
    const chat = await newChat();
    const { tenant } = chat;
    await readBody(await admin("DELETE", `/${tenant.id}`));

    const stub = tenantStub(tenant);
    const refused = { ok: false, error: { code: "tenant_not_found" } };
    expect(await stub.registerSession({ session: chat.id, idempotency: null })).toEqual(refused);
    expect(await stub.create(ACT, { tenant: tenant.id, name: "again", idempotency: null })).toMatchObject({
      error: { code: "tenant_exists" },
    });
    expect(await stub.resolveModel(chat.model.upstream)).toBeNull();
    expect(await chat.api.open(chat.caller, { ...OPEN })).toMatchObject({ ok: false });
    expect((await admin("GET", `/${tenant.id}`)).status).toBe(404);
    const made = await request("POST", `/v1/admin/tenants/${tenant.id}/keys`, { key: env.ADMIN_KEY ?? "", body: { name: "late" } });
    expect(made.status).toBe(404);
  });

  it("of a tenant that was never made is a 404", async () => {
    expect((await admin("DELETE", `/${newId("ten")}`)).status).toBe(404);
  });
});
