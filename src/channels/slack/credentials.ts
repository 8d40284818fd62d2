import { z } from "zod";

/** A token goes into a header, so it has none but visible ASCII characters. */
const BOT_TOKEN = /^xox[\w.-]{1,500}$/;

/** What a tenant enters of a Slack app. docs/channels/slack.md says where Slack shows each value. */
export const slackCredentials = z.strictObject({
  signing_secret: z.string().min(1).max(256),
  bot_token: z.string().regex(BOT_TOKEN, "This is a bot token of Slack. It begins with xoxb-."),
  /** Slack sends it with each event too. Set it where events arrive without `authorizations`. */
  bot_user_id: z
    .string()
    .regex(/^[UW][A-Z0-9]{1,63}$/, "This is the id of the bot's user. It begins with U or W.")
    .optional(),
  /** Slack's Web API. Another address is for tests. */
  api_url: z.url({ protocol: /^https?$/ }).default("https://slack.com/api"),
});
export type SlackCredentials = z.infer<typeof slackCredentials>;
