/** Webhooks: the endpoints of a tenant, the events that they are sent, and the log of deliveries. */
import { z } from "@hono/zod-openapi";
import { DELIVERY_FAILURES, DELIVERY_STATES, DISABLED_REASONS, TEST_EVENT, WEBHOOK_EVENT_TYPES } from "../domain/webhook-events";
import { id, idOrNull, time } from "./ids";

const eventType = z.enum(WEBHOOK_EVENT_TYPES);

export const webhookEndpoint = z
  .object({
    id: id("whk"),
    url: z.string(),
    events: z
      .array(eventType)
      .readonly()
      .nullable()
      .openapi({ description: "The types that it is sent. Null: all, also those of later versions" }),
    description: z.string().nullable(),
    metadata: z.record(z.string(), z.string()).readonly(),
    status: z.enum(["enabled", "disabled"]),
    disabled_reason: z.enum(DISABLED_REASONS).nullable().openapi({
      description:
        "`requested`: by a change. `gone`: it answered 410. `failing`: it answered nothing but failures for five days. `backlog`: too many events wait for it while it fails, or while room is short",
    }),
    disabled_at: time.nullable(),
    failing_since: time.nullable().openapi({ description: "The first failure since it last answered 2xx. Null: its last answer was 2xx" }),
    previous_secret_until: time
      .nullable()
      .openapi({ description: "Until then the secret before the present one signs, too. Null: it alone signs" }),
    created_at: time,
    updated_at: time,
  })
  .openapi("WebhookEndpoint");
export type WebhookEndpoint = z.infer<typeof webhookEndpoint>;

const attempt = z
  .object({
    at: time,
    ms: z.int().openapi({ description: "How long it took" }),
    status: z.int().nullable().openapi({ description: "The HTTP status. Null: there was no answer" }),
    failure: z.enum(DELIVERY_FAILURES).nullable().openapi({ description: "Null: the answer was 2xx" }),
    answer: z.string().nullable().openapi({ description: "The first 4,096 bytes of the answer, as text. Null: there was none" }),
  })
  .openapi("WebhookAttempt");
export type WebhookAttempt = z.infer<typeof attempt>;

export const webhookDelivery = z
  .object({
    id: id("dlv"),
    endpoint_id: id("whk"),
    event_id: id("evt").openapi({
      description: "The header `webhook-id`, and `id` in the body. The same at each try and for each endpoint",
    }),
    type: z.enum([...WEBHOOK_EVENT_TYPES, TEST_EVENT]),
    session_id: idOrNull("ses"),
    state: z.enum(DELIVERY_STATES).openapi({ description: "`pending`: it is tried, or tried again. `failed`: it is not tried any more" }),
    attempts: z.int().openapi({ description: "How often it was tried" }),
    next_attempt_at: time.nullable(),
    last_status: z.int().nullable(),
    last_failure: z.enum(DELIVERY_FAILURES).nullable(),
    created_at: time,
    finished_at: time.nullable(),
  })
  .openapi("WebhookDelivery");
export type WebhookDelivery = z.infer<typeof webhookDelivery>;

export const webhookDeliveryDetail = webhookDelivery
  .extend({
    body: z.string().openapi({ description: "The body as it is sent, byte for byte" }),
    log: z.array(attempt).readonly().openapi({ description: "The last ten tries, the oldest first" }),
  })
  .openapi("WebhookDeliveryDetail");
export type WebhookDeliveryDetail = z.infer<typeof webhookDeliveryDetail>;

export const webhookReplay = z
  .object({ replayed: z.int().openapi({ description: "Deliveries that are tried again" }), has_more: z.boolean() })
  .openapi("WebhookReplay");
export type WebhookReplay = z.infer<typeof webhookReplay>;
