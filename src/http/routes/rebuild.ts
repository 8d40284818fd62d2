/** For the deployment's admin: what the read model of a tenant is rebuilt from, and one session's rebuilding. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { type RebuildReport, rebuildSession } from "../../app/rebuild";
import { callTwice } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { sendProblem } from "../problem";
import { reachReadModel } from "../read-model";
import { adminRoute, json } from "../routing";
import { documents } from "../schemas/documents";
import { id, time } from "../schemas/ids";
import { counter, limitQuery, listOf, toList } from "../schemas/page";

const tag = "admin";
const tenantPath = z.object({ tenant_id: id("ten") });
const sessionPath = tenantPath.extend({ session_id: id("ses") });
/** Events of the log that one call to the object reads; the object bounds their bytes. */
const LOG_PAGE = 200;

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
  summary: "Read a session's log with its bodies",
  request: { params: sessionPath, query: z.strictObject({ ...limitQuery, after: counter.default(0) }) },
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

const cell = z.union([z.string(), z.number(), z.null()]);
const reportView = documents<RebuildReport>()(
  z
    .object({
      session: z.string(),
      differences: z
        .array(z.object({ table: z.string(), key: z.string(), column: z.string().nullable(), before: cell, after: cell }))
        .readonly(),
      repaired: z.boolean(),
      rows: z.int(),
    })
    .openapi("RebuildReport"),
);

const rebuild = adminRoute({
  method: "post",
  path: "/v1/admin/tenants/{tenant_id}/sessions/{session_id}/rebuild",
  tag,
  summary: "Compare a session's rows with its log, and write again what differs",
  request: { params: sessionPath },
  responses: { 200: json("What was wrong, and whether it still is", reportView) },
});

function registerReading(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(listSessions, async (c) => {
    const { limit, after = null } = c.req.valid("query");
    const page = await callTwice(
      () => deps.tenants(c.req.valid("param").tenant_id),
      (api) => api.listSessions({ after, limit }),
    );
    if (!page.ok) return sendProblem(c, page.error);
    return c.json(
      toList(page.value, (session) => session.id),
      200,
    );
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

export function registerRebuild(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  registerReading(app, deps);
  app.openapi(rebuild, async (c) => {
    const { tenant_id: tenant, session_id: session } = c.req.valid("param");
    const caller = { tenant, session };
    const readLog = (after: number) =>
      callTwice(
        () => deps.sessions(tenant, session),
        (api) => api.exportLog(caller, { after, limit: LOG_PAGE }),
      );
    const ports = { ...deps.rows(tenant), readLog, now: deps.now };
    const reached = await reachReadModel(c, deps, () => rebuildSession(ports, caller));
    if (!reached.ok) return sendProblem(c, reached.error);
    return reached.value.ok ? c.json(reached.value.value, 200) : sendProblem(c, reached.value.error);
  });
}
