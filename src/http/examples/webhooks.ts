/** Examples of webhooks. */
import type { z } from "@hono/zod-openapi";
import type { webhookDelivery, webhookDeliveryDetail, webhookEndpoint } from "../../contract/webhook";
import { AT, SECOND, SESSION, TURN } from "./shared";

export const ENDPOINT = "whk_01JD8Z3V6Q4N7R2T5W9X0Y1ABT";
export const DELIVERY = "dlv_01JD8Z3V6Q4N7R2T5W9X0Y1ABV";
const EVENT = "evt_01JD8Z3V6Q4N7R2T5W9X0Y1ABW";

export const endpointExample: z.input<typeof webhookEndpoint> = {
  id: ENDPOINT,
  url: "https://example.com/hooks/longhand",
  events: ["turn.completed", "turn.failed"],
  description: "The help desk",
  metadata: {},
  status: "enabled",
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  previous_secret_until: null,
  created_at: AT,
  updated_at: AT,
};

export const deliveryExample: z.input<typeof webhookDelivery> = {
  id: DELIVERY,
  endpoint_id: ENDPOINT,
  event_id: EVENT,
  type: "turn.completed",
  session_id: SESSION,
  state: "delivered",
  attempts: 1,
  next_attempt_at: null,
  last_status: 200,
  last_failure: null,
  created_at: AT,
  finished_at: AT + SECOND,
};

export const deliveryDetailExample: z.input<typeof webhookDeliveryDetail> = {
  ...deliveryExample,
  body: JSON.stringify({
    id: EVENT,
    object: "event",
    type: "turn.completed",
    created_at: AT / SECOND,
    timestamp: new Date(AT).toISOString(),
    data: { id: TURN, finish: "stop", session_id: SESSION, seq: 9 },
  }),
  log: [{ at: AT, ms: 84, status: 200, failure: null, answer: "ok" }],
};
