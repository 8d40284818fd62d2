/** Tenant plans: what an admin writes and reads, through the Worker and the deployment's object. */
import { env } from "cloudflare:workers";
import { ulid } from "ulidx";
import { beforeAll, describe, expect, it } from "vitest";
import { DEPLOYMENT_OBJECT_NAME } from "../../../src/app/object-name";
import type { TenantPlan } from "../../../src/contract/limits";
import { MAX_PLANS } from "../../../src/deployment/tenant-plans";
import { ringNow } from "../../workers/alarms";
import { migrate, newId, newTenant, readBody, request } from "../../workers/support";

const admin = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
  request(method, path, { key: env.ADMIN_KEY, body, headers });
const newName = () => `plan-${ulid()}`;
const LIMITS = { tenant: { requests_per_minute: 60, files: null }, end_user: { concurrent_turns: 1 } };
const BUDGET = { name: "monthly", of: "tenant", period: "month", unit: "usd", amount: 12.5, purposes: "all" };

beforeAll(migrate);

describe("a tenant plan", () => {
  it("is put, read, listed and deleted", async () => {
    const path = `/v1/admin/plans/${newName()}`;

    const put = await admin("PUT", path, { limits: LIMITS, budgets: [BUDGET] });
    const etag = put.headers.get("etag") ?? "";
    const plan = await readBody<TenantPlan>(put);

    expect(plan).toMatchObject({ limits: { ...LIMITS, key: {} }, budgets: [BUDGET] });
    const read = await admin("GET", path);
    expect([read.headers.get("etag"), await readBody(read)]).toEqual([etag, plan]);
    expect((await readBody<{ data: unknown[] }>(await admin("GET", "/v1/admin/plans?limit=200"))).data).toContainEqual(plan);
    expect((await admin("DELETE", path, undefined, { "if-match": '"another"' })).status).toBe(412);
    expect((await admin("DELETE", path, undefined, { "if-match": etag })).status).toBe(204);
    expect([(await admin("GET", path)).status, (await admin("DELETE", path)).status]).toEqual([404, 404]);
  });

  it.each([
    ["limits.key.sessions", { limits: { key: { sessions: 1 } } }],
    ["limits.tenant.files", { limits: { tenant: { files: -1 } } }],
    ["limits.end_user.concurrent_turns", { limits: { end_user: { concurrent_turns: 1.5 } } }],
    ["budgets", { budgets: [BUDGET, BUDGET] }],
    ["budgets.0.period", { budgets: [{ ...BUDGET, period: "year" }] }],
  ])("is refused by the field %s", async (field, body) => {
    const refused = await readBody<{ errors: { field: string }[] }>(await admin("PUT", `/v1/admin/plans/${newName()}`, body), 400);

    expect(refused.errors.map((error) => error.field)).toEqual([field]);
  });

  it("has a name that a path can carry", async () => {
    const refused = await readBody<{ errors: { field: string }[] }>(await admin("PUT", "/v1/admin/plans/a%20b", {}), 400);

    expect(refused.errors.map((error) => error.field)).toEqual(["plan_name"]);
  });

  it("beyond the most is refused", async () => {
    const names: string[] = [];
    for (let response = await admin("PUT", `/v1/admin/plans/${newName()}`, {}); ; ) {
      if (response.status !== 200) {
        expect(await readBody(response, 409)).toMatchObject({ type: "urn:longhand:problem:plan_limit", limit: MAX_PLANS });
        break;
      }
      names.push((await readBody<TenantPlan>(response)).name);
      response = await admin("PUT", `/v1/admin/plans/${newName()}`, {});
    }
    for (const name of names) expect((await admin("DELETE", `/v1/admin/plans/${name}`)).status).toBe(204);
  });
});

describe("a tenant with a plan", () => {
  it("has its limits at once, shows them, and follows a change of the plan", async () => {
    const tenant = await newTenant();
    const name = newName();
    const plan = (requests_per_minute: number) =>
      admin("PUT", `/v1/admin/plans/${name}`, { limits: { tenant: { requests_per_minute }, end_user: { concurrent_turns: 1 } } });
    await plan(600);

    const path = `/v1/admin/tenants/${tenant.id}`;
    const assigned = await readBody(await admin("PATCH", path, { plan: name, limits: { end_user: { concurrent_turns: null } } }));
    const limits = { tenant: { requests_per_minute: 600 }, key: {}, end_user: { concurrent_turns: null } };
    expect(assigned).toMatchObject({ plan: name, effective_limits: limits, confirmed: true });
    expect(await readBody(await admin("GET", path))).toMatchObject({ plan: name, limits });
    expect(await readBody(await tenant.call("GET", "/v1/tenant"))).toMatchObject({ plan: name, limits });
    expect(await readBody(await admin("DELETE", `/v1/admin/plans/${name}`), 409)).toMatchObject({ tenants: 1 });

    await plan(300);
    await ringNow(env.DEPLOYMENT.getByName(DEPLOYMENT_OBJECT_NAME));
    expect(await readBody(await tenant.call("GET", "/v1/tenant"))).toMatchObject({ limits: { tenant: { requests_per_minute: 300 } } });

    await readBody(await admin("PATCH", path, { plan: null, limits: null }));
    expect(await readBody(await tenant.call("GET", "/v1/tenant"))).toMatchObject({
      plan: null,
      limits: { tenant: {}, key: {}, end_user: {} },
    });
    expect((await admin("DELETE", `/v1/admin/plans/${name}`)).status).toBe(204);
  });

  it("that does not exist is a 404, and an unknown plan a fault of the field", async () => {
    expect((await admin("PATCH", `/v1/admin/tenants/${newId("ten")}`, { plan: null })).status).toBe(404);
    const { id } = await newTenant();
    const refused = await readBody<{ errors: unknown }>(await admin("PATCH", `/v1/admin/tenants/${id}`, { plan: "none" }), 400);
    expect(refused.errors).toEqual([{ field: "plan", detail: "no such plan" }]);
  });
});
