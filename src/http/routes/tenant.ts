/** The tenant of the key, and its defaults. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { toEtag } from "../../app/conditions";
import type { TenantSettings } from "../../app/tenant-api";
import { tenantView } from "../../contract/tenant";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import { conditionHeaders, toCondition } from "../conditions";
import type { HttpDeps, HttpEnv } from "../deps";
import { tenantExample } from "../examples/tenant";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { jsonBody, taggedJson, tenantRoute } from "../routing";
import { defined } from "../schemas/defined";
import { tenantPatchInput, toTenantView } from "../schemas/tenant";

const tag = "tenant";

const get = tenantRoute({
  method: "get",
  path: "/v1/tenant",
  tag,
  scope: null,
  operationId: "getTenant",
  summary: "Read the tenant's settings",
  description: "Any valid key may read the settings of its own tenant.",
  request: {},
  responses: { 200: taggedJson("The tenant", tenantView, tenantExample) },
});

const patch = tenantRoute({
  method: "patch",
  path: "/v1/tenant",
  tag,
  scope: "settings:write",
  operationId: "updateTenant",
  summary: "Update the tenant's settings",
  description:
    "Changes the fields that the request names. A null returns to the deployment's. Sessions that exist keep their own settings.",
  request: { headers: conditionHeaders, body: jsonBody(tenantPatchInput, { default_model: "gpt-5", default_policy: "balanced" }) },
  responses: { 200: taggedJson("The tenant", tenantView, tenantExample) },
});

async function sendTenant(c: Context<HttpEnv>, { config, tenants }: HttpDeps, settings: TenantSettings) {
  const { tenant } = readPrincipal(c);
  const assigned = await callWithRetry(
    () => tenants(tenant),
    (api) => api.assigned(),
  );
  return c.json(toTenantView(tenant, { settings, assigned }, config.defaultPolicy), 200, { ETag: toEtag(settings) });
}

export function registerTenant(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(get, async (c) => {
    const { tenant } = readPrincipal(c);
    const settings = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.settings(),
    );
    return settings.ok ? sendTenant(c, deps, settings.value) : sendProblem(c, settings.error);
  });

  app.openapi(patch, async (c) => {
    const { tenant } = readPrincipal(c);
    const changes = defined(c.req.valid("json"));
    const api = deps.tenants(tenant);
    const model = changes.default_model;
    if (typeof model === "string" && !(await api.resolveModel(model))) {
      return sendProblem(c, { code: "invalid_request", errors: [{ field: "default_model", detail: "no such model" }] });
    }
    const settings = await api.changeSettings(readAct(c), changes, toCondition(c.req.valid("header")));
    return settings.ok ? sendTenant(c, deps, settings.value) : sendProblem(c, settings.error);
  });
}
