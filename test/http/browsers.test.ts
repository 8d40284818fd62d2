/** Requests as browsers send them: with an `Origin`, and preflights. */
import { describe, expect, it } from "vitest";
import type { TenantApi } from "../../src/app/tenant-api";
import { ok } from "../../src/lib/result";
import { ADMIN_KEY, listRoutes, readProblem, SETTINGS, TENANT, type WorldInput, world } from "./support";

const APP = "https://app.example.com";
const allow = (...origins: string[]): WorldInput => ({ deps: { knownSettings: async () => ({ ...SETTINGS, allowed_origins: origins }) } });

describe("a request with an Origin", () => {
  it("that the tenant allows is answered, and its page may read the answer and its headers", async () => {
    const response = await world(allow(APP)).call("GET", "/v1/tenant", { headers: { origin: APP } });

    expect(response.status).toBe(200);
    expect(response.headers.get("access-control-allow-origin")).toBe(APP);
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    expect(response.headers.get("access-control-expose-headers")?.toLowerCase().split(",")).toEqual(
      expect.arrayContaining(["x-request-id", "location", "retry-after", "idempotent-replayed", "etag"]),
    );
    expect(response.headers.get("vary")).toContain("Origin");
  });

  it.each([
    ["none is allowed", [], APP],
    ["another is allowed", [APP], "https://evil.example.com"],
    ["it only begins like an allowed one", [APP], `${APP}.evil.test`],
    ["it only ends like an allowed one", [APP], "https://notapp.example.com"],
    ["its scheme is another", [APP], "http://app.example.com"],
    ["its port is another", [APP], `${APP}:8443`],
    ["its letters are capitals", [APP], "https://APP.example.com"],
    ["it is null: a sandboxed frame or a file", [APP], "null"],
    ["it is empty", [APP], ""],
  ])("is refused when %s, and nothing is done", async (_, origins, origin) => {
    const { call, asked } = world(allow(...origins));

    const response = await call("PATCH", "/v1/tenant", { body: { name: "Evil" }, headers: { origin } });

    expect(response.status).toBe(403);
    expect((await readProblem(response)).type).toBe("urn:longhand:problem:origin_not_allowed");
    expect(asked).toEqual({ tenants: [], sessions: [] });
  });

  it.each([APP, "null", "capacitor://localhost"])("%s is allowed by *", async (origin) => {
    expect((await world(allow("*")).call("GET", "/v1/tenant", { headers: { origin } })).status).toBe(200);
  });

  it("of this service itself is answered, whatever the tenant allows", async () => {
    const { app } = world();
    const headers = { origin: "https://longhand.test", authorization: "Bearer lh_test_a-key" };

    expect((await app.request("https://longhand.test/v1/tenant", { headers })).status).toBe(200);
    expect((await app.request("https://longhand.test:8443/v1/tenant", { headers })).status).toBe(403);
  });

  it("asks for the origins of the key's tenant", async () => {
    const asked: string[] = [];
    const knownSettings = async (tenant: string) => {
      asked.push(tenant);
      return { ...SETTINGS, allowed_origins: [APP] };
    };

    await world({ deps: { knownSettings } }).call("GET", "/v1/tenant", { headers: { origin: APP } });

    expect(asked).toEqual([TENANT]);
  });

  it("and without a valid key is answered 401, which its page may read: it has to renew its token", async () => {
    const response = await world(allow(APP)).call("GET", "/v1/tenant", { key: null, headers: { origin: APP } });

    expect(response.status).toBe(401);
    expect(response.headers.get("access-control-allow-origin")).toBe(APP);
  });

  it("that fails lets its page read the failure", async () => {
    const settings: TenantApi["settings"] = async () => {
      throw Object.assign(new Error("away"), { retryable: true });
    };
    const response = await world({ ...allow(APP), tenant: { settings } }).call("GET", "/v1/tenant", { headers: { origin: APP } });

    expect(response.status).toBe(503);
    expect(response.headers.get("access-control-allow-origin")).toBe(APP);
  });

  it("is not answered when the allowed origins cannot be read", async () => {
    const knownSettings = () => Promise.reject(Object.assign(new Error("away"), { retryable: true }));
    const { call, asked } = world({ deps: { knownSettings } });

    expect((await call("GET", "/v1/tenant", { headers: { origin: APP } })).status).toBe(503);
    expect(asked).toEqual({ tenants: [], sessions: [] });
  });

  it("of the admin's routes is not shared with any page", async () => {
    const headers = { origin: APP };
    const response = await world(allow("*")).call("POST", "/v1/admin/tenants", { key: ADMIN_KEY, body: { name: "Acme" }, headers });

    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });
});

