/** The log of what an endpoint was sent, test events, and replays. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { id } from "../../contract/ids";
import { listView } from "../../contract/page";
import { webhookDelivery, webhookDeliveryDetail, webhookReplay } from "../../contract/webhook";
import { DELIVERY_STATES } from "../../domain/webhook-events";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { AT, onePage, SECOND } from "../examples/shared";
import { deliveryDetailExample, deliveryExample } from "../examples/webhooks";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { json, jsonBody, tenantRoute } from "../routing";
import { limitQuery, toList } from "../schemas/page";
import { replayInput } from "../schemas/webhook";

const tag = "webhooks";
const endpointPath = "/v1/webhook_endpoints/{endpoint_id}";
const endpointParams = z.object({ endpoint_id: id("whk") });
const path = `${endpointPath}/deliveries/{delivery_id}` as const;
const params = z.object({ endpoint_id: id("whk"), delivery_id: id("dlv") });
const pendingExample = {
  ...deliveryExample,
  state: "pending",
  attempts: 0,
  next_attempt_at: AT,
  last_status: null,
  finished_at: null,
} as const;

const test = tenantRoute({
  method: "post",
  path: `${endpointPath}/test`,
  tag,
  scope: "webhooks:write",
  operationId: "testWebhookEndpoint",
  summary: "Send a test event",
  description: "Sends an event of the type `webhook.test` to this endpoint, once. Read the delivery for what came of it.",
  refuses: ["webhook_endpoint_not_found", "webhook_endpoint_disabled"],
  request: { params: endpointParams },
  responses: { 202: json("The delivery is under way", webhookDelivery, { ...pendingExample, type: "webhook.test", session_id: null }) },
});

const list = tenantRoute({
  method: "get",
  path: `${endpointPath}/deliveries`,
  tag,
  scope: "webhooks:read",
  operationId: "listWebhookDeliveries",
  summary: "List deliveries",
  description: "Lists what the endpoint was sent, the newest first. Deliveries are kept for 30 days, and 10,000 of each endpoint.",
  refuses: ["webhook_endpoint_not_found"],
  request: {
    params: endpointParams,
    query: z.strictObject({
      ...limitQuery,
      after: id("dlv").optional().openapi({ description: "next_cursor of the page before" }),
      state: z.enum(DELIVERY_STATES).optional().openapi({ description: "Only deliveries in this state" }),
    }),
  },
  responses: { 200: json("A page, the newest first", listView(webhookDelivery), onePage(deliveryExample)) },
});

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope: "webhooks:read",
  operationId: "getWebhookDelivery",
  summary: "Read a delivery",
  description: "Shows the body as it is sent, and each try with the beginning of its answer.",
  refuses: ["webhook_endpoint_not_found", "webhook_delivery_not_found"],
  request: { params },
  responses: { 200: json("The delivery", webhookDeliveryDetail, deliveryDetailExample) },
});

const replay = tenantRoute({
  method: "post",
  path: `${path}/replay`,
  tag,
  scope: "webhooks:write",
  operationId: "replayWebhookDelivery",
  summary: "Send a delivery again",
  description:
    "Sends the same event again under the same `webhook-id`, whatever came of it before, and begins the schedule of retries anew.",
  refuses: ["webhook_endpoint_not_found", "webhook_delivery_not_found", "webhook_endpoint_disabled"],
  request: { params },
  responses: { 202: json("The delivery is under way", webhookDelivery, pendingExample) },
});

const replayAll = tenantRoute({
  method: "post",
  path: `${endpointPath}/replay`,
  tag,
  scope: "webhooks:write",
  operationId: "replayWebhookDeliveries",
  summary: "Send again what failed",
  description:
    "Sends deliveries again that failed and were made at `since` or later, 1,000 at a time. While `has_more` is true, ask again.",
  refuses: ["webhook_endpoint_not_found", "webhook_endpoint_disabled"],
  request: { params: endpointParams, body: jsonBody(replayInput, { since: AT - 86_400 * SECOND }) },
  responses: { 202: json("They are under way", webhookReplay, { replayed: 12, has_more: false }) },
});

export function registerWebhookDeliveries(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(test, async (c) => {
    const { endpoint_id } = c.req.valid("param");
    const begun = await deps.tenants(readPrincipal(c).tenant).testWebhookEndpoint(readAct(c), endpoint_id);
    return begun.ok ? c.json(begun.value, 202) : sendProblem(c, begun.error);
  });

  app.openapi(list, async (c) => {
    const { limit, after = null, state = null } = c.req.valid("query");
    const page = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listWebhookDeliveries(c.req.valid("param").endpoint_id, { limit, after, state }),
    );
    return page.ok
      ? c.json(
          toList(page.value, ({ id: cursor }) => cursor),
          200,
        )
      : sendProblem(c, page.error);
  });

  app.openapi(get, async (c) => {
    const { endpoint_id, delivery_id } = c.req.valid("param");
    const found = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.getWebhookDelivery(endpoint_id, delivery_id),
    );
    return found.ok ? c.json(found.value, 200) : sendProblem(c, found.error);
  });

  app.openapi(replay, async (c) => {
    const { endpoint_id, delivery_id } = c.req.valid("param");
    const begun = await deps.tenants(readPrincipal(c).tenant).replayWebhookDelivery(readAct(c), endpoint_id, delivery_id);
    return begun.ok ? c.json(begun.value, 202) : sendProblem(c, begun.error);
  });

  app.openapi(replayAll, async (c) => {
    const { since } = c.req.valid("json");
    const begun = await deps.tenants(readPrincipal(c).tenant).replayWebhookDeliveries(readAct(c), c.req.valid("param").endpoint_id, since);
    return begun.ok ? c.json(begun.value, 202) : sendProblem(c, begun.error);
  });
}
