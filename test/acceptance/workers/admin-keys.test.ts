/** Admin keys at the running Worker: every admin operation with each role, and a key's life. */
import { abortAllDurableObjects, createExecutionContext, listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { DEPLOYMENT_OBJECT_NAME } from "../../../src/app/object-name";
import type { AdminKeyView } from "../../../src/contract/deployment";
import { generateAdminKey } from "../../../src/deployment/admin-key";
import { ADMIN_ROLES, type AdminRole, includesRole } from "../../../src/domain/admin-roles";
import worker from "../../../src/index";
import { sampleBody } from "../../http/support";
import { ACT } from "../../support/act";
import { PATIENCE_MS } from "../../support/read-seed";
import { advanceClock } from "../../workers/clock";
import { type Chat, migrate, newChat, newId, readBody, readStorage, request } from "../../workers/support";

type NewKey = AdminKeyView & { readonly key: string };

interface Operation {
  readonly operationId: string;
  readonly security: readonly { readonly admin_key?: readonly AdminRole[] }[];
}

/** Every admin operation, the role that it needs, and what its answer is to a sufficient one. */
const OPERATIONS: Readonly<Record<string, readonly [role: AdminRole, status: number]>> = {
  listTenants: ["read", 200],
  getTenantExport: ["read", 200],
  listTenantSessions: ["read", 200],
  listDatabases: ["read", 200],
  getTenantMove: ["read", 200],
  createTenant: ["operate", 201],
  createTenantKey: ["operate", 201],
  deleteTenant: ["own", 404],
  suspendTenant: ["operate", 404],
  resumeTenant: ["operate", 404],
  assignPlan: ["operate", 404],
  getTenantErasure: ["read", 404],
  listPlans: ["read", 200],
  listDeploymentAudit: ["read", 200],
  getPlan: ["read", 404],
  putPlan: ["operate", 200],
  deletePlan: ["operate", 404],
  rebuildTenantList: ["operate", 200],
  rebuildTenant: ["operate", 200],
  rebuildSession: ["operate", 200],
  rotateCredentials: ["operate", 200],
  // The tests' second database has no tables.
  moveTenant: ["operate", 400],
  cancelTenantMove: ["operate", 200],
  exportSessionLog: ["own", 200],
  listAdminKeys: ["own", 200],
  createAdminKey: ["own", 201],
  getAdminKey: ["own", 404],
  revokeAdminKey: ["own", 404],
  rotateAdminKey: ["own", 404],
};

/** Operations that would leave the walk without its tenant. */
const OF_A_TENANT_OF_ITS_OWN = new Set(["deleteTenant", "suspendTenant", "resumeTenant", "assignPlan"]);

const document = await readBody<{ paths: Record<string, Record<string, Operation>> }>(await request("GET", "/openapi.json", {}));
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(() => path.startsWith("/v1/admin/"))
    .map(([method, { operationId, security }]) => ({ method: method.toUpperCase(), path, operationId, role: security[0]?.admin_key?.[0] })),
);

let chat: Chat;
const keys = new Map<AdminRole, string>();
const deployment = () => env.DEPLOYMENT.getByName(DEPLOYMENT_OBJECT_NAME);

async function makeKey(body: object, key: string = env.ADMIN_KEY, headers: Readonly<Record<string, string>> = {}): Promise<NewKey> {
  return readBody(await request("POST", "/v1/admin/keys", { key, body: { name: "some", role: "own", ...body }, headers }), 201);
}

const readStatus = async (key: string, path = "/v1/admin/tenants?limit=1", method = "GET") => (await request(method, path, { key })).status;
const readKey = async (id: string): Promise<AdminKeyView> => readBody(await request("GET", `/v1/admin/keys/${id}`, { key: env.ADMIN_KEY }));

beforeAll(async () => {
  await migrate();
  chat = await newChat();
  await chat.append("My locker code is 7719-B.");
  for (const role of ADMIN_ROLES) keys.set(role, (await makeKey({ role })).key);
}, PATIENCE_MS);
afterEach(() => vi.restoreAllMocks());

