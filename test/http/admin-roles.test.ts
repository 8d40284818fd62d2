/** The documented table of roles is what the OpenAPI document says, and so what is enforced. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ADMIN_ROLES, type AdminRole, includesRole } from "../../src/domain/admin-roles";
import { ADMIN_KEY, FOREIGN_TENANT, makeId, world } from "./support";

interface Operation {
  readonly operationId: string;
  readonly security: readonly { readonly admin_key?: readonly string[] }[];
}
const document: { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> } = await (
  await world().app.request("/openapi.json")
).json();

describe("the roles of admins", () => {
  it("are documented for each operation in one table", () => {
    const [, table = ""] = readFileSync("docs/admins.md", "utf8").split("## Roles");
    const rows = [...table.matchAll(/^\| `(read|operate|own)` \|[^|]*\| (.*) \|$/gm)];
    const documented = rows.flatMap(([, role, names = ""]) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => `${name} ${role}`));

    const enforced = Object.entries(document.paths)
      .filter(([path]) => path.startsWith("/v1/admin/"))
      .flatMap(([, methods]) => Object.values(methods).map((each) => `${each.operationId} ${each.security[0]?.admin_key?.join("+")}`));

    expect(enforced.length).toBeGreaterThan(10);
    expect(documented.toSorted()).toEqual(enforced.toSorted());
  });

  it("include those before them", () => {
    const table = ADMIN_ROLES.map((held) => ADMIN_ROLES.filter((needed) => includesRole(held, needed)));

    expect(table).toEqual([["read"], ["read", "operate"], ["read", "operate", "own"]]);
  });
});

describe("an admin", () => {
  const withRole = (role: AdminRole) => {
    const authenticate = async () => ({ key: makeId("adm"), role, expires_at: null });
    return world({ deps: { adminKeys: { authenticate, generate: async () => "", noteChange: () => {} } } });
  };

  it("is named in the log by the key, and never by its secret", async () => {
    const { call, log } = withRole("read");

    await call("GET", "/v1/admin/tenants", { key: "lhadm_test_secret" });

    expect(log.map(({ fields }) => fields)).toContainEqual(
      expect.objectContaining({ route: "/v1/admin/tenants", admin_key: makeId("adm") }),
    );
    expect(JSON.stringify(log)).not.toContain("secret");
  });

  it("without the role reaches no object", async () => {
    const { call, asked } = withRole("read");

    const response = await call("POST", `/v1/admin/tenants/${FOREIGN_TENANT}/keys`, { key: "lhadm_test_secret", body: { name: "x" } });

    expect([response.status, asked]).toEqual([403, { tenants: [], sessions: [] }]);
  });

  it("with ADMIN_KEY is found without asking for an admin key", async () => {
    const authenticate = () => Promise.reject(new Error("The deployment's object is out of reach"));
    const { call } = world({ deps: { adminKeys: { authenticate, generate: async () => "", noteChange: () => {} } } });

    expect((await call("GET", "/v1/admin/tenants", { key: ADMIN_KEY })).status).toBe(200);
  });
});
