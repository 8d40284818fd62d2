/** Refusals about a tenant's models and webhooks, as documents: part of the table in `problem`. */
import type { TenantError } from "../app/tenant-api";
import { conflict, type RouteAnswer, unknown } from "./answer";

type Code =
  | "model_not_own"
  | "model_is_default"
  | "webhook_endpoint_not_found"
  | "webhook_delivery_not_found"
  | "webhook_endpoint_limit"
  | "webhook_endpoint_disabled";

export const tenantAnswers: { readonly [C in Code]: (error: Extract<TenantError, { readonly code: C }>) => RouteAnswer } = {
  model_not_own: () =>
    conflict(
      "Not a model of the tenant",
      "The model belongs to the deployment. Only the tenant's own models and overrides can be deleted.",
    ),
  model_is_default: ({ model }) =>
    conflict("The default model", "Sessions without a model of their own use it. First PATCH /v1/tenant with another default_model.", {
      model,
    }),
  webhook_endpoint_not_found: () => unknown("endpoint"),
  webhook_delivery_not_found: () => unknown("delivery"),
  webhook_endpoint_limit: ({ limit }) =>
    conflict("Too many endpoints", `A tenant has at most ${limit} endpoints; delete one first.`, { limit }),
  webhook_endpoint_disabled: ({ endpoint }) =>
    conflict("Endpoint disabled", "A disabled endpoint is sent nothing. PATCH it with enabled: true first.", { endpoint_id: endpoint }),
};
