import { z } from "zod";

/** What a tenant enters of a bot. docs/channels/telegram.md says where each value comes from. */
export const telegramCredentials = z.strictObject({
  /** The token is part of every address, so it has no character that would change the path. */
  bot_token: z.string().regex(/^\d{1,20}:[A-Za-z0-9_-]{1,256}$/, "This is a token of BotFather: digits, a colon, and letters."),
  /** https://core.telegram.org/bots/api#setwebhook allows these characters. */
  secret_token: z.string().regex(/^[A-Za-z0-9_-]{16,256}$/, "The secret has 16 to 256 of A-Z, a-z, 0-9, _ and -."),
  bot_username: z.string().regex(/^[A-Za-z0-9_]{3,64}$/, "The bot's username, without the @."),
  /** A Bot API server of the tenant's own, or a stand-in. */
  api_url: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/$/, ""))
    .default("https://api.telegram.org"),
});
export type TelegramCredentials = z.infer<typeof telegramCredentials>;
