/** Creates, reads, changes and deletes the endpoints of a tenant's webhooks. A secret is shown once. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { toEndpointEtag, toSecretPlace } from "../../app/webhook-api";
import { id } from "../../contract/ids";
import { listView } from "../../contract/page";
import { webhookEndpoint } from "../../contract/webhook";
import type { TenantId, WebhookEndpointId } from "../../domain/ids";
import { urlFault } from "../../lib/public-address";
import { generateWebhookSecret } from "../../lib/webhook-signature";
import { readPrincipal } from "../auth";
import { callUnder, callWithRetry } from "../calls";
import { conditionHeaders, toCondition } from "../conditions";
import type { HttpDeps, HttpEnv } from "../deps";
import { onePage } from "../examples/shared";
import { endpointExample } from "../examples/webhooks";
import { idempotencyHeaders, readIdempotency } from "../idempotency";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { json, jsonBody, taggedJson, tenantRoute } from "../routing";
import { defined } from "../schemas/defined";
import { namedPageQuery, takeListPage } from "../schemas/page";
import { endpointInput, endpointPatch, secretRotation } from "../schemas/webhook";

const tag = "webhooks";
const path = "/v1/webhook_endpoints/{endpoint_id}";
const params = z.object({ endpoint_id: id("whk") });

const shownOnce = z.string().nullable().openapi({
  example: "whsec_…",
  description: "The signing secret. It is shown by this answer only. Null: the answer repeats that of an earlier request",
});
const withSecret = webhookEndpoint.extend({ secret: shownOnce });
const secretExample = { ...endpointExample, secret: "whsec_…" };

const create = tenantRoute({
  method: "post",
  path: "/v1/webhook_endpoints",
  tag,
  scope: "webhooks:write",
  operationId: "createWebhookEndpoint",
  summary: "Create a webhook endpoint",
  description:
    "The endpoint is sent every event of its types that is committed after this answer. The secret is shown by this answer only.",
  refuses: ["webhook_endpoint_limit", "credentials_disabled"],
  request: {
    headers: idempotencyHeaders,
    body: jsonBody(endpointInput, { url: "https://example.com/hooks/longhand", events: ["turn.completed", "turn.failed"] }),
  },
  responses: { 201: json("The endpoint with its secret", withSecret, secretExample) },
});

const list = tenantRoute({
  method: "get",
  path: "/v1/webhook_endpoints",
  tag,
  scope: "webhooks:read",
  operationId: "listWebhookEndpoints",
  summary: "List webhook endpoints",
  description: "Lists the tenant's endpoints, without their secrets.",
  request: { query: namedPageQuery() },
  responses: { 200: json("A page, the oldest first", listView(webhookEndpoint), onePage(endpointExample)) },
});

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope: "webhooks:read",
  operationId: "getWebhookEndpoint",
  summary: "Read a webhook endpoint",
  description: "Shows the endpoint, and since when it fails.",
  refuses: ["webhook_endpoint_not_found"],
  request: { params },
  responses: { 200: taggedJson("The endpoint", webhookEndpoint, endpointExample) },
});

const change = tenantRoute({
  method: "patch",
  path,
  tag,
  scope: "webhooks:write",
  operationId: "updateWebhookEndpoint",
  summary: "Change a webhook endpoint",
  description: "Changes the fields that it names. An endpoint that is enabled again is sent what happens from then on; replay what failed.",
  refuses: ["webhook_endpoint_not_found"],
  request: { params, headers: conditionHeaders, body: jsonBody(endpointPatch, { events: null }) },
  responses: { 200: taggedJson("The endpoint", webhookEndpoint, { ...endpointExample, events: null }) },
});

const remove = tenantRoute({
  method: "delete",
  path,
  tag,
  scope: "webhooks:write",
  operationId: "deleteWebhookEndpoint",
  summary: "Delete a webhook endpoint",
  description: "Removes the endpoint with its secret and its log of deliveries. What waits for it is not sent.",
  refuses: ["webhook_endpoint_not_found"],
  request: { params, headers: conditionHeaders },
  responses: { 204: { description: "Removed" } },
});

const rotate = tenantRoute({
  method: "post",
  path: `${path}/rotate`,
  tag,
  scope: "webhooks:write",
  operationId: "rotateWebhookSecret",
  summary: "Rotate the secret of a webhook endpoint",
  description:
    "Makes another secret. During the overlap each delivery has a signature of both. When the answer was lost, rotate again: the secret that the receiver has signs as long as before.",
  refuses: ["webhook_endpoint_not_found", "credentials_disabled"],
  request: { params, body: jsonBody(secretRotation, { overlap_seconds: 86_400 }, false) },
  responses: {
    200: json("The endpoint with its new secret", withSecret, {
      ...secretExample,
      previous_secret_until: endpointExample.created_at + 86_400_000,
    }),
  },
});

/** The secret is sealed here, so that it is stored nowhere in the clear. Null: the deployment has no key for that. */
async function makeSecret(deps: HttpDeps, { tenant, endpoint }: { readonly tenant: TenantId; readonly endpoint: WebhookEndpointId }) {
  const secret = generateWebhookSecret();
  const sealed = await deps.sealer?.seal(secret, { tenant, name: toSecretPlace(endpoint) });
  return sealed ? { secret, sealed } : null;
}

