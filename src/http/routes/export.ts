/** For the deployment's admin: exports a tenant as its objects know it, which is also the source of the read model. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { SessionPage } from "../../app/tenant-api";
import { parseLevel } from "../../context/policy-choice";
import { eventView } from "../../contract/event";
import { id, time } from "../../contract/ids";
import { listView } from "../../contract/page";
import { tenantExportView } from "../../contract/tenant";
import type { SessionId, TenantId } from "../../domain/ids";
import type { Result } from "../../lib/result";
import { adoptTenant } from "../adopt-tenants";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { eventExample } from "../examples/conversation";
import { AT, onePage, SESSION } from "../examples/shared";
import { tenantExportExample } from "../examples/tenant";
import { type HttpError, sendProblem } from "../problem";
import { readAct } from "../read-act";
import { reachReadModel } from "../read-model";
import { adminRoute, json } from "../routing";
import { toModelView } from "../schemas/model";
import { counter, limitQuery, toList } from "../schemas/page";
import { toAssigned } from "../schemas/tenant";

const tag = "admin";
const tenantPath = z.object({ tenant_id: id("ten") });
const sessionPath = tenantPath.extend({ session_id: id("ses") });
const sessionsQuery = z.strictObject({
  ...limitQuery,
  after: id("ses").optional().openapi({ description: "next_cursor of the page before" }),
  source: z
    .enum(["directory", "rows"])
    .default("directory")
    .openapi({ description: "`rows` lists the sessions of the read model, so that they can be compared with the tenant's directory" }),
});

const readTenant = adminRoute({
  method: "get",
  path: "/v1/admin/tenants/{tenant_id}",
  tag,
  role: "read",
  operationId: "getTenantExport",
  summary: "Read a tenant",
  description: "Shows a tenant as its object knows it: settings, models and keys, without secrets.",
  refuses: ["tenant_not_found"],
  request: { params: tenantPath },
  responses: { 200: json("The tenant", tenantExportView, tenantExportExample) },
});

const listSessions = adminRoute({
  method: "get",
  path: "/v1/admin/tenants/{tenant_id}/sessions",
  tag,
  role: "read",
  operationId: "listTenantSessions",
  summary: "List a tenant's sessions",
  description: "The newest session comes first. `source` chooses the tenant's directory or the rows of the read model.",
  refuses: ["tenant_not_found", "read_model_unavailable"],
  request: { params: tenantPath, query: sessionsQuery },
  responses: { 200: json("A page", listView(z.object({ id: id("ses"), created_at: time })), onePage({ id: SESSION, created_at: AT })) },
});

const exportLog = adminRoute({
  method: "get",
  path: "/v1/admin/tenants/{tenant_id}/sessions/{session_id}/log",
  tag,
  role: "own",
  operationId: "exportSessionLog",
  summary: "Export a session's log",
  description: "Reads a page of the log with the content that its events refer to.",
  refuses: ["session_not_found", "session_erased"],
  request: {
    params: sessionPath,
    query: z.strictObject({ ...limitQuery, after: counter.default(0).openapi({ description: "next_cursor of the page before" }) }),
  },
  responses: {
    200: json(
      "A page in order of seq",
      z.object({
        events: z.array(eventView),
        bodies: z.array(z.object({ id: z.string(), text: z.string() })),
        has_more: z.boolean(),
        next_cursor: z.string().nullable(),
      }),
      { events: [eventExample], bodies: [], has_more: false, next_cursor: null },
    ),
  },
});

interface SessionsQuery {
  readonly tenant: TenantId;
  readonly after: SessionId | null;
  readonly limit: number;
}
type ListSessions = (c: Context<HttpEnv>, deps: HttpDeps, query: SessionsQuery) => Promise<Result<SessionPage, HttpError>>;

const listFrom: Readonly<Record<"directory" | "rows", ListSessions>> = {
  directory: (_, deps, { tenant, ...page }) =>
    callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.listSessions(page),
    ),
  rows: (c, deps, query) => reachReadModel(c, deps, async () => (await deps.tenantRows(query.tenant)).listSessions(query)),
};

export function registerExport(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(readTenant, async (c) => {
    const exported = await callWithRetry(
      () => deps.tenants(c.req.valid("param").tenant_id),
      (api) => api.exportTenant(),
    );
    if (!exported.ok) return sendProblem(c, exported.error);
    const { tenant, settings, models, keys, created_at, standing } = exported.value;
    await adoptTenant(deps, tenant);
    const own = { ...settings, default_policy: parseLevel(settings.default_policy) };
    const assigned = toAssigned(await deps.tenants(tenant).assigned());
    return c.json({ id: tenant, ...own, ...standing, ...assigned, created_at, models: models.map(toModelView), keys }, 200);
  });

  app.openapi(listSessions, async (c) => {
    const { limit, after = null, source } = c.req.valid("query");
    const { tenant_id: tenant } = c.req.valid("param");
    const listed = await listFrom[source](c, deps, { tenant, limit, after });
    return listed.ok
      ? c.json(
          toList(listed.value, (session) => session.id),
          200,
        )
      : sendProblem(c, listed.error);
  });

  app.openapi(exportLog, async (c) => {
    const { limit, after } = c.req.valid("query");
    const { tenant_id: tenant, session_id: session } = c.req.valid("param");
    const page = await callWithRetry(
      () => deps.sessions(tenant, session),
      (api) => api.exportLog({ tenant, session }, { after, limit }),
    );
    if (!page.ok) return sendProblem(c, page.error);
    const { events, bodies, has_more } = page.value;
    const [first, last] = [events[0], events.at(-1)];
    // Nothing is shown that is not in the tenant's audit log.
    const noted = await deps.tenants(tenant).recordAct(readAct(c), {
      action: "content.read_by_admin",
      target: { type: "session", id: session },
      details: { ...(first && { from_seq: first.seq }), ...(last && { to_seq: last.seq }) },
    });
    if (!noted.ok) return sendProblem(c, noted.error);
    const { next_cursor } = toList({ data: events, has_more }, (event) => event.seq);
    return c.json({ events, bodies, has_more, next_cursor }, 200);
  });
}
