import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { verifyAudit } from "../../../scripts/audit/verify";
import { tenantObjectName } from "../../../src/app/object-name";
import { pairUserFor } from "../../../src/channel-wiring";
import type { AuditEntry, AuditPlace } from "../../../src/contract/audit";
import type { ExportView, ImportView } from "../../../src/contract/export";
import type { List } from "../../../src/contract/page";
import { CHANNEL_SECRETS } from "../../http/support";
import { ACT } from "../../support/act";
import { AUDITED } from "../../support/audit-table";
import { actInSession } from "../../workers/acts-in-session";
import { ringNow } from "../../workers/alarms";
import { migrateAll } from "../../workers/moves";
import { newChat, newTenant, readBody, request, type Tenant } from "../../workers/support";

beforeAll(migrateAll);

type Page = List<AuditEntry> & { readonly anchor: AuditPlace; readonly head: AuditPlace };

const readAudit = async (tenant: Tenant, query = "?limit=200"): Promise<Page> => readBody(await tenant.call("GET", `/v1/audit${query}`));
const readLines = async (tenant: Tenant): Promise<string> =>
  (await tenant.call("GET", "/v1/audit", undefined, { accept: "application/x-ndjson" })).text();
const findStub = (tenant: Tenant) => env.TENANTS.getByName(tenantObjectName(tenant.id));
const actions = (page: Page): readonly string[] => page.data.map(({ action }) => action).reverse();

const MODEL = { provider: "openai", max_output: 100 };
const TOOL = { description: "d", parameters: { type: "object" }, url: "https://api.example.com/w" };

const endUserChat = async (tenant: Tenant, end_user: string): Promise<string> =>
  (await readBody<{ id: string }>(await tenant.call("POST", "/v1/sessions", { end_user }), 201)).id;

async function makeExport(tenant: Tenant, session_id: string): Promise<ExportView> {
  const { id } = await readBody<ExportView>(await tenant.call("POST", "/v1/exports", { of: "session", session_id }), 202);
  const read = async () => readBody<ExportView>(await tenant.call("GET", `/v1/exports/${id}`));
  for (let rings = 0; rings < 10 && (await read()).download_url === null; rings++) await ringNow(findStub(tenant));
  return read();
}

/** Begins an import of the session in the background, and deletes it. */
async function beginImport(tenant: Tenant, session_id: string): Promise<void> {
  const made = await makeExport(tenant, session_id);
  const begun = await readBody<ImportView>(await tenant.call("POST", "/v1/imports/background", { export_id: made.id }), 202);
  await readBody(await tenant.call("DELETE", `/v1/imports/${begun.id}`));
}

/** Exports the session, opens the file by its signed address, and brings it back. */
async function moveSessions(tenant: Tenant, session_id: string): Promise<void> {
  const { id, download_url } = await makeExport(tenant, session_id);
  const { pathname, search } = new URL(download_url ?? "");
  const file = await (await request("GET", pathname + search, {})).arrayBuffer();
  await readBody(await tenant.call("DELETE", `/v1/exports/${id}`));
  await readBody(await tenant.call("DELETE", `/v1/sessions/${session_id}`));
  const other = await newTenant();
  await readBody(await other.call("POST", "/v1/imports", new Uint8Array(file)));
  expect(actions(await readAudit(other))).toContain("sessions.imported");
}

/** Does everything once that leaves an entry, by its operation. Returns the secrets that it sent. */
/** Everything that can be done to a webhook endpoint. */
async function changeEndpoint(tenant: Tenant): Promise<void> {
  const settings = { url: "http://127.0.0.1:9/hooks", description: "planted-description" };
  const { id } = await readBody<{ id: string }>(await tenant.call("POST", "/v1/webhook_endpoints", settings), 201);
  const path = `/v1/webhook_endpoints/${id}`;
  await readBody(await tenant.call("PATCH", path, { events: ["export.failed"] }));
  await readBody(await tenant.call("POST", `${path}/rotate`, {}));
  const tested = await readBody<{ id: string }>(await tenant.call("POST", `${path}/test`), 202);
  await readBody(await tenant.call("POST", `${path}/deliveries/${tested.id}/replay`), 202);
  await tenant.call("DELETE", path);
}

