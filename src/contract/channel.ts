/** A channel: a tenant's bot on a chat platform. */
import { z } from "@hono/zod-openapi";
import { policyChoiceSchema } from "../context/policy-choice";
import { idOrNull, time } from "./ids";

const CHANNEL_TYPES = ["telegram", "slack", "discord", "whatsapp", "generic"] as const;
const channelType = z.enum(CHANNEL_TYPES);
export type ChannelType = z.infer<typeof channelType>;

export const CHAT_COMMANDS = ["start", "reset", "compact", "context", "undo", "forget", "help"] as const;
const chatCommand = z.enum(CHAT_COMMANDS);
export type ChatCommand = z.infer<typeof chatCommand>;

/** The platform's ids of users. */
const users = z.array(z.string().min(1).max(128)).max(1_000).readonly();

const channelAccess = z
  .discriminatedUnion("mode", [
    z.strictObject({ mode: z.literal("open") }),
    z.strictObject({ mode: z.literal("allow_list"), users }),
    z.strictObject({ mode: z.literal("pairing"), users: users.default([]) }),
  ])
  .openapi({
    description:
      "Who may talk to the bot: everyone; the listed users of the platform; or those and people who send a pairing code, which the tenant makes and passes on",
  });

/** What decides how a channel's chats are held, beside the secrets of its platform. */
export const channelSettings = z.object({
  type: channelType,
  session_per: z.enum(["user", "thread", "chat"]).openapi({
    description:
      "What has one session: `chat`, each private chat or group; `thread`, each thread of a chat; `user`, each person, in all chats of the channel",
  }),
  model: z.string().nullable().openapi({ description: "The model of new sessions. Null: the tenant's default" }),
  policy: policyChoiceSchema.nullable().openapi({ description: "The policy of new sessions. Null: the tenant's" }),
  system: z.string().nullable().openapi({ description: "The system prompt of new sessions" }),
  tools: z.array(z.string()).readonly().nullable().openapi({ description: "Names of registered tools, for new sessions. Null: none" }),
  commands: z.array(chatCommand).readonly().openapi({ description: "The commands that the bot knows" }),
  access: channelAccess,
  groups: z.enum(["addressed", "all", "none"]).openapi({
    description: "Which messages of groups the bot answers: those that address it, all, or none. The others are not recorded",
  }),
  streaming: z.boolean().openapi({ description: "The reply appears while it is written, where the platform lets a bot edit its messages" }),
  language: z.string().nullable().openapi({ description: "BCP 47, for the bot's own words. Null: the user's language" }),
});
export type ChannelSettings = z.infer<typeof channelSettings>;

export const channelView = z
  .object({
    name: z.string(),
    ...channelSettings.shape,
    credentials: z.array(z.string()).readonly().openapi({
      description:
        "Names of the secrets that are stored. Their values are never shown. Empty: the channel was restored without them, and is not served until they are put",
    }),
    webhook_path: z.string().openapi({ description: "Where the platform sends its webhooks, on this deployment's address" }),
    created_at: time,
    updated_at: time,
  })
  .openapi("Channel");
export type ChannelView = z.infer<typeof channelView>;

export const pairingCodeView = z
  .object({
    code: z
      .string()
      .openapi({ example: "7KQ2MX9D", description: "Shown this once. The first person who sends it to the bot may talk to it" }),
    expires_at: time,
  })
  .openapi("PairingCode");

export const pairedUserView = z
  .object({ user_id: z.string().openapi({ description: "The platform's id of the person" }), paired_at: time })
  .openapi("PairedUser");
export type PairedUserView = z.infer<typeof pairedUserView>;

/** What a channel's log tells of. Stored: a kind is never changed or removed. */
const CHANNEL_LOG_KINDS = ["reply_failed", "attachment_failed", "delivery_ignored", "delivery_malformed", "signature_refused"] as const;

export const channelLogView = z
  .object({
    id: z.string(),
    at: time.openapi({ description: "Of the last occurrence, if there were several" }),
    kind: z.enum(CHANNEL_LOG_KINDS),
    reason: z.string().openapi({ description: "A few words. It never quotes a message" }),
    count: z.int().openapi({
      description: "1, except for what is counted by the hour: refused signatures, and deliveries that were ignored or malformed",
    }),
    delivery: z.string().nullable().openapi({ description: "The platform's id of the delivery" }),
    session_id: idOrNull("ses"),
    turn_id: idOrNull("trn"),
  })
  .openapi("ChannelLogEntry");
export type ChannelLogView = z.infer<typeof channelLogView>;
