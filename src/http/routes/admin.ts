/**
 * The deployment's admin: makes tenants and their first keys, and reads logs to rebuild the read model from. Here, and
 * only here, a request names a tenant.
 */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { SCOPES } from "../../app/tenant-api";
import { callTwice } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { issueKey, refuseExpiry } from "../issue-key";
import { sendProblem } from "../problem";
import { adminRoute, json, jsonBody } from "../routing";
import { id, time } from "../schemas/ids";
import { counter, limitQuery, listOf, toList } from "../schemas/page";
import { createTenantInput, keyInput, newKeyView } from "../schemas/tenant";

const tag = "admin";
const tenantPath = z.object({ tenant_id: id("ten") });

const createTenant = adminRoute({
  method: "post",
  path: "/v1/admin/tenants",
  tag,
  summary: "Make a tenant",
  request: { body: jsonBody(createTenantInput) },
  responses: { 201: json("Its id", z.object({ tenant_id: id("ten") })) },
});

const createKey = adminRoute({
  method: "post",
  path: "/v1/admin/tenants/{tenant_id}/keys",
  tag,
  summary: "Make a key of a tenant; by default with every scope",
  request: { params: tenantPath, body: jsonBody(keyInput) },
  responses: { 201: json("The key: it is shown this once", newKeyView) },
});

const listSessions = adminRoute({
  method: "get",
  path: "/v1/admin/tenants/{tenant_id}/sessions",
  tag,
  summary: "List a tenant's sessions from its directory, newest first",
  request: { params: tenantPath, query: z.strictObject({ ...limitQuery, after: id("ses").optional() }) },
  responses: { 200: json("A page", listOf(z.object({ id: id("ses"), created_at: time }))) },
});

const exportLog = adminRoute({
  method: "get",
  path: "/v1/admin/tenants/{tenant_id}/sessions/{session_id}/log",
  tag,
  summary: "Read a session's log with its bodies, to rebuild the read model from",
  request: {
    params: tenantPath.extend({ session_id: id("ses") }),
    query: z.strictObject({ ...limitQuery, after: counter.default(0) }),
  },
  responses: {
    200: json(
      "A page in order of seq",
      z.object({
        events: z.array(z.looseObject({ seq: z.int(), at: time, type: z.string() })),
        bodies: z.array(z.object({ id: z.string(), text: z.string() })),
        has_more: z.boolean(),
        next_cursor: z.string().nullable(),
      }),
    ),
  },
});

function registerMaking(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(createTenant, async (c) => {
    const tenant = deps.newId("ten");
    const created = await deps.tenants(tenant).create({ tenant, name: c.req.valid("json").name });
    return created.ok ? c.json({ tenant_id: tenant }, 201) : sendProblem(c, created.error);
  });

  app.openapi(createKey, async (c) => {
    const { name, scopes = SCOPES, expires_at = null } = c.req.valid("json");
    const detail = refuseExpiry(expires_at, deps.now());
    if (detail) return sendProblem(c, { code: "invalid_request", errors: [{ field: "expires_at", detail }] });
    const issued = await issueKey(deps, {
      tenant: c.req.valid("param").tenant_id,
      name,
      scopes: [...new Set(scopes)],
      expires_at,
    });
    return issued.ok ? c.json({ id: issued.value.view.id, key: issued.value.key }, 201) : sendProblem(c, issued.error);
  });
}

function registerReading(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(listSessions, async (c) => {
    const { limit, after = null } = c.req.valid("query");
    const page = await callTwice(
      () => deps.tenants(c.req.valid("param").tenant_id),
      (api) => api.listSessions({ after, limit }),
    );
    return page.ok
      ? c.json(
          toList(page.value, (session) => session.id),
          200,
        )
      : sendProblem(c, page.error);
  });

  app.openapi(exportLog, async (c) => {
    const { limit, after } = c.req.valid("query");
    const { tenant_id: tenant, session_id: session } = c.req.valid("param");
    const page = await callTwice(
      () => deps.sessions(tenant, session),
      (api) => api.exportLog({ tenant, session }, { after, limit }),
    );
    if (!page.ok) return sendProblem(c, page.error);
    const { events, bodies, has_more } = page.value;
    const { next_cursor } = toList({ data: events, has_more }, (event) => event.seq);
    return c.json({ events, bodies, has_more, next_cursor }, 200);
  });
}

export function registerAdmin(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  registerMaking(app, deps);
  registerReading(app, deps);
}
