/** The deployment's audit log: what admins do to it and to tenants, in the deployment's object, whatever is away or lost. */
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { ulid } from "ulidx";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { verifyAudit } from "../../../scripts/audit/verify";
import { DEPLOYMENT_OBJECT_NAME, tenantObjectName } from "../../../src/app/object-name";
import type { AuditEntry, AuditPlace } from "../../../src/contract/audit";
import type { AdminKeyView } from "../../../src/contract/deployment";
import type { List } from "../../../src/contract/page";
import type { TenantId } from "../../../src/domain/ids";
import { AUDITED_OF_DEPLOYMENT } from "../../support/audit-table";
import { ringNow } from "../../workers/alarms";
import { advanceClock } from "../../workers/clock";
import { migrateAll } from "../../workers/moves";
import { newChat, newTenant, readBody, request, Tenant } from "../../workers/support";

type Page = List<AuditEntry> & { readonly anchor: AuditPlace; readonly head: AuditPlace };

const LINES = { accept: "application/x-ndjson" };
const deployment = () => env.DEPLOYMENT.getByName(DEPLOYMENT_OBJECT_NAME);
const findStub = ({ id }: Tenant) => env.TENANTS.getByName(tenantObjectName(id));
const asAdmin = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
  request(method, `/v1/admin${path}`, { key: env.ADMIN_KEY, body, headers });
const readLog = async (query = ""): Promise<Page> => readBody(await asAdmin("GET", `/audit?limit=200${query}`));
const actionsOn = async (target: string): Promise<readonly string[]> =>
  (await readLog(`&target=${target}&order=asc`)).data.map(({ action }) => action);

/** While it is away, the deployment's object takes no entry. */
const isAway = (away: boolean) =>
  runInDurableObject(deployment(), (_, { storage: { sql } }) => {
    sql.exec("DROP TRIGGER IF EXISTS away");
    if (away) sql.exec("CREATE TRIGGER away BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'away'); END");
  });

beforeAll(migrateAll);
afterEach(() => vi.restoreAllMocks());

/** Runs every operation of admins that leaves an entry, each under its own name as the request's id. */
async function operateAll(key: string): Promise<{ readonly tenant: TenantId; readonly session: string }> {
  const act = async <T>(
    operation: string,
    method: string,
    path: string,
    { body, status = 200 }: { body?: unknown; status?: number } = {},
  ) => {
    const response = await request(method, `/v1/admin${path}`, { key, body, headers: { "x-request-id": operation } });
    return status === 204 ? ({} as T) : readBody<T>(response, status);
  };
  const { id: tenant } = await act<{ id: TenantId }>("createTenant", "POST", "/tenants", {
    body: { name: "planted-name" },
    status: 201,
  });
  const made = await act<{ key: string }>("createTenantKey", "POST", `/tenants/${tenant}/keys`, {
    body: { name: "planted-name" },
    status: 201,
  });
  const chat = await newChat({ tenant: new Tenant(tenant, made.key) });
  await chat.say("planted-message");
  const path = `/tenants/${tenant}`;
  const plan = `/plans/plan-${ulid()}`;
  await act("exportSessionLog", "GET", `${path}/sessions/${chat.id}/log`);
  await act("rebuildSession", "POST", `${path}/sessions/${chat.id}/rebuild`);
  // A repair of what is whole changes nothing.
  await env.DB.prepare("UPDATE tenants SET name = 'damaged' WHERE tenant_id = ?").bind(tenant).run();
  await act("rebuildTenant", "POST", `${path}/rebuild`);
  await act("rebuildTenantList", "POST", "/tenants/rebuild");
  await act("moveTenant", "POST", `${path}/move`, { body: { to: "DB_2" } });
  await act("cancelTenantMove", "DELETE", `${path}/move`);
  await act("suspendTenant", "POST", `${path}/suspend`, { body: { reason: "planted-reason" } });
  await act("resumeTenant", "POST", `${path}/resume`);
  await act("putPlan", "PUT", plan, { body: {} });
  await act("assignPlan", "PATCH", path, { body: { limits: { tenant: { files: 5 } } } });
  await act("deletePlan", "DELETE", plan, { status: 204 });
  const admin = await act<AdminKeyView>("createAdminKey", "POST", "/keys", { body: { name: "planted-name", role: "read" }, status: 201 });
  const next = await act<AdminKeyView>("rotateAdminKey", "POST", `/keys/${admin.id}/rotate`, { body: {}, status: 201 });
  await act("revokeAdminKey", "DELETE", `/keys/${next.id}`);
  await chat.tenant.call("PUT", "/v1/credentials/planted-credential", { api_key: "planted-secret" });
  const stub = findStub(chat.tenant);
  const sealed = await stub.sealedCredentials();
  if (!sealed.ok) throw new Error(sealed.error.code);
  const { id } = await readBody<AdminKeyView>(await asAdmin("GET", `/keys/${next.id}`));
  await stub.replaceSealed(
    { actor: { kind: "admin", id }, request_id: "rotateCredentials" },
    sealed.value.map(({ name, sealed: before }) => ({ name, before, after: before })),
  );
  await act("deleteTenant", "DELETE", path);
  return { tenant, session: chat.id };
}

