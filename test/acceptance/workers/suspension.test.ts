/** A suspended tenant: every route of it refuses every credential, turns end, and nothing is lost. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { listAll, sampleBody, sampleQuery, world } from "../../http/support";
import { upload } from "../../workers/files";
import { type Chat, migrate, newChat, newId, newTenant, readBody, request, type Tenant } from "../../workers/support";

const admin = (method: string, path: string, body?: unknown) => request(method, path, { key: env.ADMIN_KEY, body });
const suspend = (tenant: Tenant, body: object = {}) => admin("POST", `/v1/admin/tenants/${tenant.id}/suspend`, body);
const resume = (tenant: Tenant) => admin("POST", `/v1/admin/tenants/${tenant.id}/resume`);
const SUSPENDED = "urn:longhand:problem:tenant_suspended";

/** What needs a tenant: no admin's route, and none of the service itself. */
const routes = listAll(world().app).filter(({ path }) => /^\/(v1|api|mcp)/.test(path) && !path.startsWith("/v1/admin/"));

beforeAll(migrate);

describe("a suspension", () => {
  it("that is repeated keeps its first time and reason, and so does a resumption", async () => {
    const tenant = await newTenant();

    const first = await readBody(await suspend(tenant, { reason: "unpaid" }));
    const again = await readBody(await suspend(tenant, { reason: "another" }));
    expect(first).toEqual({ id: tenant.id, status: "suspended", suspended_at: expect.any(Number), reason: "unpaid" });
    expect(again).toEqual(first);

    const active = { id: tenant.id, status: "active", suspended_at: null, reason: null };
    expect([await readBody(await resume(tenant)), await readBody(await resume(tenant))]).toEqual([active, active]);
  });

  it("is in the list of tenants, and in the tenant as an admin reads it", async () => {
    const tenant = await newTenant();
    await suspend(tenant);
    const ids = async (status: string) =>
      (await readBody<{ data: { id: string }[] }>(await admin("GET", `/v1/admin/tenants?status=${status}&limit=200`))).data.map(
        ({ id }) => id,
      );

    expect(await ids("suspended")).toContain(tenant.id);
    expect(await ids("active")).not.toContain(tenant.id);
    expect(await readBody(await admin("GET", `/v1/admin/tenants/${tenant.id}`))).toMatchObject({ status: "suspended" });
    await resume(tenant);
    expect(await ids("suspended")).not.toContain(tenant.id);
  });

  it("of no tenant is a 404", async () => {
    const path = `/v1/admin/tenants/${newId("ten")}`;

    expect((await admin("POST", `${path}/suspend`, {})).status).toBe(404);
    expect((await admin("POST", `${path}/resume`)).status).toBe(404);
  });
});

describe("a turn that runs", () => {
  it("ends as suspended with what was said, and is retried after the resumption", async () => {
    const chat = await newChat({ replies: [{ text: "Once upon a time", gate: "wait" }, { text: "The end." }] });
    const { turn_id } = await chat.post("Tell me");
    await chat.model.heard(1);

    await readBody(await suspend(chat.tenant));
    const ended = await chat.ended(turn_id);
    expect(ended).toMatchObject({ status: "failed", failure: { kind: "suspended" } });
    expect((await chat.call("POST", "/retry", {})).status).toBe(403);

    await readBody(await resume(chat.tenant));
    expect(await readBody(await chat.call("POST", "/retry", {}))).toMatchObject({ status: "completed", output_text: "The end." });
  }, 30_000);
});

describe("while a tenant is suspended", () => {
  let chat: Chat;
  let token: string;
  let signed: string;
  let ids: Readonly<Record<string, string>>;
  const absent: Readonly<Record<string, string>> = { session_id: newId("ses"), turn_id: newId("trn"), message_id: newId("msg") };

  beforeAll(async () => {
    chat = await newChat({ replies: [{ text: "Hi" }] });
    const turn = await chat.say("hello");
    token = (await readBody<{ token: string }>(await chat.tenant.call("POST", "/v1/tokens", { session_id: chat.id }), 201)).token;
    ids = { session_id: chat.id, turn_id: turn.id, message_id: turn.message_id ?? "" };
    const file = await upload(chat.tenant, new TextEncoder().encode("A text"));
    const { url } = await readBody<{ url: string }>(await chat.tenant.call("POST", `/v1/files/${file.id}/url`, {}));
    signed = new URL(url).pathname + new URL(url).search;
    expect((await request("GET", signed, {})).status).toBe(200);
    await readBody(await suspend(chat.tenant));
  });

  const others: Readonly<Record<string, string>> = {
    compaction_id: newId("cmp"),
    execution_id: newId("exe"),
    key_id: newId("key"),
    file_id: newId("fil"),
    branch: "1",
    conversation_id: `conv_${newId("ses").slice(4)}`,
    response_id: `resp_${newId("ses").slice(4)}${newId("trn").slice(4)}`,
    item_id: newId("msg"),
  };
  const fill = (path: string, own: Readonly<Record<string, string>>) =>
    path.replace(/:([a-z_]+)/g, (_, name: string) => own[name] ?? others[name] ?? "a-name") + sampleQuery(path);

  async function ask(route: (typeof routes)[number], key: string, own: Readonly<Record<string, string>>) {
    const body = route.method === "GET" || route.method === "DELETE" ? undefined : sampleBody(route);
    const path = fill(route.path, own);
    if (!path.startsWith("/api/")) return request(route.method, path, { key, ...(body !== undefined && { body }) });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const init = { method: route.method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    return exports.default.fetch(new Request(`https://longhand.test${path}`, init));
  }

  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s refuses the key and the access token, whatever is named, and appends nothing",
    async (_, route) => {
      const before = await chat.api.events(chat.caller, { after: 0, limit: 200, order: "asc" });

      const answers = await Promise.all([ask(route, chat.tenant.key, ids), ask(route, chat.tenant.key, absent), ask(route, token, ids)]);

      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
      const [one, other] = await Promise.all(answers.slice(0, 2).map((answer) => answer.text()));
      const hide = (text = "") =>
        text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|"req_[^"]*"/g, "REQUEST").replaceAll(/ses_\w+|trn_\w+|msg_\w+/g, "ID");
      expect(hide(one)).toBe(hide(other));
      expect(one).toMatch(/suspended/);
      expect(await chat.api.events(chat.caller, { after: 0, limit: 200, order: "asc" })).toEqual(before);
    },
  );

  it("a made-up key is still unknown, and admins still reach the tenant", async () => {
    const made = chat.tenant.key.replace(/.$/, (last) => (last === "a" ? "b" : "a"));

    expect((await request("GET", "/v1/tenant", { key: made })).status).toBe(401);
    expect((await admin("GET", `/v1/admin/tenants/${chat.tenant.id}`)).status).toBe(200);
  });

  it("a signed address of a file opens nothing, and neither does a key that an admin makes meanwhile", async () => {
    expect((await request("GET", signed, {})).status).toBe(403);
    const key = await readBody<{ key: string }>(await admin("POST", `/v1/admin/tenants/${chat.tenant.id}/keys`, { name: "new" }), 201);

    expect(await readBody(await request("GET", "/v1/tenant", { key: key.key }), 403)).toMatchObject({ type: SUSPENDED });
  });

  it("everything is as it was after the resumption", async () => {
    await readBody(await resume(chat.tenant));

    expect((await chat.items()).map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect((await request("GET", `/v1/sessions/${chat.id}`, { key: token })).status).toBe(200);
    await readBody(await suspend(chat.tenant));
  });
});