describe("every admin operation", () => {
  it("states its role in the document", () => {
    const stated = Object.fromEntries(operations.map(({ operationId, role }) => [operationId, role]));

    expect(stated).toEqual(Object.fromEntries(Object.entries(OPERATIONS).map(([name, [role]]) => [name, role])));
  });

  describe.each(operations.map((operation) => [operation.operationId, operation] as const))("%s", (name, { method, path }) => {
    const [needed = "own", status = 0] = OPERATIONS[name] ?? [];
    const ids: Readonly<Record<string, () => string>> = {
      tenant_id: () => (OF_A_TENANT_OF_ITS_OWN.has(name) ? newId("ten") : chat.tenant.id),
      session_id: () => chat.id,
      key_id: () => newId("adm"),
      erasure_id: () => newId("era"),
      plan_name: () => (name === "putPlan" ? "walked" : "absent"),
    };
    const body = sampleBody({ method, path: path.replace(/\{([a-z_]+)\}/g, ":$1") });
    const ask = (key: string) =>
      request(
        method,
        path.replace(/\{([a-z_]+)\}/g, (_, id: string) => ids[id]?.() ?? ""),
        { key, body },
      );

    it.each(ADMIN_ROLES)("with the role %s", async (role) => {
      const answer = await ask(keys.get(role) ?? "");

      if (includesRole(role, needed)) return expect(answer.status).toBe(status);
      expect(answer.status).toBe(403);
      expect(answer.headers.get("www-authenticate")).toBe(`Bearer error="insufficient_scope", scope="${needed}"`);
      expect(await answer.json()).toMatchObject({ type: "urn:longhand:problem:role_missing", role: needed });
    });

    it("with ADMIN_KEY, a tenant's key and no valid key", async () => {
      const invented = await generateAdminKey("dev", "another deployment's pepper");
      const wrong = [chat.tenant.key, invented, `${keys.get("own")}x`, "lhadm_dev_", "x"];

      expect((await ask(env.ADMIN_KEY)).status).toBe(status);
      for (const key of wrong) expect([key.slice(0, 12), (await ask(key)).status]).toEqual([key.slice(0, 12), 401]);
    });
  });
});

describe("content", () => {
  it("of a session's rows is hidden in a repair's report from all but owners", async () => {
    const repair = async (role: AdminRole) => {
      await env.DB.prepare("UPDATE messages SET content = 'planted text' WHERE session_id = ?").bind(chat.id).run();
      const path = `/v1/admin/tenants/${chat.tenant.id}/sessions/${chat.id}/rebuild`;
      return (await request("POST", path, { key: keys.get(role) ?? "" })).text();
    };
    await repair("own");

    const [shown, hidden] = [await repair("own"), await repair("operate")];

    expect([shown.includes("planted text"), shown.includes("7719-B")]).toEqual([true, true]);
    expect([hidden.includes("planted text"), hidden.includes("7719-B")]).toEqual([false, false]);
    expect(JSON.parse(hidden)).toMatchObject({
      repaired: true,
      differences: [{ table: "messages", column: "content", before: "[hidden]", after: "[hidden]" }],
    });
  });
});

