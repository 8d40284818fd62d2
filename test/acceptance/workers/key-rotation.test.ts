/** Keys that take each other's place, and the record of their last use, in the running Worker. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { KeyView } from "../../../src/contract/tenant";
import { advanceClock } from "../../workers/clock";
import { migrate, newTenant, readBody, request, type Tenant } from "../../workers/support";

beforeAll(migrate);

type MadeKey = KeyView & { readonly key: string };

const status = async (key: string): Promise<number> => (await request("GET", "/v1/tenant", { key })).status;
const list = async (tenant: Tenant) => (await readBody<{ data: readonly KeyView[] }>(await tenant.call("GET", "/v1/keys"))).data;
const make = async (tenant: Tenant, body: object = {}): Promise<MadeKey> =>
  readBody(await tenant.call("POST", "/v1/keys", { name: "backend", ...body }), 201);

const rotate = (key: string, id: string, body?: object, headers: Readonly<Record<string, string>> = {}) =>
  request("POST", `/v1/keys/${id}/rotate`, { key, body, headers });

/** A timer of the object that is set later fires later: what the object does after its answers is done. */
const settle = (tenant: Tenant): Promise<void> =>
  runInDurableObject(env.TENANTS.getByName(tenantObjectName(tenant.id)), () => new Promise<void>((resolve) => setTimeout(resolve, 0)));

describe("a key that is rotated", () => {
  it("works beside its successor for a day, unless another time is asked for", async () => {
    const tenant = await newTenant();
    const [one, other] = [await make(tenant, { scopes: ["usage:read", "sessions:read"] }), await make(tenant)];

    const next = await readBody<MadeKey>(await rotate(tenant.key, one.id), 201);
    const soon = await readBody<MadeKey>(await rotate(tenant.key, other.id, { overlap_seconds: 60 }), 201);

    expect(next).toMatchObject({ name: "backend", scopes: ["sessions:read", "usage:read"], expires_at: null, rotated_from: one.id });
    const statuses = () => Promise.all([one, next, other, soon].map(({ key }) => status(key)));
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    advanceClock(60_000);
    expect(await statuses()).toEqual([200, 200, 401, 200]);
    advanceClock(86_400_000);
    expect(await statuses()).toEqual([401, 200, 401, 200]);
    expect((await list(tenant)).find(({ id }) => id === one.id)).toMatchObject({ rotated_to: next.id, revoked_at: null });
  });

  it("may rotate itself, and is refused at once without an overlap", async () => {
    const tenant = await newTenant();
    const own = await make(tenant, { scopes: ["keys:write"] });
    expect(await status(own.key)).toBe(200);

    const next = await readBody<MadeKey>(await rotate(own.key, own.id, { overlap_seconds: 0 }), 201);

    expect([await status(own.key), await status(next.key)]).toEqual([401, 200]);
    expect(next).toMatchObject({ created_by: own.id, rotated_from: own.id, scopes: ["keys:write"] });
  });

  it("is rotated once: a repeated request shows its successor without the secret, and another one is refused", async () => {
    const tenant = await newTenant();
    const one = await make(tenant);
    const headers = { "idempotency-key": "rotate-1" };
    const first = await readBody<MadeKey>(await rotate(tenant.key, one.id, {}, headers), 201);

    const again = await rotate(tenant.key, one.id, {}, headers);
    const other = await rotate(tenant.key, one.id, {});

    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await readBody(again, 201)).toMatchObject({ id: first.id, key: null });
    expect(await readBody(other, 409)).toMatchObject({ type: "urn:longhand:problem:key_ended", became: "rotated", rotated_to: first.id });
    expect(await list(tenant)).toHaveLength(3);
  });
});

describe("the last use of a key", () => {
  it("is recorded after the answer, to within 90 seconds", async () => {
    const tenant = await newTenant();
    const one = await make(tenant);
    const lastUse = async () => (await list(tenant)).find(({ id }) => id === one.id)?.last_used_at ?? null;
    expect(await lastUse()).toBeNull();

    for (let second = 0; second <= 180; second += 20) {
      expect(await status(one.key)).toBe(200);
      const now = Date.now();
      await settle(tenant);
      const last = await lastUse();
      expect(last).toBeLessThanOrEqual(now);
      expect(now - (last ?? 0)).toBeLessThanOrEqual(90_000);
      advanceClock(20_000);
    }
  });
});
