/** Refusals about webhooks, as documents: part of the table in `problem`. */
import type { WebhookError } from "../app/webhook-api";
import { conflict, type RouteAnswer, unknown } from "./answer";

type AnsweredBy = { [E in WebhookError as E["code"]]: E };

export const webhookAnswers: { readonly [C in keyof AnsweredBy]: (error: AnsweredBy[C]) => RouteAnswer } = {
  webhook_endpoint_not_found: () => unknown("endpoint"),
  webhook_delivery_not_found: () => unknown("delivery"),
  webhook_endpoint_limit: ({ limit }) =>
    conflict("Too many endpoints", `A tenant has at most ${limit} endpoints; delete one first.`, { limit }),
  webhook_endpoint_disabled: ({ endpoint }) =>
    conflict("Endpoint disabled", "A disabled endpoint is sent nothing. PATCH it with enabled: true first.", { endpoint_id: endpoint }),
};