describe("an admin key", () => {
  it("is stored as a hash alone", async () => {
    const { key } = await makeKey({ role: "read" });

    const stored = await readStorage(deployment());

    expect(stored).toContain('"role":"read"');
    expect(stored).not.toContain(key.split("_")[2]);
  });

  it("opens nothing of a tenant", async () => {
    expect(await readStatus(keys.get("own") ?? "", "/v1/tenant")).toBe(401);
  });

  it("that was revoked is refused at once by the isolate that revoked it", async () => {
    const { id, key } = await makeKey({ role: "read" });
    expect(await readStatus(key)).toBe(200);

    const revoked = await readBody<AdminKeyView>(await request("DELETE", `/v1/admin/keys/${id}`, { key: keys.get("own") ?? "" }));

    expect(revoked).toMatchObject({ id, revoked_at: expect.any(Number), revoked_by: expect.stringMatching(/^adm_/) });
    expect(await readStatus(key)).toBe(401);
  });

  it("that another isolate revoked is refused after 30 seconds", async () => {
    const { id, key } = await makeKey({ role: "read" });
    expect(await readStatus(key)).toBe(200);
    await deployment().revokeAdminKey(ACT, { id, by: null, hasAdminKey: true });

    advanceClock(29_000);
    expect(await readStatus(key)).toBe(200);
    advanceClock(1_000);
    expect(await readStatus(key)).toBe(401);
  });

  it("is refused from its end on, remembered or not", async () => {
    const { key } = await makeKey({ role: "read", expires_at: Date.now() + 10_000 });
    expect(await readStatus(key)).toBe(200);

    advanceClock(10_000);

    expect(await readStatus(key)).toBe(401);
  });

  it("is made once for an Idempotency-Key, and shown once", async () => {
    const headers = { "idempotency-key": newId("key") };
    const first = await makeKey({ role: "read" }, env.ADMIN_KEY, headers);

    const again = await makeKey({ role: "read" }, env.ADMIN_KEY, headers);

    expect([first.key, again]).toEqual([expect.stringMatching(/^lhadm_/), { ...first, key: null }]);
  });

  it("says when it was last used, to within two minutes", async () => {
    const { id, key } = await makeKey({ role: "read" });
    expect((await readKey(id)).last_used_at).toBeNull();

    await readStatus(key);
    await vi.waitUntil(async () => (await readKey(id)).last_used_at !== null);
    const first = (await readKey(id)).last_used_at ?? 0;
    advanceClock(120_000);
    await readStatus(key);
    await vi.waitUntil(async () => (await readKey(id)).last_used_at !== first);

    expect((await readKey(id)).last_used_at).toBeGreaterThanOrEqual(first + 120_000);
  });

  it("survives the death of the deployment's object", async () => {
    const { id, key } = await makeKey({ role: "read" });
    await abortAllDurableObjects();

    expect(await readStatus(key)).toBe(200);
    expect(await readKey(id)).toMatchObject({ id, role: "read" });
  });

  it("that outlives its maker is refused, and so is what outlives the one that revokes", async () => {
    const short = await makeKey({ expires_at: Date.now() + 60_000 });
    const long = await makeKey({});
    const ask = async (method: string, path: string, body?: unknown) =>
      (await request(method, `/v1/admin/keys${path}`, { key: short.key, body })).json<{ type: string; errors: unknown }>();

    expect(await ask("POST", "", { name: "x", role: "read", expires_at: null })).toMatchObject({
      type: "urn:longhand:problem:beyond_own_key",
      errors: [{ field: "expires_at" }],
    });
    const beyond = { type: "urn:longhand:problem:beyond_own_key", errors: [{ field: "key_id" }] };
    expect(await ask("DELETE", `/${long.id}`)).toMatchObject(beyond);
    expect(await ask("POST", `/${long.id}/rotate`, {})).toMatchObject(beyond);
    // Without a wish, the new key ends when its maker ends.
    expect((await makeKey({ role: "read" }, short.key)).expires_at).toBe(short.expires_at);
  });

  it("with an end in the past is refused", async () => {
    const past = { name: "x", role: "read", expires_at: 1 };

    expect((await request("POST", "/v1/admin/keys", { key: env.ADMIN_KEY, body: past })).status).toBe(400);
  });
});

