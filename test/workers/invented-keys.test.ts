/** Addressing a Durable Object creates it, with its database file. So an invented key must be rejected before that. */
import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { generateApiKey } from "../../src/tenant/keys/api-key";
import { migrate, newId, newTenant, request } from "./support";

beforeAll(migrate);

const REQUESTS = 200;

it("well-formed keys of invented tenants are refused, and make no object", async () => {
  const tenant = await newTenant();
  const environment = tenant.key.split("_")[1] ?? "";
  const before = [await listDurableObjectIds(env.TENANTS), await listDurableObjectIds(env.SESSIONS)];

  const statuses: number[] = [];
  for (let n = 0; n < REQUESTS; n++) {
    const key = await generateApiKey({ env: environment, tenant: newId("ten") }, "another deployment's pepper");
    statuses.push((await request("GET", "/v1/tenant", { key })).status);
  }

  expect(new Set(statuses)).toEqual(new Set([401]));
  expect([await listDurableObjectIds(env.TENANTS), await listDurableObjectIds(env.SESSIONS)]).toEqual(before);
  expect((await tenant.call("GET", "/v1/tenant")).status).toBe(200);
});
