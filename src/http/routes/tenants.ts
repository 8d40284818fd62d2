/** For the deployment's admin: the list of tenants, and its repair. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { ListedTenantsQuery } from "../../app/deployment-api";
import { listedTenantView, tenantListRebuild } from "../../contract/deployment";
import { id } from "../../contract/ids";
import { listView } from "../../contract/page";
import { parseId } from "../../domain/ids";
import { TENANT_STATUSES } from "../../domain/tenant-status";
import { rebuildTenantList } from "../adopt-tenants";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { onePage } from "../examples/shared";
import { listedTenantExample, tenantListRebuildExample } from "../examples/tenant";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { reachReadModel } from "../read-model";
import { adminRoute, json } from "../routing";
import { namedPageQuery, toList } from "../schemas/page";

const tag = "admin";
const MAX_NAME_PART = 200;
/** Tenants' objects that one request asks. */
const REBUILD_PAGE = 50;

const list = adminRoute({
  method: "get",
  path: "/v1/admin/tenants",
  tag,
  role: "read",
  operationId: "listTenants",
  summary: "List tenants",
  description: "The newest tenant comes first by default. A tenant that was renamed has its new name within seconds.",
  refuses: ["invalid_cursor"],
  request: {
    query: namedPageQuery({ first: "desc" }).extend({
      name: z
        .string()
        .min(1)
        .max(MAX_NAME_PART)
        .optional()
        .openapi({ description: "Only tenants whose name contains this, in either case" }),
      status: z.enum(TENANT_STATUSES).optional().openapi({ description: "Only tenants with this status" }),
    }),
  },
  responses: { 200: json("A page", listView(listedTenantView), onePage(listedTenantExample)) },
});

const rebuild = adminRoute({
  method: "post",
  path: "/v1/admin/tenants/rebuild",
  tag,
  role: "operate",
  operationId: "rebuildTenantList",
  summary: "Repair the list of tenants",
  description:
    "Enters the tenants that have a row in the read model and are missing in the list, as after a creation that was cut off. Each tenant's own object says what is entered. Many tenants continue with `next_cursor`.",
  refuses: ["read_model_unavailable"],
  request: {
    query: z.strictObject({ after: id("ten").optional().openapi({ description: "The next_cursor of the previous response" }) }),
  },
  responses: { 200: json("What was entered", tenantListRebuild, tenantListRebuildExample) },
});

/** `1795345200000.ten_…`: the place of the last tenant of a page. Null when it is not such a text. */
function parsePlace(cursor: string): ListedTenantsQuery["after"] {
  const [, at, ten = ""] = /^(\d{1,15})\.(.+)$/.exec(cursor) ?? [];
  const tenant = parseId("ten", ten);
  return tenant && { id: tenant, created_at: Number(at) };
}

export function registerTenants(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const { after, limit, order, name = null, status = null } = c.req.valid("query");
    const place = after === undefined ? null : parsePlace(after);
    if (after !== undefined && !place) return sendProblem(c, { code: "invalid_cursor" });
    const page = await callWithRetry(
      () => deps.deployment(),
      (api) => api.listTenants({ after: place, limit, order, name, status }),
    );
    return c.json(
      toList(page, (tenant) => `${tenant.created_at}.${tenant.id}`),
      200,
    );
  });

  app.openapi(rebuild, async (c) => {
    const { after = null } = c.req.valid("query");
    const reached = await reachReadModel(c, deps, () => deps.tenantIds.listTenantIds({ after, limit: REBUILD_PAGE }));
    if (!reached.ok) return sendProblem(c, reached.error);
    const { data, has_more } = reached.value;
    const { added, unknown } = await rebuildTenantList(deps, readAct(c), data);
    return c.json({ tenants: data.length, added, unknown, next_cursor: (has_more && data.at(-1)) || null }, 200);
  });
}
