/** Endpoints of webhooks as clients make and change them. */
import { z } from "@hono/zod-openapi";
import { time } from "../../contract/ids";
import { WEBHOOK_EVENT_TYPES } from "../../domain/webhook-events";
import { metadataInput } from "./session";

const url = z.string().min(1).max(2_048).openapi({
  example: "https://example.com/hooks/longhand",
  description: "An https URL with a public address, without credentials and fragment",
});
const events = z.array(z.enum(WEBHOOK_EVENT_TYPES)).min(1).max(WEBHOOK_EVENT_TYPES.length).nullable();
const description = z.string().min(1).max(500).nullable();

export const endpointInput = z
  .strictObject({
    url,
    events: events.default(null).openapi({ description: "The types to send. Null: all, also those of later versions" }),
    description: description.default(null),
    metadata: metadataInput.default({}),
  })
  .openapi("CreateWebhookEndpoint");

export const endpointPatch = z
  .strictObject({
    url: url.optional(),
    events: events.optional().openapi({ description: "Replaces the list. Null: all types" }),
    description: description.optional(),
    metadata: metadataInput.optional().openapi({ description: "Replaces the whole" }),
    enabled: z
      .boolean()
      .optional()
      .openapi({ description: "true: it is sent what happens from now on. false: what waits for it ends as failed" }),
  })
  .openapi("PatchWebhookEndpoint");

const DAY_S = 24 * 60 * 60;
export const secretRotation = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(7 * DAY_S)
      .default(DAY_S)
      .openapi({ description: "How long the secrets before sign, too. 0: they end at once" }),
  })
  .openapi("RotateWebhookSecret");

export const replayInput = z
  .strictObject({ since: time.min(0).openapi({ description: "Epoch milliseconds: deliveries that were made then or later" }) })
  .openapi("ReplayWebhookDeliveries");