it("a request without an Origin is not asked for one, and is told apart by caches", async () => {
  const { call } = world({ deps: { knownSettings: () => Promise.reject(new Error("not needed")) } });

  const response = await call("GET", "/v1/tenant");

  expect(response.status).toBe(200);
  expect(response.headers.get("access-control-allow-origin")).toBeNull();
  expect(response.headers.get("vary")).toContain("Origin");
});

describe("a preflight", () => {
  const preflight = (path: string, method = "POST", more: Readonly<Record<string, string>> = {}) =>
    world().app.request(path, { method: "OPTIONS", headers: { origin: APP, "access-control-request-method": method, ...more } });

  it("needs no key, for any origin and route, and allows no credentials", async () => {
    for (const path of ["/v1/tenant", "/v1/tokens", "/v1/sessions/x/messages"]) {
      const response = await preflight(path, "PUT", { "access-control-request-headers": "authorization,idempotency-key,if-match" });

      expect(response.status).toBe(204);
      expect(response.headers.get("access-control-allow-origin")).toBe(APP);
      expect(response.headers.get("access-control-allow-headers")).toBe("authorization,idempotency-key,if-match");
      expect(response.headers.get("access-control-allow-credentials")).toBeNull();
      expect(response.headers.get("access-control-max-age")).toBe("7200");
    }
  });

  it("allows the methods of all routes", async () => {
    const allowed = (await preflight("/v1/tenant")).headers.get("access-control-allow-methods")?.split(",");

    expect(allowed).toEqual(expect.arrayContaining([...new Set(listRoutes(world().app).map(({ method }) => method))]));
  });

  it("of an admin's route is refused as any request without the key", async () => {
    const response = await preflight("/v1/admin/tenants");

    expect(response.status).toBe(401);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("is only what a browser sends: another OPTIONS needs a key", async () => {
    const { app } = world();

    expect((await app.request("/v1/tenant", { method: "OPTIONS" })).status).toBe(401);
    expect((await app.request("/v1/tenant", { method: "OPTIONS", headers: { origin: APP } })).status).toBe(401);
  });
});

describe("allowed_origins", () => {
  const patch = (allowed_origins: unknown) => {
    const seen: unknown[] = [];
    const changeSettings: TenantApi["changeSettings"] = async (_, changes) => {
      seen.push(changes);
      return ok({ name: "Acme", default_model: "embedded", default_policy: "", allowed_origins: changes.allowed_origins ?? [] });
    };
    return { seen, response: world({ tenant: { changeSettings } }).call("PATCH", "/v1/tenant", { body: { allowed_origins } }) };
  };

  it.each([
    [[]],
    [["*"]],
    [[APP, "http://localhost:3000", "http://127.0.0.1:8787", "http://[::1]:3000", "https://xn--r8jz45g.jp"]],
    [["capacitor://localhost", "chrome-extension://abcdefghijklmnop", "tauri://localhost"]],
    [Array.from({ length: 100 }, (_, n) => `https://app-${n}.example.com`)],
  ])("takes %j", async (origins) => {
    const response = await patch(origins).response;

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ allowed_origins: origins });
  });

  it("names a repeated origin once", async () => {
    const { seen, response } = patch([APP, APP]);
    await response;

    expect(seen).toEqual([{ allowed_origins: [APP] }]);
  });

  it.each([
    "app.example.com",
    `${APP}/`,
    `${APP}/chat`,
    `${APP}:443`,
    "https://APP.example.com",
    "https://例え.jp",
    "https://user@app.example.com",
    "https://*.example.com",
    "https://app.example.com?x",
    "https://app.example.com#x",
    "https://",
    "//app.example.com",
    "null",
    "",
    " https://app.example.com",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///",
    `https://${"a".repeat(300)}.com`,
  ])("refuses %j, which no browser sends", async (origin) => {
    const { seen, response } = patch([APP, origin]);

    expect((await response).status).toBe(400);
    expect((await readProblem(await response)).errors?.map(({ field }) => field)).toEqual(["allowed_origins.1"]);
    expect(seen).toEqual([]);
  });

  it.each([
    ["a text", APP, "allowed_origins"],
    ["null", null, "allowed_origins"],
    ["too many", Array.from({ length: 101 }, (_, n) => `https://app-${n}.example.com`), "allowed_origins"],
  ])("refuses %s", async (_, value, field) => {
    const problem = await readProblem(await patch(value).response);

    expect(problem.errors?.map((each) => each.field)).toEqual([field]);
  });
});
