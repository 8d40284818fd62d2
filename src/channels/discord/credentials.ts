import { z } from "zod";
import { discordId } from "./reading";

/** A token goes into a header, so it has none but visible ASCII characters. */
const BOT_TOKEN = /^[\w.-]{1,500}$/;

/** What a tenant enters of a Discord application. docs/channels/discord.md says where Discord shows each value. */
export const discordCredentials = z.strictObject({
  application_id: discordId,
  public_key: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, "This is the public key of a Discord application: 64 hexadecimal digits.")
    .toLowerCase(),
  bot_token: z.string().regex(BOT_TOKEN, "This is the token of the bot, without the word Bot before it."),
  /** Discord's API. Another address is for tests. */
  api_url: z.url({ protocol: /^https?$/ }).default("https://discord.com/api/v10"),
});
export type DiscordCredentials = z.infer<typeof discordCredentials>;