export function registerWebhooks(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  const findFault = (url: string | undefined) => {
    const detail = url === undefined ? null : urlFault(url, deps.config.allowPrivateToolUrls);
    return detail === null ? null : ({ code: "invalid_request", errors: [{ field: "url", detail }] } as const);
  };

  app.openapi(create, async (c) => {
    const { tenant } = readPrincipal(c);
    const settings = c.req.valid("json");
    const fault = findFault(settings.url);
    if (fault) return sendProblem(c, fault);
    const endpoint = deps.newId("whk");
    const made = await makeSecret(deps, { tenant, endpoint });
    if (!made) return sendProblem(c, { code: "credentials_disabled" });
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const input = { ...settings, id: endpoint, sealed: made.sealed, idempotency };
    // Without an idempotency key, a repetition after a lost answer would make a second endpoint.
    const added = idempotency
      ? await callWithRetry(
          () => deps.tenants(tenant),
          (api) => api.createWebhookEndpoint(readAct(c), input),
        )
      : await deps.tenants(tenant).createWebhookEndpoint(readAct(c), input);
    if (!added.ok) return sendProblem(c, added.error);
    const isNew = added.value.id === endpoint;
    if (!isNew) c.header("idempotent-replayed", "true");
    return c.json({ ...added.value, secret: isNew ? made.secret : null }, 201);
  });

  app.openapi(list, async (c) => {
    const found = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listWebhookEndpoints(),
    );
    if (!found.ok) return sendProblem(c, found.error);
    return c.json(
      takeListPage(found.value, c.req.valid("query"), ({ id: key }) => key),
      200,
    );
  });

  app.openapi(get, async (c) => {
    const found = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.getWebhookEndpoint(c.req.valid("param").endpoint_id),
    );
    return found.ok ? c.json(found.value, 200, { ETag: toEndpointEtag(found.value) }) : sendProblem(c, found.error);
  });

  app.openapi(change, async (c) => {
    const changes = defined(c.req.valid("json"));
    const fault = findFault(changes.url);
    if (fault) return sendProblem(c, fault);
    const condition = toCondition(c.req.valid("header"));
    const changed = await callUnder(
      condition,
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.changeWebhookEndpoint(readAct(c), c.req.valid("param").endpoint_id, { changes, condition }),
    );
    return changed.ok ? c.json(changed.value, 200, { ETag: toEndpointEtag(changed.value) }) : sendProblem(c, changed.error);
  });

  app.openapi(remove, async (c) => {
    const { endpoint_id } = c.req.valid("param");
    const condition = toCondition(c.req.valid("header"));
    const removed = await deps.tenants(readPrincipal(c).tenant).deleteWebhookEndpoint(readAct(c), endpoint_id, condition);
    return removed.ok ? c.body(null, 204) : sendProblem(c, removed.error);
  });

  app.openapi(rotate, async (c) => {
    const { endpoint_id: endpoint } = c.req.valid("param");
    const { tenant } = readPrincipal(c);
    const made = await makeSecret(deps, { tenant, endpoint });
    if (!made) return sendProblem(c, { code: "credentials_disabled" });
    const rotation = { sealed: made.sealed, overlap_ms: c.req.valid("json").overlap_seconds * 1_000 };
    const rotated = await deps.tenants(tenant).rotateWebhookSecret(readAct(c), endpoint, rotation);
    return rotated.ok ? c.json({ ...rotated.value, secret: made.secret }, 200) : sendProblem(c, rotated.error);
  });
}
