/** Where an interaction happened, and by which of Discord's ways a reply gets there. */
import { z } from "zod";
import type { ChatPlace } from "../../app/channels/channel";
import { discordId, toSnowflakeTime } from "./reading";

export interface DiscordTarget {
  readonly channel: string;
  /** The interaction's, which is valid for 15 minutes. Null: there is none, or Discord no longer takes it. */
  readonly token: string | null;
  /** When the person asked, by Discord's clock, in epoch milliseconds. */
  readonly asked_at: number;
  /** A message of the bot shows that it is thinking, until the first reply takes its place. */
  readonly is_thinking: boolean;
  /** The bot may write in the channel without the token. */
  readonly may_write: boolean;
}

export const interactionPlace = z.object({
  id: discordId,
  token: z.string().regex(/^[\w.:-]{1,1000}$/),
  guild_id: discordId.nullish(),
  channel_id: discordId,
  channel: z.object({ type: z.number().nullish(), parent_id: discordId.nullish() }).nullish(),
  context: z.number().nullish(),
  app_permissions: z
    .string()
    .regex(/^\d{1,30}$/)
    .nullish(),
  authorizing_integration_owners: z.record(z.string(), z.string()).nullish(),
});
type InteractionPlace = z.infer<typeof interactionPlace>;

/** https://docs.discord.com/developers/resources/channel#channel-object-channel-types */
const THREADS = new Set([10, 11, 12]);
const DIRECT_MESSAGE = 1;
/** https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-interaction-context-types */
const BOT_DM = 1;
/** The key of an application that is installed in the server, and not by the person alone. */
const GUILD_INSTALL = "0";
/** https://docs.discord.com/developers/topics/permissions#permissions-bitwise-permission-flags */
const ADMINISTRATOR = 1n << 3n;
const VIEW_CHANNEL = 1n << 10n;
const SEND_MESSAGES = 1n << 11n;
const SEND_MESSAGES_IN_THREADS = 1n << 38n;

export function placeInteraction(given: InteractionPlace, isThinking: boolean): ChatPlace {
  const { id, channel_id, channel, guild_id, token } = given;
  const isThread = THREADS.has(channel?.type ?? -1);
  const place = {
    chat: isThread ? (channel?.parent_id ?? channel_id) : channel_id,
    thread: isThread ? channel_id : null,
    is_private: !guild_id && (channel?.type ?? DIRECT_MESSAGE) === DIRECT_MESSAGE,
    target: {},
  };
  const may_write = mayWrite(given, isThread);
  return withDiscordTarget(place, { channel: channel_id, token, asked_at: toSnowflakeTime(id), is_thinking: isThinking, may_write });
}

/** Unknown is false: the token then leads there. */
function mayWrite(given: InteractionPlace, isThread: boolean): boolean {
  if (!given.guild_id) return given.context === BOT_DM;
  const permissions = BigInt(given.app_permissions ?? "0");
  const needed = VIEW_CHANNEL | (isThread ? SEND_MESSAGES_IN_THREADS : SEND_MESSAGES);
  const isInServer = given.authorizing_integration_owners?.[GUILD_INSTALL] !== undefined;
  return isInServer && ((permissions & needed) === needed || (permissions & ADMINISTRATOR) !== 0n);
}

export function withDiscordTarget(place: ChatPlace, { is_thinking, may_write, ...rest }: DiscordTarget): ChatPlace {
  return { ...place, target: { ...rest, is_thinking: Number(is_thinking), may_write: Number(may_write) } };
}

export function readDiscordTarget({ chat, thread, target }: ChatPlace): DiscordTarget {
  const { channel, token, asked_at, is_thinking, may_write } = target;
  return {
    channel: typeof channel === "string" ? channel : (thread ?? chat),
    token: typeof token === "string" ? token : null,
    asked_at: typeof asked_at === "number" ? asked_at : 0,
    is_thinking: is_thinking === 1,
    may_write: may_write === 1,
  };
}