describe("the deployment's audit log", () => {
  it("has each operation of admins under the request's id, verifies, and keeps no name when the tenant is deleted", async () => {
    const owner = await readBody<AdminKeyView & { key: string }>(await asAdmin("POST", "/keys", { name: "owner", role: "own" }), 201);
    const { tenant, session } = await operateAll(owner.key);

    const { data, head } = await readLog("&order=asc");
    const lines = await (await asAdmin("GET", "/audit", undefined, LINES)).text();

    const found = data.filter(({ request_id }) => request_id !== null && request_id in AUDITED_OF_DEPLOYMENT);
    expect(Object.fromEntries(found.map(({ request_id, action }) => [request_id, action]))).toEqual(AUDITED_OF_DEPLOYMENT);
    expect(found).toHaveLength(Object.keys(AUDITED_OF_DEPLOYMENT).length);
    const others = found.filter(({ actor }) => actor.id !== owner.id).map(({ request_id }) => request_id);
    expect(others).toEqual(["rotateCredentials"]);
    expect(found.find(({ action }) => action === "content.read_by_admin")).toMatchObject({
      target: { type: "tenant", id: tenant },
      details: { about: { type: "session", id: session }, audit_seq: expect.any(Number) },
    });
    expect((await actionsOn(tenant)).slice(-2)).toEqual(["erasure.requested", "erasure.finished"]);
    expect(verifyAudit(lines, head)).toMatchObject({ ok: true, seq: head.seq });
    expect(lines).not.toContain("planted");
  });

  it("is read with the role read, and goes on behind a place that was kept", async () => {
    const monitor = await readBody<{ key: string }>(await asAdmin("POST", "/keys", { name: "monitor", role: "read" }), 201);
    const { head } = await readLog();
    await newTenant();

    const lines = await (await request("GET", `/v1/admin/audit?after=${head.seq}`, { key: monitor.key, headers: LINES })).text();

    expect(verifyAudit(lines, head)).toMatchObject({ ok: true, entries: 2 });
    expect((await request("GET", "/v1/admin/audit", {})).status).toBe(401);
    expect((await (await newTenant()).call("GET", "/v1/admin/audit")).status).toBe(401);
  });

  it("has what was done to a tenant while its object was away, once and in order, when the tenant's alarm rings", async () => {
    const tenant = await newTenant();
    await isAway(true);
    for (const change of ["suspend", "resume"]) await readBody(await asAdmin("POST", `/tenants/${tenant.id}/${change}`));
    const during = await actionsOn(tenant.id);
    await abortAllDurableObjects();
    await isAway(false);

    advanceClock(60_000);
    for (let rings = 0; rings < 3; rings++) await ringNow(findStub(tenant));

    expect(during).toEqual(["tenant.created", "key.created"]);
    expect(await actionsOn(tenant.id)).toEqual([...during, "tenant.suspended", "tenant.resumed"]);
  });

  it("has one entry of an act whose delivery was answered in vain", async () => {
    const tenant = await newTenant();
    await readBody(await asAdmin("POST", `/tenants/${tenant.id}/suspend`));
    const { data } = await readLog(`&target=${tenant.id}&action=tenant.suspended`);
    const [entry] = data;
    if (!entry) throw new Error("no entry");
    const { at, actor, request_id, action, target, details } = entry;

    const again = { seq: details.audit_seq ?? 0, at, actor, request_id, subject: { action, target, details } };
    await deployment().recordTenantActs(tenant.id, [again, again]);

    expect((await readLog(`&target=${tenant.id}&action=tenant.suspended`)).data).toEqual(data);
  });

  it("has the end of a deletion that went on while its object was away", async () => {
    const tenant = await newTenant();
    await isAway(true);
    await readBody(await asAdmin("DELETE", `/tenants/${tenant.id}`));
    await isAway(false);

    advanceClock(60_000);
    for (let rings = 0; rings < 3; rings++) await ringNow(findStub(tenant));

    expect((await actionsOn(tenant.id)).slice(-2)).toEqual(["erasure.requested", "erasure.finished"]);
  });

  it("refuses filters beside the lines, and a place that is not there yet", async () => {
    const filtered = await readBody<{ errors: unknown }>(await asAdmin("GET", "/audit?action=plan.put", undefined, LINES), 400);
    const beyond = await readBody<{ errors: unknown }>(await asAdmin("GET", "/audit?after=99999999", undefined, LINES), 400);

    expect([filtered.errors, beyond.errors]).toMatchObject([[{ field: "action" }], [{ field: "after" }]]);
  });
});

