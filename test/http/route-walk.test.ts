import { describe, expect, it } from "vitest";
import { SCOPES, type Scope } from "../../src/domain/scopes";
import {
  ADMIN_KEY,
  FOREIGN_TENANT,
  fillPath,
  listRoutes,
  plainWorld,
  principal,
  type RouteEntry,
  readProblem,
  SESSION,
  sampleBody,
  TENANT,
  world,
} from "./support";

const all = listRoutes(world().app);
const isAdmin = ({ path }: RouteEntry) => path.startsWith("/v1/admin/");
const closed = all.filter(({ path }) => path.startsWith("/v1/"));
const ofTenants = closed.filter((route) => !isAdmin(route));
const ofSessions = ofTenants.filter(({ path }) => path.includes(":session_id"));
const ofAdmin = closed.filter(isAdmin);
/** Queries whose words must not be in a URL are sent by POST, and change nothing. */
const ASKED_BY_POST = ["/v1/sessions/:session_id/context", "/v1/sessions/:session_id/recall"];
const reads = ({ method, path }: RouteEntry): boolean => method === "GET" || ASKED_BY_POST.includes(path);
const name = ({ method, path }: RouteEntry) => `${method} ${path}`;

interface Operation {
  readonly security: readonly Readonly<Record<string, readonly Scope[]>>[];
}
const document: { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> } = await (
  await plainWorld().app.request("/openapi.json")
).json();

/** The scopes that the OpenAPI document requires for the route. */
function listScopes({ method, path }: RouteEntry): readonly Scope[] {
  const operation = document.paths[path.replace(/:([a-z_]+)/g, "{$1}")]?.[method.toLowerCase()];
  return operation?.security.flatMap((entry) => entry.api_key ?? []) ?? [];
}

describe("the walk", () => {
  it("finds the routes that it is about", () => {
    expect(ofSessions.length).toBeGreaterThanOrEqual(15);
    expect(ofTenants.length).toBeGreaterThan(ofSessions.length);
    expect(ofAdmin.length).toBeGreaterThanOrEqual(3);
  });
});

describe("without a key", () => {
  it.each(closed.map((route) => [name(route), route] as const))("%s is refused, and no object is asked", async (_, route) => {
    const { call, asked } = plainWorld();

    const response = await call(route.method, fillPath(route.path), { key: null, body: sampleBody(route) });

    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect((await readProblem(response)).type).toBe("urn:longhand:problem:unauthorized");
    expect(asked).toEqual({ tenants: [], sessions: [] });
  });

  it.each(["Bearer", "Bearer ", "Basic bGg6", "lh_test_a-key", "Bearer lh_test_a-key extra", "Bearer lh_test_other"])(
    "a header %j is no key",
    async (authorization) => {
      const { call } = plainWorld();

      const response = await call("GET", "/v1/tenant", { key: null, headers: { authorization } });

      expect(response.status).toBe(401);
    },
  );
});

describe("with a tenant's key", () => {
  it.each(ofAdmin.map((route) => [name(route), route] as const))("%s is refused", async (_, route) => {
    const response = await plainWorld().call(route.method, fillPath(route.path), { body: sampleBody(route) });

    expect(response.status).toBe(401);
  });

  it.each(ofSessions.map((route) => [name(route), route] as const))("%s of another tenant's session is unknown", async (_, route) => {
    const { call } = plainWorld();

    const response = await call(route.method, fillPath(route.path), { body: sampleBody(route) });

    expect(response.status).toBe(404);
    const { type, errors } = await readProblem(response);
    expect(type).toBe("urn:longhand:problem:session_not_found");
    expect(errors?.map(({ field }) => field)).toEqual(["session_id"]);
  });

  it.each(ofTenants.map((route) => [name(route), route] as const))("%s asks only for the key's own tenant", async (_, route) => {
    const { call, asked } = plainWorld();
    const elsewhere = { "x-tenant": FOREIGN_TENANT, "x-tenant-id": FOREIGN_TENANT, cookie: `tenant=${FOREIGN_TENANT}` };

    await call(route.method, fillPath(route.path), { body: sampleBody(route), headers: elsewhere });

    expect(new Set([...asked.tenants, ...asked.sessions.map(({ tenant }) => tenant)])).not.toContain(FOREIGN_TENANT);
    if (route.path.includes(":session_id")) expect(asked.sessions).toContainEqual({ tenant: TENANT, session: SESSION });
  });

  it.each(ofTenants.map((route) => [name(route), route] as const))("%s does not wait for the deployment's object", async (_, route) => {
    let calls = 0;
    const deployment = () => {
      calls += 1;
      throw new Error("A route of a tenant asked the deployment's object");
    };
    const { call } = world({ deps: { deployment } });

    await call(route.method, fillPath(route.path), { body: sampleBody(route) });

    expect(calls).toBe(0);
  });

  it.each(ofTenants.map((route) => [name(route), route] as const))("%s takes no tenant from its body or query", async (_, route) => {
    const { call, asked } = plainWorld();
    const body = sampleBody(route);
    const smuggled = typeof body === "object" ? { ...body, tenant: FOREIGN_TENANT } : undefined;

    await call(route.method, `${fillPath(route.path)}?tenant=${FOREIGN_TENANT}`, { body: smuggled });

    expect([...asked.tenants, ...asked.sessions.map(({ tenant }) => tenant)]).not.toContain(FOREIGN_TENANT);
  });

  it.each(ofSessions.map((route) => [name(route), route] as const))("%s with odd characters for an id is unknown", async (_, route) => {
    const { call, asked } = plainWorld();
    const odd = ["ses_1", "ses_01jd8z3v6q4n7r2t5w9x0y1abc", "%00", "ses_%27%20OR%201", "%F0%9F%92%A5", "%ff", `${SESSION}x`, "..%2F.."];

    for (const id of odd) {
      const response = await call(route.method, fillPath(route.path).replace(SESSION, id), { body: sampleBody(route) });
      expect([id, response.status]).toEqual([id, 404]);
      expect((await readProblem(response)).errors?.map(({ field }) => field)).toEqual(["session_id"]);
    }
    expect(asked.sessions).toEqual([]);
  });
});

