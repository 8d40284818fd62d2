/**
 * Puts, lists by name and removes a tenant's credentials for its providers; the admin's route seals them anew. A credential is
 * never shown.
 */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { rotateCredentials } from "../../app/models/rotate-credentials";
import { credentialView, rotationReport } from "../../contract/credential";
import { id } from "../../contract/ids";
import { listView } from "../../contract/page";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { onePage } from "../examples/shared";
import { credentialExample, rotationExample } from "../examples/tenant";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { adminRoute, json, jsonBody, tenantRoute } from "../routing";
import { credentialInput, credentialName } from "../schemas/credential";
import { namedPageQuery, takeListPage } from "../schemas/page";

const tag = "credentials";
const scope = "credentials:write";
const path = "/v1/credentials/{credential_name}";
const params = z.object({
  credential_name: z.string().openapi({ example: "openai", description: "The name that the tenant gave to the credential" }),
});

const list = tenantRoute({
  method: "get",
  path: "/v1/credentials",
  tag,
  scope,
  operationId: "listCredentials",
  summary: "List credentials",
  description: "Lists credentials by name. Keys are never returned.",
  request: { query: namedPageQuery() },
  responses: { 200: json("A page, in order of name", listView(credentialView), onePage(credentialExample)) },
});

const put = tenantRoute({
  method: "put",
  path,
  tag,
  scope,
  operationId: "putCredential",
  summary: "Store or replace a credential",
  description: "Stores an API key of a provider or a tool, sealed. Calls use the new key within 30 seconds.",
  refuses: ["credential_limit", "credentials_disabled"],
  request: { params, body: jsonBody(credentialInput, { api_key: "a-provider's-key" }) },
  responses: {
    200: json("The credential without its key. Model calls use the new key within 30 seconds", credentialView, credentialExample),
  },
});

const remove = tenantRoute({
  method: "delete",
  path,
  tag,
  scope,
  operationId: "deleteCredential",
  summary: "Delete a credential",
  description: "Within 30 seconds, calls of models and tools that use it fail.",
  refuses: ["credential_not_found"],
  request: { params },
  responses: { 204: { description: "Removed" } },
});

const rotate = adminRoute({
  method: "post",
  path: "/v1/admin/tenants/{tenant_id}/credentials/rotate",
  tag: "admin",
  role: "operate",
  operationId: "rotateCredentials",
  summary: "Seal credentials anew",
  description: "Encrypts a tenant's credentials with the current master key. Credentials that no known key opens are listed.",
  refuses: ["tenant_not_found", "credentials_disabled"],
  request: { params: z.object({ tenant_id: id("ten") }) },
  responses: { 200: json("The number of re-encrypted credentials, and those that could not be read", rotationReport, rotationExample) },
});

export function registerCredentials(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const credentials = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listCredentials(),
    );
    return credentials.ok
      ? c.json(
          takeListPage(credentials.value, c.req.valid("query"), ({ name }) => name),
          200,
        )
      : sendProblem(c, credentials.error);
  });

  app.openapi(put, async (c) => {
    const named = credentialName.safeParse(c.req.valid("param").credential_name);
    if (!named.success) {
      const detail = named.error.issues[0]?.message ?? "malformed";
      return sendProblem(c, { code: "invalid_request", errors: [{ field: "credential_name", detail }] });
    }
    const { tenant } = readPrincipal(c);
    if (!deps.sealer) return sendProblem(c, { code: "credentials_disabled" });
    // Sealed here, so that no object gets the credential in the clear.
    const sealed = await deps.sealer.seal(c.req.valid("json").api_key, { tenant, name: named.data });
    const stored = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.putCredential(readAct(c), { name: named.data, sealed }),
    );
    return stored.ok ? c.json(stored.value, 200) : sendProblem(c, stored.error);
  });

  app.openapi(remove, async (c) => {
    const removed = await deps.tenants(readPrincipal(c).tenant).deleteCredential(readAct(c), c.req.valid("param").credential_name);
    return removed.ok ? c.body(null, 204) : sendProblem(c, removed.error);
  });

  app.openapi(rotate, async (c) => {
    const { tenant_id: tenant } = c.req.valid("param");
    if (!deps.sealer) return sendProblem(c, { code: "credentials_disabled" });
    const rotated = await rotateCredentials({ object: () => deps.tenants(tenant), sealer: deps.sealer, act: readAct(c) }, tenant);
    return rotated.ok ? c.json(rotated.value, 200) : sendProblem(c, rotated.error);
  });
}
