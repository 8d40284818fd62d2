/** Erases end users, and reads erasures with their receipts. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { toErasureView } from "../../app/erasure-view";
import { erasureView } from "../../contract/erasure";
import { id } from "../../contract/ids";
import { endUser } from "../../contract/label";
import { listView } from "../../contract/page";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { Asker, HttpDeps, HttpEnv } from "../deps";
import { erasureResourceExample } from "../examples/erasure";
import { onePage } from "../examples/shared";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { adminRoute, json, located, tenantRoute } from "../routing";
import { limitQuery, toList } from "../schemas/page";
import { faultOfName } from "../validation";

const tag = "erasures";
const scope = "sessions:erase";
const userPath = z.object({ end_user: z.string().openapi({ description: "A slash in it is written %2F", example: "user-42" }) });

const eraseUser = tenantRoute({
  method: "delete",
  path: "/v1/end-users/{end_user}",
  tag,
  scope,
  operationId: "eraseEndUser",
  summary: "Erase all sessions of an end user",
  description:
    "Erases the sessions that the end user has now, with their files, and ends the access tokens that were made for the end user until now. Sessions that are created later are not erased. The usage stays, without the end user. The request can be repeated at any time: while the erasure runs it returns the same one. Erasing cannot be undone.",
  request: { params: userPath },
  responses: { 200: located(json("The erasure: done, or running", erasureView, erasureResourceExample)) },
});

const get = tenantRoute({
  method: "get",
  path: "/v1/erasures/{erasure_id}",
  tag,
  scope,
  operationId: "getErasure",
  summary: "Read an erasure",
  description: "Shows how far the erasure is in each store, and what may remain outside of this service.",
  refuses: ["erasure_not_found"],
  request: { params: z.object({ erasure_id: id("era") }) },
  responses: { 200: json("The erasure", erasureView, erasureResourceExample) },
});

const list = tenantRoute({
  method: "get",
  path: "/v1/erasures",
  tag,
  scope,
  operationId: "listErasures",
  summary: "List erasures",
  description: "Lists erasures by the time when they were asked for. A finished one stays as its receipt.",
  request: {
    query: z.strictObject({
      ...limitQuery,
      after: id("era").optional().openapi({ description: "next_cursor of the page before" }),
      order: z.enum(["asc", "desc"]).default("desc").openapi({ description: "By the time of the request" }),
    }),
  },
  responses: { 200: json("Newest first by default", listView(erasureView), onePage(erasureResourceExample)) },
});

const eraseTenant = adminRoute({
  method: "delete",
  path: "/v1/admin/tenants/{tenant_id}",
  tag: "admin",
  role: "own",
  operationId: "deleteTenant",
  summary: "Delete a tenant with all that it has",
  description:
    "The tenant's keys are refused from now on, and its id is never given out again. Its sessions, files, models, credentials, tools and settings are erased from every store. Sums of usage stay for invoices, and the receipt. The request can be repeated at any time and returns the same erasure. Erasing cannot be undone.",
  refuses: ["tenant_not_found"],
  request: { params: z.object({ tenant_id: id("ten") }) },
  responses: { 200: json("The erasure: done, or running", erasureView, erasureResourceExample) },
});

const getOfTenant = adminRoute({
  method: "get",
  path: "/v1/admin/tenants/{tenant_id}/erasures/{erasure_id}",
  tag: "admin",
  role: "read",
  operationId: "getTenantErasure",
  summary: "Read an erasure of a tenant",
  description: "Shows an erasure of the tenant, also that of the tenant itself after it is done.",
  refuses: ["tenant_not_found", "erasure_not_found"],
  request: { params: z.object({ tenant_id: id("ten"), erasure_id: id("era") }) },
  responses: { 200: json("The erasure", erasureView, erasureResourceExample) },
});

function registerAdmins(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(eraseTenant, async (c) => {
    const { tenant_id: tenant } = c.req.valid("param");
    const begun = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.eraseTenant(readAct(c)),
    );
    deps.noteChange(tenant);
    return begun.ok ? c.json(toErasureView(begun.value), 200) : sendProblem(c, begun.error);
  });
  app.openapi(getOfTenant, async (c) => {
    const { tenant_id: tenant, erasure_id: erasure } = c.req.valid("param");
    const found = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.getErasure(erasure),
    );
    return found.ok ? c.json(toErasureView(found.value), 200) : sendProblem(c, found.error);
  });
}

export function registerErasures(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  registerAdmins(app, deps);
  const connectTo = (c: Asker) => () => deps.tenants(readPrincipal(c).tenant);

  app.openapi(eraseUser, async (c) => {
    const { end_user: name } = c.req.valid("param");
    const errors = faultOfName("end_user", endUser.safeParse(name));
    if (errors.length > 0) return sendProblem(c, { code: "invalid_request", errors });
    const begun = await callWithRetry(connectTo(c), (api) => api.eraseEndUser(readAct(c), name));
    if (!begun.ok) return sendProblem(c, begun.error);
    return c.json(toErasureView(begun.value), 200, { Location: `/v1/erasures/${begun.value.id}` });
  });

  app.openapi(get, async (c) => {
    const found = await callWithRetry(connectTo(c), (api) => api.getErasure(c.req.valid("param").erasure_id));
    return found.ok ? c.json(toErasureView(found.value), 200) : sendProblem(c, found.error);
  });

  app.openapi(list, async (c) => {
    const { after = null, limit, order } = c.req.valid("query");
    const page = await callWithRetry(connectTo(c), (api) => api.listErasures({ after, limit, order }));
    if (!page.ok) return sendProblem(c, page.error);
    const { data, has_more } = page.value;
    return c.json(
      toList({ data: data.map(toErasureView), has_more }, (row) => row.id),
      200,
    );
  });
}
