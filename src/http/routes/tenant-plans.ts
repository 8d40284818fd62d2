/** For the deployment's admin: tenant plans, which are named sets of limits and budgets. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { toEtag } from "../../app/conditions";
import { id } from "../../contract/ids";
import { tenantAssignment, tenantPlanView } from "../../contract/limits";
import { listView } from "../../contract/page";
import { adoptTenant } from "../adopt-tenants";
import { callUnder, callWithRetry } from "../calls";
import { conditionHeaders, toCondition } from "../conditions";
import type { HttpDeps, HttpEnv } from "../deps";
import { onePage } from "../examples/shared";
import { tenantAssignmentExample, tenantPlanExample } from "../examples/tenant";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { adminRoute, json, jsonBody, taggedJson } from "../routing";
import { defined } from "../schemas/defined";
import { namedPageQuery, takeListPage } from "../schemas/page";
import { assignPlanInput, planName, tenantPlanInput, toLimitSet } from "../schemas/tenant-plan";
import { faultOfName } from "../validation";

const tag = "admin";
const path = "/v1/admin/plans/{plan_name}";
const params = z.object({
  plan_name: z.string().openapi({ example: "starter", description: "The name of a tenant plan" }),
});

const list = adminRoute({
  method: "get",
  path: "/v1/admin/plans",
  tag,
  role: "read",
  operationId: "listPlans",
  summary: "List tenant plans",
  description: "Lists the named sets of limits and budgets that can be assigned to tenants.",
  request: { query: namedPageQuery() },
  responses: { 200: json("A page, in order of name", listView(tenantPlanView), onePage(tenantPlanExample)) },
});

const get = adminRoute({
  method: "get",
  path,
  tag,
  role: "read",
  operationId: "getPlan",
  summary: "Read a tenant plan",
  description: "Shows the plan's limits and budgets.",
  refuses: ["plan_not_found"],
  request: { params },
  responses: { 200: taggedJson("The plan", tenantPlanView, tenantPlanExample) },
});

const put = adminRoute({
  method: "put",
  path,
  tag,
  role: "operate",
  operationId: "putPlan",
  summary: "Create or replace a tenant plan",
  description: "Replaces the plan's limits and budgets as a whole. A plan that says the same already keeps its version.",
  refuses: ["plan_limit"],
  request: {
    params,
    headers: conditionHeaders,
    body: jsonBody(tenantPlanInput, { limits: { tenant: { requests_per_minute: 600 }, end_user: { concurrent_turns: 1 } } }),
  },
  responses: { 200: taggedJson("The plan", tenantPlanView, tenantPlanExample) },
});

const remove = adminRoute({
  method: "delete",
  path,
  tag,
  role: "operate",
  operationId: "deletePlan",
  summary: "Delete a tenant plan",
  description: "Removes a plan that no tenant has.",
  refuses: ["plan_not_found", "plan_in_use"],
  request: { params, headers: conditionHeaders },
  responses: { 204: { description: "Removed" } },
});

const assign = adminRoute({
  method: "patch",
  path: "/v1/admin/tenants/{tenant_id}",
  tag,
  role: "operate",
  operationId: "assignPlan",
  summary: "Set a tenant's plan, limits and budgets",
  description:
    "Changes the fields that the request names; a null removes. The change is sent to the tenant's object at once, and again until that has confirmed it. `limits` and `budgets` are the tenant's own, need no plan, and replace earlier ones of its own as a whole.",
  refuses: ["tenant_not_found"],
  request: {
    params: z.object({ tenant_id: id("ten") }),
    body: jsonBody(assignPlanInput, { plan: "starter", limits: { tenant: { requests_per_minute: 1_200 } } }),
  },
  responses: { 200: json("What is assigned", tenantAssignment, tenantAssignmentExample) },
});

export function registerTenantPlans(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  const connect = () => deps.deployment();

  app.openapi(list, async (c) => {
    const plans = await callWithRetry(connect, (api) => api.listPlans());
    return c.json(
      takeListPage(plans, c.req.valid("query"), ({ name }) => name),
      200,
    );
  });

  app.openapi(get, async (c) => {
    const found = await callWithRetry(connect, (api) => api.getPlan(c.req.valid("param").plan_name));
    return found.ok ? c.json(found.value, 200, { ETag: toEtag(found.value) }) : sendProblem(c, found.error);
  });

  app.openapi(put, async (c) => {
    const { plan_name: name } = c.req.valid("param");
    const errors = faultOfName("plan_name", planName.safeParse(name));
    if (errors.length > 0) return sendProblem(c, { code: "invalid_request", errors });
    const { limits = {}, budgets = [] } = c.req.valid("json");
    const condition = toCondition(c.req.valid("header"));
    const stored = await callUnder(condition, connect, (api) =>
      api.putPlan(readAct(c), { name, limits: toLimitSet(limits), budgets, condition }),
    );
    return stored.ok ? c.json(stored.value, 200, { ETag: toEtag(stored.value) }) : sendProblem(c, stored.error);
  });

  app.openapi(assign, async (c) => {
    const { tenant_id: tenant } = c.req.valid("param");
    const listed = await adoptTenant(deps, tenant);
    if (!listed.ok) return sendProblem(c, listed.error);
    const change = { tenant, ...defined(c.req.valid("json")) };
    const assigned = await callWithRetry(connect, (api) => api.assignPlan(readAct(c), change));
    deps.noteChange(tenant);
    if (assigned.ok) return c.json(assigned.value, 200);
    const isUnknown = assigned.error.code === "plan_not_found";
    const errors = [{ field: "plan", detail: "no such plan" }];
    return sendProblem(c, isUnknown ? { code: "invalid_request", errors } : assigned.error);
  });

  app.openapi(remove, async (c) => {
    const condition = toCondition(c.req.valid("header"));
    const removed = await deps.deployment().deletePlan(readAct(c), c.req.valid("param").plan_name, condition);
    return removed.ok ? c.body(null, 204) : sendProblem(c, removed.error);
  });
}
