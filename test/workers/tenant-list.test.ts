/** The list of tenants in the deployment's object: complete, whatever is killed between the steps of a tenant's creation. */
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { ulid } from "ulidx";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { deriveId } from "../../src/app/derived-id";
import { DEPLOYMENT_OBJECT_NAME, tenantObjectName } from "../../src/app/object-name";
import type { TenantId } from "../../src/domain/ids";
import { sha256 } from "../../src/lib/sha256";
import { ACT } from "../support/act";
import { ringNow } from "./alarms";
import { migrate, newId, newTenant, readBody, request } from "./support";

interface Listed {
  readonly data: readonly { readonly id: TenantId; readonly name: string; readonly created_at: number; readonly status: string }[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

const admin = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
  request(method, path, { key: env.ADMIN_KEY, body, headers });
const list = async (query = ""): Promise<Listed> => readBody(await admin("GET", `/v1/admin/tenants${query}`));
async function isListed(tenant: TenantId): Promise<boolean> {
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Listed = await list(`?limit=200${cursor && `&after=${cursor}`}`);
    if (page.data.some(({ id }) => id === tenant)) return true;
    cursor = page.next_cursor;
  }
  return false;
}
const findStub = (tenant: TenantId) => env.TENANTS.getByName(tenantObjectName(tenant));
const deployment = () => env.DEPLOYMENT.getByName(DEPLOYMENT_OBJECT_NAME);

const hideRows = () => env.DB.exec("ALTER TABLE tenants RENAME TO tenants_away");
const showRows = () => env.DB.exec("ALTER TABLE tenants_away RENAME TO tenants");

async function forget(tenant: TenantId): Promise<void> {
  await runInDurableObject(deployment(), (_, { storage }) => void storage.sql.exec("DELETE FROM tenants WHERE id = ?", tenant));
}

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

describe("a tenant that was created", () => {
  it("is listed with its name by the time its id is known", async () => {
    const { id } = await readBody<{ id: TenantId }>(await admin("POST", "/v1/admin/tenants", { name: "Acme" }), 201);

    const [newest] = (await list("?limit=1")).data;

    expect(newest).toEqual({ id, name: "Acme", created_at: expect.any(Number), status: "active", database: "DB" });
    expect(await readBody(await admin("GET", `/v1/admin/tenants/${id}`))).toMatchObject({
      id,
      name: "Acme",
      created_at: newest?.created_at,
      status: "active",
    });
  });

  it("is found by a part of its name, and in pages of both orders", async () => {
    const mark = `Müller-${ulid()}`;
    const ids: TenantId[] = [];
    for (const n of [1, 2, 3]) {
      const made = await admin("POST", "/v1/admin/tenants", { name: `${n} ${mark} GmbH` });
      ids.push((await readBody<{ id: TenantId }>(made, 201)).id);
    }
    const query = `?name=${encodeURIComponent(mark.toUpperCase())}&limit=2`;

    const first = await list(query);
    const rest = await list(`${query}&after=${first.next_cursor}`);
    const oldest = await list(`${query}&order=asc`);

    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(ids.toReversed());
    expect([first.has_more, rest.has_more, rest.next_cursor]).toEqual([true, false, null]);
    expect(oldest.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  });

  it.each(["x", "1.ten_odd"])("is not looked for behind the cursor %j, which no page gave", async (cursor) => {
    const answer = await admin("GET", `/v1/admin/tenants?after=${cursor}`);

    expect([answer.status, await answer.json()]).toMatchObject([400, { type: "urn:longhand:problem:invalid_cursor" }]);
  });

  it("is listed under its new name after it was renamed", async () => {
    const tenant = await newTenant();

    await readBody(await tenant.call("PATCH", "/v1/tenant", { name: "Renamed" }));
    await ringNow(findStub(tenant.id));

    expect((await list("?name=renamed")).data).toMatchObject([{ id: tenant.id, name: "Renamed" }]);
  });
});

describe("a creation that was killed after the tenant's object was made", () => {
  const body = { name: "Half" };

  /** The first step of the request with this key, without what follows it. */
  async function makeObjectAlone(key: string): Promise<TenantId> {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const idempotency = { key: `admin ${key}`, digest: await sha256(`POST /v1/admin/tenants\n${JSON.stringify(body)}`) };
    const tenant = await deriveId("ten", idempotency.key);
    await hideRows();
    await findStub(tenant).create(ACT, { tenant, ...body, idempotency });
    await ringNow(findStub(tenant));
    await abortAllDurableObjects();
    await showRows();
    expect(await isListed(tenant)).toBe(false);
    return tenant;
  }

  it("is finished by the same request", async () => {
    const key = ulid();
    const tenant = await makeObjectAlone(key);

    const again = await admin("POST", "/v1/admin/tenants", body, { "idempotency-key": key });

    expect([again.status, again.headers.get("idempotent-replayed"), await again.json()]).toEqual([201, "true", { id: tenant }]);
    expect(await isListed(tenant)).toBe(true);
  });

  it("is finished by the tenant's object itself, if no request comes", async () => {
    const tenant = await makeObjectAlone(ulid());

    expect(await ringNow(findStub(tenant))).toBe(true);

    expect(await isListed(tenant)).toBe(true);
  });

  it("is finished before the tenant has a key that could use it", async () => {
    const tenant = await makeObjectAlone(ulid());

    await readBody(await admin("POST", `/v1/admin/tenants/${tenant}/keys`, { name: "first" }), 201);

    expect(await isListed(tenant)).toBe(true);
  });
});

describe("a tenant that is missing in the list", () => {
  it.each([
    ["reads it", (id: TenantId) => admin("GET", `/v1/admin/tenants/${id}`)],
    ["repairs its rows", (id: TenantId) => admin("POST", `/v1/admin/tenants/${id}/rebuild`)],
  ])("is listed once an admin %s", async (_, ask) => {
    const { id } = await newTenant();
    await forget(id);
    expect(await isListed(id)).toBe(false);

    await readBody(await ask(id));

    expect(await isListed(id)).toBe(true);
  });

  it("is found by its row in the read model, and a row that no object knows is named", async () => {
    const tenants = [await newTenant(), await newTenant()];
    for (const { id } of tenants) {
      await ringNow(findStub(id));
      await forget(id);
    }
    const ghost = newId("ten");
    await env.DB.prepare("INSERT INTO tenants (tenant_id, name, default_model, default_policy) VALUES (?, 'x', 'embedded', '')")
      .bind(ghost)
      .run();

    const reports: { added: number; tenants: number; unknown: readonly TenantId[]; next_cursor: string | null }[] = [];
    for (let cursor: string | null = ""; cursor !== null; cursor = reports.at(-1)?.next_cursor ?? null) {
      reports.push(await readBody(await admin("POST", `/v1/admin/tenants/rebuild${cursor && `?after=${cursor}`}`)));
    }

    expect(reports.reduce((sum, { added }) => sum + added, 0)).toBe(2);
    expect(reports.flatMap(({ unknown }) => unknown)).toContain(ghost);
    for (const { id } of tenants) expect(await isListed(id)).toBe(true);
    expect(await isListed(ghost)).toBe(false);
    await env.DB.prepare("DELETE FROM tenants WHERE tenant_id = ?").bind(ghost).run();
  });
});

it("a tenant's requests are answered while the deployment's object is out of reach", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const tenant = await newTenant();
  await runInDurableObject(deployment(), (_, { storage }) => void storage.sql.exec("ALTER TABLE tenants RENAME TO tenants_away"));

  expect((await tenant.call("PATCH", "/v1/tenant", { name: "Still here" })).status).toBe(200);
  expect((await tenant.call("POST", "/v1/sessions", {})).status).toBe(201);

  await runInDurableObject(deployment(), (_, { storage }) => void storage.sql.exec("ALTER TABLE tenants_away RENAME TO tenants"));
  await ringNow(findStub(tenant.id));
  expect((await list("?name=still here")).data).toMatchObject([{ id: tenant.id }]);
});