async function doEverything(tenant: Tenant): Promise<readonly string[]> {
  const admin = (method: string, path: string, body?: unknown) =>
    request(method, `/v1/admin/tenants/${tenant.id}${path}`, { key: env.ADMIN_KEY, body });
  const secrets = [
    "planted-key-name",
    "planted-provider-key",
    "planted-description",
    "planted-tenant-name",
    "planted-message",
    "planted-reason",
    "planted-end-user",
    "planted-in-session",
  ];
  const [keyName, providerKey, description, tenantName, message, reason, endUser = "", inSession = ""] = secrets;
  const made = await readBody<{ id: string; key: string }>(await tenant.call("POST", "/v1/keys", { name: keyName }), 201);
  const next = await readBody<{ id: string; key: string }>(await tenant.call("POST", `/v1/keys/${made.id}/rotate`, {}), 201);
  await readBody(await tenant.call("DELETE", `/v1/keys/${next.id}`));
  await readBody(await tenant.call("PUT", "/v1/credentials/mine", { api_key: providerKey }));
  await readBody(await tenant.call("PUT", "/v1/models/mine", { ...MODEL, credential: "mine" }));
  await readBody(await tenant.call("PUT", "/v1/tools/weather", { ...TOOL, description }));
  await readBody(await tenant.call("PUT", "/v1/mcp_servers/desk", { url: `${inject("toolServer")}/mcp` }));
  await readBody(await tenant.call("POST", "/v1/mcp_servers/desk/refresh"));
  await readBody(await tenant.call("PATCH", "/v1/tenant", { name: tenantName, default_policy: "economy" }));
  await readBody(await tenant.call("PUT", "/v1/retention", { erase_sessions_after_days: 365 }));
  await changeEndpoint(tenant);
  const sealed = await findStub(tenant).sealedCredentials();
  if (!sealed.ok) throw new Error(sealed.error.code);
  await findStub(tenant).replaceSealed(
    ACT,
    sealed.value.map(({ name, sealed: before }) => ({ name, before, after: before })),
  );
  await findStub(tenant).projectAgain(ACT);
  await readBody(await tenant.call("DELETE", "/v1/models/mine"));
  await tenant.call("DELETE", "/v1/credentials/mine");
  await tenant.call("DELETE", "/v1/tools/weather");
  await tenant.call("DELETE", "/v1/mcp_servers/desk");
  await actInChannel(tenant);
  const file = await readBody<{ id: string }>(
    await request("POST", "/v1/files", {
      key: tenant.key,
      body: new TextEncoder().encode("hi"),
      headers: { "content-type": "text/plain" },
    }),
    201,
  );
  await readBody(await tenant.call("DELETE", `/v1/files/${file.id}`));
  const chat = await newChat({ tenant });
  await chat.say(message ?? "");
  await readBody(await admin("GET", `/sessions/${chat.id}/log`));
  await readBody(await admin("POST", `/sessions/${chat.id}/rebuild`));
  await actInSession(tenant, inSession);
  await beginImport(tenant, chat.id);
  await moveSessions(tenant, await endUserChat(tenant, endUser));
  await readBody(await tenant.call("DELETE", `/v1/end-users/${endUser}`));
  await readBody(await tenant.call("DELETE", `/v1/sessions/${chat.id}`));
  await readBody(await admin("POST", "/suspend", { reason }));
  await readBody(await admin("POST", "/resume"));
  await readBody(await admin("PATCH", "", { limits: { tenant: { files: 100 } } }));
  await readBody(await admin("POST", "/move", { to: "DB_2" }));
  await readBody(await admin("DELETE", "/move"));
  return [...secrets, "planted-user", CHANNEL_SECRETS.secret, made.key, next.key, "https://api.example.com/w"];
}

async function actInChannel(tenant: Tenant): Promise<void> {
  const input = { type: "generic", credentials: CHANNEL_SECRETS, access: { mode: "pairing" } };
  await readBody(await tenant.call("PUT", "/v1/channels/support", input));
  const { code } = await readBody<{ code: string }>(await tenant.call("POST", "/v1/channels/support/pairing-codes"), 201);
  await pairUserFor(env)({ tenant: tenant.id, channel: "support", code, user: "planted-user" });
  await tenant.call("DELETE", "/v1/channels/support/users/planted-user");
  await tenant.call("DELETE", "/v1/channels/support");
}

