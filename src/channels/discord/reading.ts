import { z } from "zod";
import type { Delivery, DeliveryAnswer } from "../../app/channels/channel";

/** What one interaction comes to. Each is answered: Discord shows the person a failure where there is no answer within 3 s. */
export type DiscordReading =
  | { readonly delivery: Delivery; readonly answer: DeliveryAnswer }
  | { readonly ignored: string; readonly answer: DeliveryAnswer }
  | { readonly malformed: string };

/** Discord's ids hold a time, in milliseconds since 2015: https://docs.discord.com/developers/reference#snowflakes */
export const discordId = z.string().regex(/^\d{1,20}$/, "This is an id of Discord: a number of up to 20 digits.");
const EPOCH = 1_420_070_400_000;
const TIME_BITS = 22n;

export const toSnowflakeTime = (id: string): number => Number(BigInt(id) >> TIME_BITS) + EPOCH;

/** Names the first field that is not as Discord documents it. */
export function toMalformedInteraction(error: z.ZodError): { readonly malformed: string } {
  const [issue] = error.issues;
  const path = issue?.path.map(String).join(".") || "body";
  return { malformed: `\`${path.slice(0, 128)}\` is missing, or not as Discord documents it.` };
}
