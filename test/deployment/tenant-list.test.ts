import { describe, expect, it } from "vitest";
import type { ListedTenantsQuery } from "../../src/app/deployment-api";
import { deploymentCalls } from "../../src/deployment/deployment-calls";
import type { TenantStatus } from "../../src/domain/tenant-status";
import { findUnbounded } from "../support/query-plan";
import { createEmptySql } from "../tenant/memory-sql";
import { makeId } from "../tenant/support";
import { openForTest } from "./support";

const tenant = (n: number, name = `Tenant ${n}`, created_at = n) => ({
  id: makeId("ten", n),
  name,
  created_at,
  status: "active" as TenantStatus,
  database: "DB",
});
const FIRST_PAGE: ListedTenantsQuery = { after: null, limit: 10, order: "desc", name: null, status: null };

function givenList(...tenants: readonly ReturnType<typeof tenant>[]) {
  const deployment = openForTest();
  const register = (...more: readonly ReturnType<typeof tenant>[]) => deploymentCalls.registerTenants(deployment, more);
  const list = (query: Partial<ListedTenantsQuery> = {}) => deploymentCalls.listTenants(deployment, { ...FIRST_PAGE, ...query });
  const names = async (query: Partial<ListedTenantsQuery> = {}) => (await list(query)).data.map(({ name }) => name);
  return { deployment, register, list, names, ready: register(...tenants) };
}

describe("a tenant", () => {
  it("that is registered again is listed once, with its newest name and its first time", async () => {
    const { register, list, ready } = givenList(tenant(1, "Acme"));

    expect(await ready).toEqual({ added: 1 });
    expect(await register(tenant(1, "Acme GmbH", 99), tenant(2))).toEqual({ added: 1 });
    expect((await list()).data).toEqual([tenant(2), tenant(1, "Acme GmbH")]);
  });

  it("is still listed after the object woke again", async () => {
    const { deployment, ready } = givenList(tenant(1));
    await ready;

    const woken = openForTest({ sql: deployment.sql });

    expect((await deploymentCalls.listTenants(woken, FIRST_PAGE)).data).toEqual([tenant(1)]);
  });
});

describe("a page", () => {
  it.each([
    ["desc", [3, 2, 1]],
    ["asc", [1, 2, 3]],
  ] as const)("%s is in order of the time of creation, whatever the ids are", async (order, times) => {
    const { list } = givenList(tenant(9, "a", 2), tenant(7, "b", 3), tenant(8, "c", 1));

    expect((await list({ order })).data.map(({ created_at }) => created_at)).toEqual(times);
  });

  it.each(["asc", "desc"] as const)("%s goes on behind the last tenant, also among tenants of one moment", async (order) => {
    const { list } = givenList(...[1, 2, 3, 4, 5].map((n) => tenant(n, `T${n}`, 7)));
    const found: string[] = [];

    let after: ListedTenantsQuery["after"] = null;
    for (let pages = 0; pages < 3; pages++) {
      const page = await list({ order, limit: 2, after });
      found.push(...page.data.map(({ name }) => name));
      expect(page.has_more).toBe(pages < 2);
      after = page.data.at(-1) ?? null;
    }

    expect(found).toEqual(order === "asc" ? ["T1", "T2", "T3", "T4", "T5"] : ["T5", "T4", "T3", "T2", "T1"]);
  });
});

describe("a part of the name", () => {
  const given = () => givenList(tenant(1, "ÄRZTE Nord"), tenant(2, "Nordlicht 100%"), tenant(3, "Südstern"));

  it.each([
    ["nord", ["Nordlicht 100%", "ÄRZTE Nord"]],
    ["ärz", ["ÄRZTE Nord"]],
    ["SÜD", ["Südstern"]],
    ["0%", ["Nordlicht 100%"]],
    ["_", []],
    ["west", []],
  ])("%j finds it in either case, and every character stands for itself", async (name, expected) => {
    expect(await given().names({ name })).toEqual(expected);
  });

  it("fills the page although tenants in between have other names", async () => {
    const { list } = givenList(...[1, 2, 3, 4, 5, 6].map((n) => tenant(n, n % 2 ? "odd" : "even")));

    expect(await list({ name: "odd", limit: 2 })).toMatchObject({ data: [{ created_at: 5 }, { created_at: 3 }], has_more: true });
  });
});

it.each(["asc", "desc"] as const)("a page of 10,000 tenants, %s, is one indexed read without a sort", async (order) => {
  const sql = createEmptySql();
  const asked: { readonly text: string; readonly params: readonly (string | number | null)[] }[] = [];
  const deployment = openForTest({
    sql: {
      ...sql,
      rows: (text, ...params) => {
        asked.push({ text, params });
        return sql.rows(text, ...params);
      },
    },
  });
  await deploymentCalls.registerTenants(
    deployment,
    Array.from({ length: 10_000 }, (_, n) => tenant(n)),
  );
  asked.length = 0;

  const page = await deploymentCalls.listTenants(deployment, { ...FIRST_PAGE, order, limit: 50, after: tenant(5_000) });

  expect(page.data.map(({ created_at }) => created_at).at(0)).toBe(order === "asc" ? 5_001 : 4_999);
  expect(asked).toHaveLength(1);
  const plans = asked.map(({ text, params }) => sql.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...params));
  expect(plans.flatMap((plan) => findUnbounded(plan))).toEqual([]);
  expect(plans.flat().map(({ detail }) => detail)).toEqual([expect.stringContaining("SEARCH tenants USING PRIMARY KEY (")]);
});
