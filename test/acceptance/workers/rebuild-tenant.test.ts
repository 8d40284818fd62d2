/** A tenant's own rows compared with its object, which is their source. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { RowDifference } from "../../../src/contract/rebuild";
import type { SessionDescription } from "../../../src/contract/session";
import { migrate, newTenant, readBody, request, type Tenant } from "../../workers/support";

interface Report {
  readonly differences: readonly RowDifference[];
  readonly repaired: boolean;
  readonly rows: number;
}

const model = (max_output: number) => ({ provider: "embedded", context_window: 16_000, max_output });

async function givenTenant(): Promise<Tenant> {
  const tenant = await newTenant();
  for (const id of ["a", "b"]) await readBody(await tenant.call("PUT", `/v1/models/${id}`, model(100)));
  await rebuild(tenant);
  return tenant;
}

async function rebuild({ id }: Tenant): Promise<Report> {
  return readBody(await request("POST", `/v1/admin/tenants/${id}/rebuild`, { key: env.ADMIN_KEY }));
}

const run = (sql: string, ...params: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...params)
    .run();

beforeAll(migrate);

describe("the rows of a tenant", () => {
  it("are as its object says, once they were written", async () => {
    const tenant = await givenTenant();

    expect(await rebuild(tenant)).toEqual({ tenant_id: tenant.id, differences: [], repaired: true, rows: expect.any(Number) });
  });

  it("hold no price of the package's, which changes with the day, and those that were said", async () => {
    const tenant = await givenTenant();
    const said = { input: 3, output: 15, cached: 0.3, cache_write: 3.75 };
    const named = { provider: "openai", upstream_id: "gpt-4o-mini" };
    const known = await readBody(await tenant.call("PUT", "/v1/models/known", named));
    await readBody(await tenant.call("PUT", "/v1/models/said", { ...named, base_url: "https://llm.example.com/v1", prices: said }));
    await rebuild(tenant);

    expect(known).toMatchObject({ sources: { prices: "prices_package" } });
    expect(await rebuild(tenant)).toMatchObject({ differences: [], repaired: true });
    const rows = await env.DB.prepare("SELECT id, price_input FROM models WHERE tenant_id = ? AND upstream_id = 'gpt-4o-mini' ORDER BY id")
      .bind(tenant.id)
      .all();
    expect(rows.results).toEqual([
      { id: "known", price_input: null },
      { id: "said", price_input: 3 },
    ]);
  });

  it("are mended and reported where one is missing, changed or does not belong there", async () => {
    const tenant = await givenTenant();
    await run("UPDATE tenants SET name = 'Eve' WHERE tenant_id = ?", tenant.id);
    await run("DELETE FROM models WHERE tenant_id = ? AND id = 'a'", tenant.id);
    await run("UPDATE models SET max_output = 7 WHERE tenant_id = ? AND id = 'b'", tenant.id);
    await run("INSERT INTO models (tenant_id, provider_id, id, source, upstream_id) VALUES (?, 'x', 'ghost', 'tenant', 'g')", tenant.id);

    const report = await rebuild(tenant);

    expect(report.repaired).toBe(true);
    expect(report.differences).toEqual([
      { table: "tenants", key: tenant.id, column: "name", before: "Eve", after: "Ada" },
      { table: "models", key: "embedded/a", column: null, before: null, after: "row" },
      { table: "models", key: "embedded/b", column: "max_output", before: 7, after: 100 },
      { table: "models", key: "x/ghost", column: null, before: "row", after: null },
    ]);
    expect(await rebuild(tenant)).toMatchObject({ differences: [], repaired: true });
  });

  it("are written where all were lost", async () => {
    const tenant = await givenTenant();
    await run("DELETE FROM tenants WHERE tenant_id = ?", tenant.id);
    await run("DELETE FROM models WHERE tenant_id = ?", tenant.id);

    const report = await rebuild(tenant);

    expect(report.repaired).toBe(true);
    expect(report.differences).toHaveLength(report.rows);
  });

  it("of a tenant that does not exist are 404", async () => {
    const response = await request("POST", "/v1/admin/tenants/ten_00000000000000000000000009/rebuild", { key: env.ADMIN_KEY });

    expect(response.status).toBe(404);
  });
});

describe("the sessions that have rows", () => {
  it("are listed also when the directory does not know them", async () => {
    const tenant = await newTenant();
    const { id } = await readBody<SessionDescription>(await tenant.call("POST", "/v1/sessions", {}), 201);
    await env.DB.prepare(
      `INSERT INTO sessions (tenant_id, id, model, policy, created_at, updated_at, last_seq)
       VALUES (?, 'ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'm', 'p', 1, 1, 1)`,
    )
      .bind(tenant.id)
      .run();
    const list = async (source: string) => {
      const path = `/v1/admin/tenants/${tenant.id}/sessions?source=${source}`;
      const { data } = await readBody<{ data: { id: string }[] }>(await request("GET", path, { key: env.ADMIN_KEY }));
      return data.map((session) => session.id);
    };

    expect(await list("directory")).toEqual([id]);
    expect(await list("rows")).toContain("ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
  });
});
