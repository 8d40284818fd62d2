/** Every answer binds browsers: of each route, with each kind of fault, and where there is no route. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { TenantApi } from "../../src/app/tenant-api";
import { answerMisconfigured } from "../../src/http/misconfigured";
import { findUnsafeHeaders } from "../support/unsafe-headers";
import { ADMIN_KEY, fillPath, KEY, listAll, type RouteEntry, sampleBody, world } from "./support";

const HTTPS = "https://chat.example.com";
const ADDRESSES = [null, "http://localhost:8787", HTTPS] as const;
const routes = listAll(world().app).map((route) => [`${route.method} ${route.path}`, route] as const);
const keyFor = (path: string): string => (path.startsWith("/v1/admin/") ? ADMIN_KEY : KEY);
const isSent = ({ method }: RouteEntry): boolean => method !== "GET" && method !== "DELETE";

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Asks the route in each of the ways in which it can be asked badly, and once as it wants. */
function listWays(route: RouteEntry): readonly Asked[] {
  const authorization = `Bearer ${keyFor(route.path)}`;
  const type = { "content-type": "application/json" };
  const { method } = route;
  const body = JSON.stringify(sampleBody(route) ?? {});
  return [
    { method, headers: { authorization, ...type }, ...(isSent(route) && { body }) },
    { method },
    { method, headers: { authorization, ...type, origin: "https://evil.example.com" }, ...(isSent(route) && { body }) },
    { method: "OPTIONS", headers: { origin: "https://app.example.com", "access-control-request-method": method } },
    { method: "LOCK", headers: { authorization } },
    ...(method === "GET" ? [{ method: "HEAD", headers: { authorization } }] : []),
    ...(isSent(route)
      ? [
          { method, headers: { authorization, ...type }, body: "{" },
          { method, headers: { authorization }, body },
        ]
      : []),
  ];
}

describe.each(ADDRESSES)("with the address %s", (publicUrl) => {
  const { app } = world({ config: { publicUrl } });

  it.each(routes)("%s sends the headers with every status", async (_, route) => {
    const statuses = new Set<number>();
    for (const way of listWays(route)) {
      const path = fillPath(route.path);
      const response = await app.request(path, way);
      statuses.add(response.status);
      expect(findUnsafeHeaders(response, { path, publicUrl })).toEqual([]);
      await response.body?.cancel();
    }
    expect(statuses.size).toBeGreaterThan(1);
  });
});

describe("an answer that no route gives", () => {
  it.each([["/nothing"], ["/docs/"], ["/v1/nothing"], ["/v1/models/a/b"], ["/%ff"]])("%s has them", async (path) => {
    const response = await world({ config: { publicUrl: HTTPS } }).app.request(path, { headers: { authorization: `Bearer ${KEY}` } });

    expect(findUnsafeHeaders(response, { path, publicUrl: HTTPS })).toEqual([]);
  });

  it("because a defect was met has them", async () => {
    const settings: TenantApi["settings"] = async () => {
      throw new Error("a defect");
    };

    const response = await world({ tenant: { settings } }).call("GET", "/v1/tenant");

    expect(response.status).toBe(500);
  });

  it("because a variable is invalid has them, but no address to keep to", () => {
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const { error } = z.object({ KEY_PEPPER: z.string() }).safeParse({});
    const response = answerMisconfigured(error ?? new z.ZodError([]), log);

    expect(findUnsafeHeaders(response, { path: "/v1/tenant", publicUrl: null })).toEqual([]);
  });
});

describe("what an answer is", () => {
  it("the reference page is the only one that runs scripts", async () => {
    const readDocsFile = async () => new Response("page", { headers: { "content-type": "text/html" } });
    const { app } = world({ deps: { readDocsFile } });
    const running: string[] = [];
    for (const [name, route] of routes) {
      if (route.method !== "GET") continue;
      const response = await app.request(fillPath(route.path), { headers: { authorization: `Bearer ${keyFor(route.path)}` } });
      if (/script-src/.test(response.headers.get("content-security-policy") ?? "")) running.push(name);
      await response.body?.cancel();
    }

    expect(running).toEqual(["GET /docs", "GET /docs/:file"]);
  });

  it("the reference page loses its opener, and stands in no frame", async () => {
    const readDocsFile = async () => new Response("page", { headers: { "content-type": "text/html" } });
    const { headers } = await world({ deps: { readDocsFile } }).call("GET", "/docs", { key: null });

    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  });
});
