/**
 * The routes on which the deployment's admin makes tenants and their first keys. Only the admin's routes take the tenant
 * from the request (the others are in `rebuild`, `export` and `credentials`).
 */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { deriveId } from "../../app/derived-id";
import { chooseDatabase } from "../../app/placement";
import { id } from "../../contract/ids";
import { newKeyView } from "../../contract/tenant";
import { SCOPES } from "../../domain/scopes";
import { adoptTenant } from "../adopt-tenants";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { KEY, TENANT } from "../examples/shared";
import { idempotencyHeaders, newTenantHeaders, readAdminIdempotency } from "../idempotency";
import { issueKey, markReplayed, refuseExpiry } from "../issue-key";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { adminRoute, json, jsonBody } from "../routing";
import { chooseScopes } from "../schemas/key-restriction";
import { createTenantInput, keyInput } from "../schemas/tenant";

const tag = "admin";
const tenantPath = z.object({ tenant_id: id("ten") });

const createTenant = adminRoute({
  method: "post",
  path: "/v1/admin/tenants",
  tag,
  role: "operate",
  operationId: "createTenant",
  summary: "Create a tenant",
  description: "Creates a tenant without keys, and enters it in the list of tenants. Create its first key next.",
  refuses: ["tenant_exists"],
  request: { headers: newTenantHeaders, body: jsonBody(createTenantInput, { name: "Acme" }) },
  responses: { 201: json("The tenant's id", z.object({ id: id("ten") }), { id: TENANT }) },
});

const createKey = adminRoute({
  method: "post",
  path: "/v1/admin/tenants/{tenant_id}/keys",
  tag,
  role: "operate",
  operationId: "createTenantKey",
  summary: "Create an API key of a tenant",
  description: "By default the key has all scopes. The secret is shown by this answer only.",
  refuses: ["tenant_not_found", "key_limit"],
  request: { params: tenantPath, headers: idempotencyHeaders, body: jsonBody(keyInput, { name: "first key" }) },
  responses: { 201: json("The key. It is shown only once", newKeyView, { id: KEY, key: "lh_production_…" }) },
});

/** With one database there is nothing to choose. */
async function placeNewTenant({ databases }: HttpDeps): Promise<string> {
  return chooseDatabase(databases.names.length > 1 ? await databases.measure() : []);
}

export function registerAdmin(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(createTenant, async (c) => {
    const idempotency = await readAdminIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    // The tenant's object keeps the idempotency key, so the same key must lead to the same object.
    const tenant = idempotency ? await deriveId("ten", idempotency.key) : deps.newId("ten");
    const input = { tenant, name: c.req.valid("json").name, database: await placeNewTenant(deps), idempotency };
    const created = await (idempotency
      ? callWithRetry(
          () => deps.tenants(tenant),
          (api) => api.create(readAct(c), input),
        )
      : deps.tenants(tenant).create(readAct(c), input));
    if (!created.ok) return sendProblem(c, created.error);
    const listed = await adoptTenant(deps, tenant);
    if (!listed.ok) return sendProblem(c, listed.error);
    if (created.value.replayed) c.header("idempotent-replayed", "true");
    return c.json({ id: tenant }, 201);
  });

  app.openapi(createKey, async (c) => {
    const { name, scopes: named, restriction, clients, expires_at = null } = c.req.valid("json");
    const { scopes, refused } = chooseScopes({ scopes: named, restriction, most: SCOPES });
    if (refused) return sendProblem(c, { code: "invalid_request", errors: [{ field: "scopes", detail: refused }] });
    const detail = refuseExpiry(expires_at, deps.now());
    if (detail) return sendProblem(c, { code: "invalid_request", errors: [{ field: "expires_at", detail }] });
    const { tenant_id: tenant } = c.req.valid("param");
    const listed = await adoptTenant(deps, tenant);
    if (!listed.ok) return sendProblem(c, listed.error);
    const issued = await issueKey(deps, {
      tenant,
      name,
      scopes,
      restriction,
      clients,
      expires_at,
      by: null,
      act: readAct(c),
      idempotency: await readAdminIdempotency(c, c.req.valid("header")["Idempotency-Key"]),
    });
    if (!issued.ok) return sendProblem(c, issued.error);
    markReplayed(c, issued.value);
    return c.json({ id: issued.value.view.id, key: issued.value.key }, 201);
  });
}
