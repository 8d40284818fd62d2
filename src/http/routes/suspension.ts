/** For the deployment's admin: suspends a tenant, and serves it again. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { TenantStandingApi } from "../../app/standing";
import type { TenantOutcome } from "../../app/tenant-api";
import { id } from "../../contract/ids";
import { tenantStanding } from "../../contract/tenant";
import type { TenantId } from "../../domain/ids";
import type { Standing } from "../../domain/tenant-status";
import { adoptTenant } from "../adopt-tenants";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { AT, TENANT } from "../examples/shared";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { adminRoute, json, jsonBody } from "../routing";

const tag = "admin";
const params = z.object({ tenant_id: id("ten") });
const MAX_REASON = 500;

const suspendInput = z
  .strictObject({
    reason: z.string().min(1).max(MAX_REASON).optional().openapi({ description: "For admins. The tenant does not read it" }),
  })
  .openapi("SuspendTenant");

const suspended = { id: TENANT, status: "suspended" as const, suspended_at: AT, reason: "unpaid" };

const suspend = adminRoute({
  method: "post",
  path: "/v1/admin/tenants/{tenant_id}/suspend",
  tag,
  role: "operate",
  operationId: "suspendTenant",
  summary: "Suspend a tenant",
  description:
    "Refuses all keys and access tokens of the tenant, and ends its turns. What was said is kept. Isolates that have a key cached refuse it within 30 seconds; running turns end within 10. A suspended tenant stays as it is.",
  refuses: ["tenant_not_found"],
  request: { params, body: jsonBody(suspendInput, { reason: "unpaid" }, false) },
  responses: { 200: json("The tenant's status", tenantStanding, suspended) },
});

const resume = adminRoute({
  method: "post",
  path: "/v1/admin/tenants/{tenant_id}/resume",
  tag,
  role: "operate",
  operationId: "resumeTenant",
  summary: "Resume a tenant",
  description: "Lets the tenant's keys and access tokens open what they opened before. A turn that the suspension ended can be retried.",
  refuses: ["tenant_not_found"],
  request: { params },
  responses: { 200: json("The tenant's status", tenantStanding, { ...suspended, status: "active", suspended_at: null, reason: null }) },
});

export function registerSuspension(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  async function change(c: Context<HttpEnv>, tenant: TenantId, work: (api: TenantStandingApi) => Promise<TenantOutcome<Standing>>) {
    const changed = await callWithRetry(() => deps.tenants(tenant), work);
    deps.noteChange(tenant);
    if (!changed.ok) return sendProblem(c, changed.error);
    const listed = await adoptTenant(deps, tenant);
    if (!listed.ok) return sendProblem(c, listed.error);
    const { status, suspended_at, reason } = changed.value;
    return c.json({ id: tenant, status, suspended_at, reason }, 200);
  }

  app.openapi(suspend, (c) => {
    const { reason = null } = c.req.valid("json");
    return change(c, c.req.valid("param").tenant_id, (api) => api.suspend(readAct(c), reason));
  });

  app.openapi(resume, (c) => change(c, c.req.valid("param").tenant_id, (api) => api.resume(readAct(c))));
}
