import { z } from "zod";
import type { Delivery, DeliveryAnswer } from "../../app/channels/channel";

/** What one request of Slack comes to. `malformed`: the field, a colon, and what is wrong. */
export type SlackReading =
  | { readonly delivery: Delivery; readonly answer?: DeliveryAnswer }
  | { readonly ignored: string }
  | { readonly malformed: string };

export const slackId = z.string().regex(/^[A-Z0-9]{1,64}$/);
export const slackTs = z.string().regex(/^\d{1,16}\.\d{1,9}$/);

/** Names the first field that is not as Slack documents it. */
export function toMalformed(error: z.ZodError): { readonly malformed: string } {
  const [issue] = error.issues;
  const path = issue?.path.map(String).join(".") || "body";
  return { malformed: `${path.slice(0, 128)}: is missing, or not as Slack documents it` };
}