describe("a tenant's own audit log", () => {
  const readOwn = async (tenant: Tenant) =>
    (await readBody<Page>(await tenant.call("GET", "/v1/audit?action=limits.changed&order=asc"))).data;

  it("says once who changed its limits: by an assignment, and by a change of its plan", async () => {
    const tenant = await newTenant();
    const plan = `plan-${ulid()}`;
    const putPlan = (files: number, id: string) =>
      asAdmin("PUT", `/plans/${plan}`, { limits: { tenant: { files } } }, { "x-request-id": id });
    await putPlan(5, "put-1");
    const assign = (id: string) => asAdmin("PATCH", `/tenants/${tenant.id}`, { plan }, { "x-request-id": id });
    for (const id of ["assign-1", "assign-again"]) await readBody(await assign(id));
    await putPlan(6, "put-2");
    for (let rings = 0; rings < 2; rings++) await ringNow(deployment());
    const assigned = await findStub(tenant).assigned();
    if (!assigned) throw new Error("nothing is assigned");
    await findStub(tenant).setLimits({ ...assigned, act: { actor: { kind: "admin", id: null }, request_id: "late", at: 1 } });

    const found = await readOwn(tenant);

    const target = { type: "tenant", id: tenant.id };
    expect(found).toMatchObject([
      { request_id: "assign-1", actor: { kind: "admin", id: null }, target, details: { plan } },
      { request_id: "put-2", target, details: { plan } },
    ]);
    expect((await actionsOn(tenant.id)).filter((action) => action === "limits.changed")).toHaveLength(1);
  });

  it("has the newest of the changes that its object missed", async () => {
    const tenant = await newTenant();
    await runInDurableObject(findStub(tenant), (_, { storage: { sql } }) => {
      sql.exec("CREATE TRIGGER away BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'away'); END");
    });
    const limit = (files: number, id: string) =>
      asAdmin("PATCH", `/tenants/${tenant.id}`, { limits: { tenant: { files } } }, { "x-request-id": id });
    for (const [files, id] of [
      [1, "first"],
      [2, "second"],
    ] as const)
      await readBody(await limit(files, id));
    await runInDurableObject(findStub(tenant), (_, { storage: { sql } }) => void sql.exec("DROP TRIGGER away"));
    advanceClock(60 * 60_000);
    await ringNow(deployment());

    expect(await readOwn(tenant)).toMatchObject([{ request_id: "second", recorded_at: expect.any(Number) }]);
    expect(await actionsOn(tenant.id)).toEqual(["tenant.created", "key.created", "limits.changed", "limits.changed"]);
  });
});
