/** Limits of requests a minute through the running Worker, with the counter in the tenant's real object. */

import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import { type LimitSet, NO_LIMITS } from "../../../src/contract/limits";
import type { TenantId } from "../../../src/domain/ids";
import { advanceClock } from "../../workers/clock";
import { migrate, newTenant, readBody, request, type Tenant } from "../../workers/support";

beforeAll(migrate);

let revision = 0;

async function newLimited(limits: Partial<LimitSet>): Promise<Tenant> {
  const tenant = await newTenant();
  revision += 1;
  await env.TENANTS.getByName(tenantObjectName(tenant.id)).setLimits({ limits: { ...NO_LIMITS, ...limits }, revision });
  return tenant;
}

/** At the begin of a minute, so that no test is at the end of one. */
const startMinute = () => advanceClock(60_000 - (Date.now() % 60_000));

const ask = async (tenant: Tenant, key = tenant.key): Promise<number> => {
  const answer = await request("GET", "/v1/policies", { key });
  await answer.text();
  return answer.status;
};
const askAtOnce = (tenant: Tenant, requests: number) => Promise.all(Array.from({ length: requests }, () => ask(tenant)));
const count = (answers: readonly number[], status: number) => answers.filter((each) => each === status).length;

/** How often the tenant's object was asked for. */
function countCalls(tenant: TenantId): () => number {
  const spy = vi.spyOn(env.TENANTS, "getByName");
  return () => spy.mock.calls.filter(([name]) => name === tenantObjectName(tenant)).length;
}

describe("a tenant's limit of requests a minute", () => {
  it("lets exactly as many pass, of many at once", async () => {
    startMinute();
    const tenant = await newLimited({ tenant: { requests_per_minute: 50 } });

    const answers = await askAtOnce(tenant, 200);

    expect([count(answers, 200), count(answers, 429)]).toEqual([50, 150]);
  });

  it("holds over a restart of the tenant's object, and ends with the minute", async () => {
    startMinute();
    const tenant = await newLimited({ tenant: { requests_per_minute: 5 } });
    const before = await askAtOnce(tenant, 3);

    await abortAllDurableObjects();
    const after = await askAtOnce(tenant, 10);
    startMinute();

    expect(count([...before, ...after], 200)).toBe(5);
    expect(await ask(tenant)).toBe(200);
  });

  it("counts each key alone where it is a limit of keys", async () => {
    startMinute();
    const tenant = await newLimited({ key: { requests_per_minute: 2 } });
    const made = await request("POST", `/v1/admin/tenants/${tenant.id}/keys`, { key: env.ADMIN_KEY, body: { name: "other" } });
    const { key } = await readBody<{ key: string }>(made, 201);

    expect(count(await askAtOnce(tenant, 4), 200)).toBe(2);
    expect([await ask(tenant, key), await ask(tenant, key), await ask(tenant, key)]).toEqual([200, 200, 429]);
  });

  it("counts an end user's access tokens for the end user", async () => {
    startMinute();
    const tenant = await newLimited({ end_user: { requests_per_minute: 1 } });
    const tokenFor = async (end_user: string) =>
      (await readBody<{ token: string }>(await tenant.call("POST", "/v1/tokens", { end_user }), 201)).token;
    const [ada, bob] = [await tokenFor("ada"), await tokenFor("bob")];
    const list = async (key: string) => (await request("GET", "/v1/sessions", { key })).status;

    expect([await list(ada), await list(ada), await list(bob)]).toEqual([200, 429, 200]);
  });

  it("that is changed holds at once in an isolate that learned of it", async () => {
    const tenant = await newLimited({ tenant: { requests_per_minute: 0 } });
    expect(await ask(tenant)).toBe(429);

    revision += 1;
    await env.TENANTS.getByName(tenantObjectName(tenant.id)).setLimits({ limits: NO_LIMITS, revision });

    expect(await ask(tenant)).toBe(200);
  });

  it("is not replaced by an older one", async () => {
    const tenant = await newLimited({ tenant: { requests_per_minute: 0 } });

    await env.TENANTS.getByName(tenantObjectName(tenant.id)).setLimits({ limits: NO_LIMITS, revision: revision - 1 });

    expect(await ask(tenant)).toBe(429);
  });
});

describe("a flood", () => {
  it("beyond the limit costs the tenant's object nothing, and another tenant's requests make the calls that they make without it", async () => {
    startMinute();
    const [tenant, other] = [await newLimited({ tenant: { requests_per_minute: 10 } }), await newTenant()];
    await askAtOnce(tenant, 30);
    await ask(other);
    const [calls, callsOfOther] = [countCalls(tenant.id), countCalls(other.id)];

    const [flood, answers] = await Promise.all([askAtOnce(tenant, 200), askAtOnce(other, 20)]);

    expect([count(flood, 429), count(answers, 200)]).toEqual([200, 20]);
    expect([calls(), callsOfOther()]).toEqual([0, 0]);
    vi.restoreAllMocks();
  });

  it("of a tenant without limits asks its object for no rate", async () => {
    const tenant = await newTenant();
    await ask(tenant);
    const calls = countCalls(tenant.id);

    expect(count(await askAtOnce(tenant, 50), 200)).toBe(50);
    expect(calls()).toBe(0);
    vi.restoreAllMocks();
  });
});

describe("a tenant's object out of reach", () => {
  it("lets this isolate pass as many requests as the limit", async () => {
    startMinute();
    const tenant = await newLimited({ tenant: { requests_per_minute: 20 } });
    await ask(tenant);
    const { getByName } = env.TENANTS;
    vi.spyOn(env.TENANTS, "getByName").mockImplementation((name) => {
      if (name === tenantObjectName(tenant.id)) throw new Error("out of reach");
      return getByName.call(env.TENANTS, name);
    });

    const answers = await askAtOnce(tenant, 40);

    expect(count(answers, 200)).toBe(19);
    vi.restoreAllMocks();
  });
});
