/**
 * Walks over the document: causes the refusals that do not depend on what an object holds, on each operation that lists them. `call` checks
 * every response against the document. The Worker's tests cause each refusal with each of its reasons (`test/workers/refusals`).
 */
import { describe, expect, it } from "vitest";
import { SCOPES } from "../../src/domain/scopes";
import { LONG_BODY_LIMIT } from "../../src/http/body";
import { ADMIN_KEY, type CallOptions, fillPath, KEY, makeId, plainWorld, principal, sampleBody, type WorldInput, world } from "./support";

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
}
interface Route {
  readonly method: string;
  /** `/v1/sessions/:session_id` */
  readonly path: string;
  readonly operation: Operation;
}

const document: { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> } = await (
  await world().app.request("/openapi.json")
).json();
const routes: readonly Route[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path: path.replace(/\{([a-z_]+)\}/g, ":$1"),
    operation,
  })),
);

const takesJson = ({ operation }: Route): boolean => "application/json" in (operation.requestBody?.content ?? {});
const addQuery = (path: string): string => `${path}${path.includes("?") ? "&" : "?"}of_no_route=1`;

interface Cause {
  readonly isFor: (route: Route) => boolean;
  readonly path?: (path: string) => string;
  readonly options: CallOptions;
  /** The caller lacks the operation's scope, or has the smallest role. */
  readonly powerless?: true;
}

/** How a refusal with each status is caused, on every operation that lists it. */
const CAUSES: Readonly<Record<string, Cause>> = {
  400: { isFor: () => true, path: addQuery, options: {} },
  401: { isFor: () => true, options: { key: "lh_test_unknown" } },
  403: { isFor: (route) => listScopes(route).length > 0, options: {}, powerless: true },
  404: { isFor: ({ path }) => path.startsWith("/v1/sessions/:session_id"), options: {} },
  413: { isFor: takesJson, options: { headers: { "content-length": String(LONG_BODY_LIMIT + 1) } } },
  415: { isFor: takesJson, options: { headers: { "content-type": "text/plain" }, body: "{}" } },
};

const listScopes = ({ operation }: Route): readonly string[] => operation.security.flatMap((entry) => Object.values(entry).flat());
const isOfAdmin = ({ path }: Route): boolean => path.startsWith("/v1/admin/");

const READERS_KEY = "lhadm_test_reader";
const reader = { key: makeId("adm"), role: "read", expires_at: null } as const;

function toPowerless(route: Route): WorldInput {
  const authenticate = async (key: string) => (key === READERS_KEY ? reader : null);
  const deps = { adminKeys: { authenticate, generate: async () => "", noteChange: () => {} } };
  return { principal: principal(SCOPES.filter((scope) => !listScopes(route).includes(scope))), deps };
}

async function cause(route: Route, { path = (same) => same, options, powerless }: Cause): Promise<number> {
  const { call } = powerless ? world(toPowerless(route)) : plainWorld();
  const body = sampleBody(route);
  const adminKey = powerless ? READERS_KEY : ADMIN_KEY;
  const given = { key: isOfAdmin(route) ? adminKey : KEY, ...(body !== undefined && { body }), ...options };
  return (await call(route.method, path(fillPath(route.path)), given)).status;
}

describe.each(Object.entries(CAUSES))("%s", (status, how) => {
  const listed = routes.filter((route) => status in route.operation.responses && how.isFor(route));

  it("is listed by operations", () => {
    expect(listed.length).toBeGreaterThan(10);
  });

  it.each(listed.map((route) => [`${route.method} ${route.path}`, route] as const))("is what %s says", async (_, route) => {
    expect(await cause(route, how)).toBe(Number(status));
  });
});