describe("a rotation", () => {
  it("lets both keys in during the overlap, and then the new one alone", async () => {
    const old = await makeKey({ role: "read", name: "monitor" });
    expect(await readStatus(old.key)).toBe(200);

    const rotated = await request("POST", `/v1/admin/keys/${old.id}/rotate`, { key: env.ADMIN_KEY, body: { overlap_seconds: 600 } });
    const next = await readBody<NewKey>(rotated, 201);

    expect(next).toMatchObject({ name: "monitor", role: "read", rotated_from: old.id, expires_at: null });
    expect(await readKey(old.id)).toMatchObject({ rotated_to: next.id });
    expect([await readStatus(old.key), await readStatus(next.key)]).toEqual([200, 200]);
    advanceClock(600_000);
    expect([await readStatus(old.key), await readStatus(next.key)]).toEqual([401, 200]);
  });

  it("without an overlap ends the old key at once, and is done once for an Idempotency-Key", async () => {
    const old = await makeKey({ role: "read" });
    expect(await readStatus(old.key)).toBe(200);
    const rotate = (headers = {}) =>
      request("POST", `/v1/admin/keys/${old.id}/rotate`, { key: env.ADMIN_KEY, body: { overlap_seconds: 0 }, headers });
    const headers = { "idempotency-key": newId("key") };

    const next = await readBody<NewKey>(await rotate(headers), 201);
    const again = await rotate(headers);

    expect(await readStatus(old.key)).toBe(401);
    expect([again.headers.get("idempotent-replayed"), await again.json()]).toEqual(["true", { ...next, key: null }]);
    expect(await (await rotate()).json()).toMatchObject({ type: "urn:longhand:problem:key_ended", became: "rotated", rotated_to: next.id });
  });
});

describe("without ADMIN_KEY", () => {
  const { ADMIN_KEY: _unset, ...without } = env;
  const send = (asked: Request<unknown, IncomingRequestCfProperties>) => worker.fetch(asked, without, createExecutionContext());

  it("the last owner is not revoked, and the first key opens nothing any more", async () => {
    await runInDurableObject(deployment(), (_, { storage }) => void storage.sql.exec("DELETE FROM admin_keys WHERE role = 'own'"));
    const { id, key } = await makeKey({});
    const revoke = () => request("DELETE", `/v1/admin/keys/${id}`, { key, send });

    expect((await request("GET", "/v1/admin/keys", { key: env.ADMIN_KEY, send })).status).toBe(401);
    const refused = await revoke();
    expect([refused.status, await refused.json()]).toMatchObject([409, { type: "urn:longhand:problem:last_owner" }]);
    const other = await readBody<NewKey>(await request("POST", "/v1/admin/keys", { key, body: { name: "x", role: "own" }, send }), 201);
    expect((await revoke()).status).toBe(200);
    expect((await request("GET", "/v1/admin/keys", { key: other.key, send })).status).toBe(200);
  });
});

describe("refusals", () => {
  it("the bound of valid keys is exact", async () => {
    const stored = (sql: string) => runInDurableObject(deployment(), (_, { storage }) => void storage.sql.exec(sql));
    await stored(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO admin_keys (id, hash, name, role, created_at) SELECT 'adm_' || printf('%026d', i), 'filler' || i, 'filler', 'read', 1 FROM n`);
    const refuse = async (path: string, body: object) =>
      (await request("POST", `/v1/admin/keys${path}`, { key: env.ADMIN_KEY, body })).json<{ type: string; limit: number }>();
    const limit = { type: "urn:longhand:problem:key_limit", limit: 100 };

    expect(await refuse("", { name: "x", role: "read" })).toMatchObject(limit);
    expect(await refuse(`/adm_${"1".padStart(26, "0")}/rotate`, {})).toMatchObject(limit);
    await stored("DELETE FROM admin_keys WHERE name = 'filler'");
  });
});

it("an invented key makes no object, and asks none", async () => {
  await abortAllDurableObjects();
  const before = await listDurableObjectIds(env.DEPLOYMENT);
  for (let n = 0; n < 20; n++) expect(await readStatus(await generateAdminKey("dev", "another pepper"))).toBe(401);

  expect(await listDurableObjectIds(env.DEPLOYMENT)).toEqual(before);
});