describe("the audit log of a tenant in its object", () => {
  it("has an entry of each kind of act, in order, from who did it, and verifies from genesis to head", async () => {
    const tenant = await newTenant();
    const secrets = await doEverything(tenant);

    const page = await readAudit(tenant);
    const lines = await readLines(tenant);

    const elsewhere = ["sessions.imported"];
    expect(Object.values(AUDITED).filter((action) => !actions(page).includes(action))).toEqual(elsewhere);
    expect(verifyAudit(lines, page.head)).toMatchObject({ ok: true, entries: page.data.length });
    expect(page.data.find(({ action }) => action === "tenant.created")).toMatchObject({
      seq: 1,
      actor: { kind: "admin", id: null },
      target: { type: "tenant", id: tenant.id },
    });
    expect(page.data.find(({ action }) => action === "model.put")?.actor).toMatchObject({
      kind: "key",
      id: expect.stringMatching(/^key_/),
    });
    for (const secret of secrets) expect(lines).not.toContain(secret);
  });

  it("names the request by the id that its answer has", async () => {
    const tenant = await newTenant();
    const put = await tenant.call("PUT", "/v1/models/mine", MODEL, { "x-request-id": "audit-1" });

    const { data } = await readAudit(tenant, "?limit=1");

    expect([put.headers.get("x-request-id"), data[0]?.request_id]).toEqual(["audit-1", "audit-1"]);
    expect(data[0]).toMatchObject({ target: { id: "mine" }, details: { fields: expect.arrayContaining(["provider", "max_output"]) } });
  });

  it("has nothing of an act that was refused or repeated", async () => {
    const tenant = await newTenant();
    const key = await readBody<{ id: string }>(await tenant.call("POST", "/v1/keys", { name: "x" }, { "Idempotency-Key": "once" }), 201);
    await readBody(await tenant.call("DELETE", `/v1/keys/${key.id}`));
    const before = await readAudit(tenant);

    const statuses = [
      await tenant.call("POST", "/v1/keys", { name: "x" }, { "Idempotency-Key": "once" }),
      await tenant.call("DELETE", `/v1/keys/${key.id}`),
      await tenant.call("DELETE", "/v1/models/none"),
      await tenant.call("DELETE", "/v1/credentials/none"),
      await tenant.call("DELETE", "/v1/tools/none"),
      await tenant.call("PATCH", "/v1/tenant", { default_model: "none" }),
      await tenant.call("PUT", "/v1/models/mine", MODEL, { "If-Match": '"other"' }),
      await tenant.call("POST", `/v1/keys/${key.id}/rotate`, {}),
    ].map(({ status }) => status);

    expect(statuses).toEqual([201, 200, 404, 404, 404, 400, 412, 409]);
    expect((await readAudit(tenant)).head).toEqual(before.head);
  });

  it("rolls an act back whose entry cannot be written", async () => {
    const tenant = await newTenant();
    await runInDurableObject(findStub(tenant), (_, { storage }) => {
      storage.sql.exec("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'disk full'); END");
    });

    expect((await tenant.call("PUT", "/v1/tools/weather", TOOL)).status).toBe(500);
    expect((await tenant.call("GET", "/v1/tools/weather")).status).toBe(404);
  });

  it("has one entry of a call that was repeated because its answer was lost, and two of two requests with one id", async () => {
    const tenant = await newTenant();
    const act = { ...ACT, nonce: "once" };
    for (let times = 0; times < 2; times++) {
      await findStub(tenant).putCredential(act, { name: "mine", sealed: { kid: "k", wrapped_key: "w", sealed: "s" } });
      await evictDurableObject(findStub(tenant));
    }
    const repeated = await readAudit(tenant, "?action=credential.put");
    for (const name of ["a", "a"]) await tenant.call("PUT", `/v1/models/${name}`, MODEL, { "x-request-id": "chosen" });

    expect(repeated.data).toHaveLength(1);
    expect((await readAudit(tenant, "?action=model.put")).data).toHaveLength(2);
  });

  it("says who asked for an erasure once, and when it was finished, however often it is asked for", async () => {
    const chat = await newChat();
    const { tenant } = chat;
    for (let times = 0; times < 2; times++) await readBody(await tenant.call("DELETE", `/v1/sessions/${chat.id}`));

    const { data } = await readAudit(tenant, "?limit=2");

    expect(data).toMatchObject([
      { action: "erasure.finished", target: { type: "session", id: chat.id }, actor: { kind: "system" } },
      { action: "erasure.requested", target: { type: "session", id: chat.id }, actor: { kind: "key" }, details: { forks: false } },
    ]);
    expect(data[0]?.details.erasure).toBe(data[1]?.details.erasure);
  });

  it("names an access token with the key that made it", async () => {
    const chat = await newChat();
    const token = await readBody<{ id: string; token: string }>(await chat.tenant.call("POST", "/v1/tokens", { session_id: chat.id }), 201);
    await chat.say("hello");
    await readBody(await request("POST", `/v1/sessions/${chat.id}/branches`, { key: token.token, body: { to: 0 } }), 201);

    const { data } = await readAudit(chat.tenant, "?limit=1");

    expect(data).toMatchObject([
      {
        action: "session.rewound",
        actor: { kind: "access_token", id: token.id, key: expect.stringMatching(/^key_/) },
        target: { id: chat.id },
      },
    ]);
  });

  it("has an act in a session when the tenant's object comes back, and once, and before the session is gone", async () => {
    const chat = await newChat();
    const { tenant } = chat;
    const isAway = (away: boolean) =>
      runInDurableObject(findStub(tenant), (_, { storage: { sql } }) => {
        sql.exec("DROP TRIGGER IF EXISTS away");
        if (away) sql.exec("CREATE TRIGGER away BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'away'); END");
      });
    await isAway(true);
    await readBody(await chat.call("PUT", "/pins", { pins: ["x"] }));
    const before = await readAudit(tenant, "?action=pins.set");
    await isAway(false);
    await readBody(await tenant.call("DELETE", `/v1/sessions/${chat.id}`));

    const { data } = await readAudit(tenant, `?target=${chat.id}&order=asc`);
    expect(before.data).toEqual([]);
    expect(data.map(({ action }) => action)).toEqual(["erasure.requested", "pins.set", "erasure.finished"]);
    expect(data[1]?.recorded_at).toBeGreaterThan(data[1]?.at ?? Number.POSITIVE_INFINITY);
  });

  it("opens an export only with an entry, and names a signed address where there is no key", async () => {
    const tenant = await newTenant();
    await moveSessions(tenant, await endUserChat(tenant, "ada"));

    const { data } = await readAudit(tenant, "?action=export.opened");

    expect(data).toMatchObject([{ actor: { kind: "signed_address", id: null }, target: { type: "export" } }]);
  });

  it("of a deleted tenant keeps the place of its last entry, and the deletion", async () => {
    const tenant = await newTenant();
    await readBody(await tenant.call("PUT", "/v1/tools/secret-name", TOOL));
    const before = await readAudit(tenant);
    await readBody(await request("DELETE", `/v1/admin/tenants/${tenant.id}`, { key: env.ADMIN_KEY }));

    const { anchor, entries } = await runInDurableObject(findStub(tenant), (_, { storage: { sql } }) => ({
      anchor: sql.exec("SELECT seq, hash FROM audit_anchor").one(),
      entries: sql
        .exec<{ entry: string }>("SELECT entry FROM audit ORDER BY seq")
        .toArray()
        .map((row) => row.entry),
    }));

    expect(anchor).toEqual(before.head);
    expect(entries.map((entry) => JSON.parse(entry))).toMatchObject([
      { prev: before.head.hash, action: "erasure.requested", actor: { kind: "admin" }, target: { type: "tenant", id: tenant.id } },
      { action: "erasure.finished" },
    ]);
    expect(entries.join()).not.toContain("secret-name");
  });

  it("goes on after its object was lost, and chat leaves nothing in it", async () => {
    const tenant = await newTenant();
    const chat = await newChat({ tenant });
    const before = await readAudit(tenant);

    await chat.say("hello");
    await evictDurableObject(findStub(tenant));
    await chat.say("again");
    const { head } = await readAudit(tenant);
    await tenant.call("PUT", "/v1/tools/weather", TOOL);

    expect(head).toEqual(before.head);
    expect((await readAudit(tenant, "?limit=1")).data).toMatchObject([{ seq: head.seq + 1, prev: head.hash }]);
  });

  it("is filtered, and paged in either order", async () => {
    const tenant = await newTenant();
    for (const name of ["a", "b", "a"]) await readBody(await tenant.call("PUT", `/v1/models/${name}`, MODEL));

    const ofA = await readAudit(tenant, "?target=a");
    const first = await readAudit(tenant, "?order=asc&limit=2");
    const rest = await readAudit(tenant, `?order=asc&after=${first.next_cursor}`);

    expect(ofA.data.map(({ seq }) => seq)).toEqual([5, 3]);
    expect([...first.data, ...rest.data].map(({ action }) => action)).toEqual([
      "tenant.created",
      "key.created",
      "model.put",
      "model.put",
      "model.put",
    ]);
    expect((await readAudit(tenant, `?actor=${ofA.data[0]?.actor.id}&action=model.put&from=1&to=2`)).data).toEqual([]);
  });

  it("is another tenant's in no way", async () => {
    const [one, other] = [await newTenant(), await newTenant()];
    await readBody(await one.call("PUT", "/v1/models/secret-name", MODEL));

    expect(await readLines(other)).not.toContain("secret-name");
    expect(verifyAudit((await readLines(one)).replaceAll(one.id, other.id))).toMatchObject({ ok: false });
  });
});
