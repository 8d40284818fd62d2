/** The table of `docs/keys.md` against every operation: of the native API, of other vendors' APIs, and of MCP. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SCOPES, type Scope } from "../../src/domain/scopes";
import { connect } from "./mcp/connect";
import { fillPath, listRoutes, listVendorRoutes, makeId, principal, type RouteEntry, SESSION, sampleBody, world } from "./support";

const PAGE = join(import.meta.dirname, "..", "..", "docs", "keys.md");
/** The beginnings of paths that the page writes as one letter. */
const PREFIXES: Readonly<Record<string, string>> = {
  S: "/v1/sessions/:session_id",
  C: "/v1/conversations/:conversation_id",
  R: "/v1/responses/:response_id",
  W: "/v1/webhook_endpoints",
};

const toPath = (written: string): string => written.replace(/^[SCRW](?=\/|$)/, (letter) => PREFIXES[letter] ?? letter);

/** `GET S` of the page as `GET /v1/sessions/:session_id`. The name of an MCP tool stays as it is. */
const toOperation = (written: string): string => {
  const [method = "", path] = written.split(" ");
  return path === undefined ? method : `${method} ${toPath(path)}`;
};

/** The operations of a scope, and of "any key". */
const table = readFileSync(PAGE, "utf8")
  .split("\n")
  .filter((line) => /^\| (?:`\w+:\w+`|any key) \|/.test(line))
  .flatMap((line) => {
    const [, scope = "", ...cells] = line.split("|").map((cell) => cell.trim());
    const written = [...cells.join(" ").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => toOperation(code));
    return written.map((operation) => ({ operation, scope: scope.replaceAll("`", "") }));
  });
const scopeOf = new Map(table.map(({ operation, scope }) => [operation, scope]));

const { app } = world();
const routes = [
  ...listRoutes(app).filter(({ path }) => path.startsWith("/v1/") && !path.startsWith("/v1/admin/")),
  ...listVendorRoutes(app),
];
const name = ({ method, path }: RouteEntry): string => `${method} ${path}`;
const withoutScope = (scope: string): Scope[] => SCOPES.filter((each) => each !== scope);

/** The MCP tools that a key with all scopes sees. */
const tools = await (async () => (await (await connect()).client.listTools()).tools.map((tool) => tool.name))();

describe("the table of scopes", () => {
  it("has every operation once, and no other", () => {
    expect(table.map(({ operation }) => operation).sort()).toEqual([...routes.map(name), ...tools].sort());
  });

  it("names every scope, and no other", () => {
    expect([...new Set(scopeOf.values())].sort()).toEqual([...SCOPES, "any key"].sort());
  });
});

describe("a key with all scopes but the one that the table names", () => {
  const scoped = routes
    .map((route) => [name(route), route, scopeOf.get(name(route)) ?? ""] as const)
    .filter(([, , scope]) => scope !== "any key");

  it.each(scoped)("is refused %s, with that scope", async (_, route, scope) => {
    const { call, app: closed, asked } = world({ principal: principal(withoutScope(scope)) });
    const isOfVendor = listVendorRoutes(closed).some((each) => name(each) === name(route));
    const headers = { "anthropic-version": "2023-06-01", authorization: "Bearer lh_test_a-key", "content-type": "application/json" };

    const response = isOfVendor
      ? await closed.request(fillPath(route.path), { method: route.method, headers, ...(route.method === "POST" && { body: "{}" }) })
      : await call(route.method, fillPath(route.path), { body: sampleBody(route) });

    expect(response.status).toBe(403);
    expect(response.headers.get("www-authenticate")).toContain(`scope="${scope}"`);
    expect(asked).toEqual({ tenants: [], sessions: [] });
  });

  it.each(tools)("is refused the MCP tool %s, with that scope", async (tool) => {
    const scope = scopeOf.get(tool) ?? "";
    const { client, asked } = await connect({ principal: principal(withoutScope(scope)) });

    const { isError, content } = await client.callTool({
      name: tool,
      arguments: { session_id: SESSION, text: "x", query: "x", turn_id: makeId("trn") },
    });

    const [said] = content as { readonly text: string }[];
    expect([isError, JSON.parse(said?.text ?? "null").scope]).toEqual([true, scope]);
    expect(asked).toEqual({ tenants: [], sessions: [] });
  });
});

describe("a key with the scope that the table names alone", () => {
  const scoped = routes.map((route) => [name(route), route, scopeOf.get(name(route)) ?? ""] as const);

  it.each(scoped)("is not refused %s for a scope", async (_, route, scope) => {
    const { app: open } = world({ principal: principal(SCOPES.filter((each) => each === scope)) });
    const headers = { "anthropic-version": "2023-06-01", authorization: "Bearer lh_test_a-key", "content-type": "application/json" };
    const body = sampleBody(route);

    const response = await open.request(fillPath(route.path), {
      method: route.method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

    expect(response.headers.get("www-authenticate") ?? "").not.toContain("scope=");
    expect([401, 403]).not.toContain(response.status);
  });
});
