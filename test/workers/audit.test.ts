import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { verifyAudit } from "../../scripts/audit/verify";
import { tenantObjectName } from "../../src/app/object-name";
import type { AuditEntry, AuditPlace } from "../../src/contract/audit";
import type { List } from "../../src/contract/page";
import { ACT } from "../support/act";
import { AUDITED } from "../support/audit-table";
import { migrateAll } from "./moves";
import { newChat, newTenant, readBody, request, type Tenant } from "./support";

beforeAll(migrateAll);

type Page = List<AuditEntry> & { readonly anchor: AuditPlace; readonly head: AuditPlace };

const readAudit = async (tenant: Tenant, query = "?limit=200"): Promise<Page> => readBody(await tenant.call("GET", `/v1/audit${query}`));
const readLines = async (tenant: Tenant): Promise<string> =>
  (await tenant.call("GET", "/v1/audit", undefined, { accept: "application/x-ndjson" })).text();
const findStub = (tenant: Tenant) => env.TENANTS.getByName(tenantObjectName(tenant.id));
const actions = (page: Page): readonly string[] => page.data.map(({ action }) => action).reverse();

const MODEL = { provider: "openai", max_output: 100 };
const TOOL = { description: "d", parameters: { type: "object" }, url: "https://api.example.com/w" };

/** Does everything once that leaves an entry, by its operation. Returns the secrets that it sent. */
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
  ];
  const [keyName, providerKey, description, tenantName, message, reason] = secrets;
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
  await readBody(await admin("POST", "/suspend", { reason }));
  await readBody(await admin("POST", "/resume"));
  await readBody(await admin("POST", "/move", { to: "DB_2" }));
  await readBody(await admin("DELETE", "/move"));
  return [...secrets, made.key, next.key, "https://api.example.com/w"];
}

describe("the audit log of a tenant in its object", () => {
  it("has an entry of each kind of act, in order, from who did it, and verifies from genesis to head", async () => {
    const tenant = await newTenant();
    const secrets = await doEverything(tenant);

    const page = await readAudit(tenant);
    const lines = await readLines(tenant);

    expect(Object.values(AUDITED).filter((action) => !actions(page).includes(action))).toEqual([]);
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