describe("a query field that a route does not know", () => {
  const routes = listRoutes(plainWorld().app);

  it.each(routes.map((route) => [name(route), route] as const))("%s refuses it by name", async (_, route) => {
    const { call, asked } = plainWorld();
    const path = fillPath(route.path);
    const key = isAdmin(route) ? { key: ADMIN_KEY } : {};

    const response = await call(route.method, `${path}${path.includes("?") ? "&" : "?"}limt=5`, { body: sampleBody(route), ...key });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors).toEqual([{ field: "limt", detail: "unknown field" }]);
    expect(asked).toEqual({ tenants: [], sessions: [] });
  });

  it("is told from no query at all", async () => {
    expect((await plainWorld().call("GET", "/v1/tenant?")).status).toBe(200);
  });
});

describe("scopes", () => {
  const scoped = ofTenants.filter((route) => listScopes(route).length > 0);

  it("are needed for everything but what any key may know", () => {
    expect(ofTenants.filter((route) => listScopes(route).length === 0).map(name)).toEqual([
      "GET /v1/policies",
      "GET /v1/policies/:policy_name",
      "POST /v1/tokens",
      "GET /v1/models",
      "GET /v1/models/:model_id",
      "GET /v1/tenant",
      "GET /v1/limits",
    ]);
  });

  it.each(scoped.map((route) => [name(route), route] as const))(
    "%s names the one that is missing, as the document does",
    async (_, route) => {
      const needed = listScopes(route);
      const { call, asked } = world({ principal: principal(SCOPES.filter((scope) => !needed.includes(scope))) });

      const response = await call(route.method, fillPath(route.path), { body: sampleBody(route) });

      expect(response.status).toBe(403);
      expect([(await readProblem(response)).scope]).toEqual(needed);
      expect(asked).toEqual({ tenants: [], sessions: [] });
    },
  );

  it.each(ofSessions.map((route) => [name(route), route] as const))(
    "%s reads with a scope that reads, and changes with one that changes",
    (_, route) => {
      const fitting = reads(route) ? ["sessions:read", "usage:read"] : ["sessions:write", "sessions:erase"];

      expect(fitting).toContain(listScopes(route).join());
    },
  );
});

describe("a key that ended after it was looked up", () => {
  it.each([
    ["one millisecond ago", -1, 401],
    ["now", 0, 401],
    ["in a millisecond", 1, 200],
  ])("%s: refused from its end on", async (_, offset, status) => {
    const { call } = world({ principal: principal(SCOPES, 1_795_000_000_000 + offset) });

    expect((await call("GET", "/v1/tenant")).status).toBe(status);
  });
});

describe("the admin's key", () => {
  it.each(ofAdmin.map((route) => [name(route), route] as const))("%s opens to it alone", async (_, route) => {
    const path = fillPath(route.path);
    const body = sampleBody(route);

    expect((await plainWorld().call(route.method, path, { key: ADMIN_KEY, body })).status).not.toBe(401);
    expect((await plainWorld().call(route.method, path, { key: `${ADMIN_KEY}x`, body })).status).toBe(401);
    expect((await world({ config: { adminKey: null } }).call(route.method, path, { key: ADMIN_KEY, body })).status).toBe(401);
  });

  it("opens nothing of a tenant", async () => {
    expect((await plainWorld().call("GET", "/v1/tenant", { key: ADMIN_KEY })).status).toBe(401);
  });
});
