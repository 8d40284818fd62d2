/** Interactions as Discord sends them: https://docs.discord.com/developers/interactions/receiving-and-responding */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { DiscordChannel, SeenMessage } from "./channels.ts";

export interface DiscordKeys {
  readonly privateKey: KeyObject;
  /** As the developer portal shows it. */
  readonly publicKey: string;
}

export function makeKeys(): DiscordKeys {
  const { privateKey } = generateKeyPairSync("ed25519");
  return { privateKey, publicKey: toPublicHex(privateKey) };
}

const RAW_KEY_BYTES = 32;

export const toPublicHex = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ type: "spki", format: "der" }).subarray(-RAW_KEY_BYTES).toString("hex");

export const signDiscord = (privateKey: KeyObject, timestamp: string, body: string | Uint8Array): string =>
  sign(null, Buffer.concat([Buffer.from(timestamp), Buffer.from(body)]), privateKey).toString("hex");

export interface DiscordAttachment {
  readonly id: string;
  readonly filename: string;
  readonly content_type: string;
  readonly size: number;
  readonly url: string;
}

export interface DiscordOption {
  readonly name: string;
  readonly type: number;
  readonly value: string | number | boolean;
}

/** An interaction whose token Discord knows. */
export interface Opened {
  readonly id: string;
  readonly token: string;
  readonly channel: string;
  readonly user: string;
  readonly at: number;
  /** The application is installed by the person alone, so that follow-ups are few. */
  readonly isUserInstall: boolean;
  state: "waiting" | "answered" | "dead";
  /** The message that `@original` is. */
  original: string | null;
  followUps: number;
}

export const toToken = (id: string): string => `aW50ZXJhY3Rpb246${createHash("sha256").update(id).digest("base64url")}`;

interface Asked {
  readonly application: string;
  readonly opened: Opened;
  readonly channel: DiscordChannel;
}

const VIEW_AND_SEND = (1n << 10n) | (1n << 11n) | (1n << 38n);
const CHANNEL_TYPES = { server: 0, dm: 1, group_dm: 3, thread: 11 } as const;

/** What all interactions have, but a PING. */
function toBase({ application, opened, channel }: Asked): object {
  const isServer = channel.type === "server" || channel.type === "thread";
  const user = { id: opened.user, username: `user${opened.user}`, global_name: `User ${opened.user}`, avatar: null, discriminator: "0" };
  const permissions = String(channel.hasBot && channel.maySend ? VIEW_AND_SEND : 0n);
  return {
    id: opened.id,
    application_id: application,
    token: opened.token,
    version: 1,
    channel_id: channel.id,
    channel: { id: channel.id, type: CHANNEL_TYPES[channel.type], ...(channel.parent ? { parent_id: channel.parent } : {}) },
    ...(isServer ? { guild_id: "900", member: { user, nick: null, roles: [], permissions: "0" } } : { user }),
    app_permissions: permissions,
    locale: "zh-CN",
    entitlements: [],
    attachment_size_limit: 10_485_760,
    authorizing_integration_owners: opened.isUserInstall ? { "1": opened.user } : { "0": isServer ? "900" : "0" },
    context: isServer ? 0 : channel.type === "dm" ? 1 : 2,
  };
}

export const toPing = (id: string, application: string): object => ({
  id,
  application_id: application,
  token: toToken(id),
  type: 1,
  version: 1,
  user: { id: "1", username: "discord" },
});

interface Command {
  readonly name: string;
  readonly options: readonly DiscordOption[];
  readonly attachments: readonly DiscordAttachment[];
  readonly isAutocomplete: boolean;
}

export function toCommand(asked: Asked, { name, options, attachments, isAutocomplete }: Command): object {
  const files = attachments.map(({ id }, index) => ({ name: index === 0 ? "file" : `file${index}`, type: 11, value: id }));
  const resolved =
    attachments.length > 0 ? { resolved: { attachments: Object.fromEntries(attachments.map((each) => [each.id, each])) } } : {};
  const data = { id: "800", name, type: 1, options: [...options, ...files], ...resolved };
  return { ...toBase(asked), type: isAutocomplete ? 4 : 2, data };
}

export function toPress(asked: Asked, message: SeenMessage, customId: string): object {
  const data = { id: 2, custom_id: customId, component_type: 2 };
  return { ...toBase(asked), type: 3, data, message: { id: message.id, channel_id: asked.channel.id, content: message.content } };
}
