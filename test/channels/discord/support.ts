import { sign } from "node:crypto";
import type { Delivery, ParsedWebhook, WebhookRequest } from "../../../src/app/channels/channel";
import { type DiscordCredentials, discordCredentials } from "../../../src/channels/discord/credentials";
import { discord } from "../../../src/channels/discord/discord";
import { makeKeys } from "../../support/stand-in/discord/interactions";

export const NOW = Date.UTC(2026, 10, 24, 12);
export const keys = makeKeys();
export const credentials: DiscordCredentials = discordCredentials.parse({
  application_id: "700",
  public_key: keys.publicKey,
  bot_token: "bot.token-1",
});

const bytes = (body: string | Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(typeof body === "string" ? Buffer.from(body) : body);

export function post(body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): WebhookRequest {
  const url = new URL("https://chat.example/webhook");
  return { method: "POST", url, headers: new Headers({ "content-type": "application/json", ...headers }), body: bytes(body) };
}

export const signText = (timestamp: string, body: string | Uint8Array, { privateKey } = keys): string =>
  sign(null, Buffer.concat([Buffer.from(timestamp), Buffer.from(body)]), privateKey).toString("hex");

export const parse = (interaction: object | string): ParsedWebhook =>
  discord.parse(post(typeof interaction === "string" ? interaction : JSON.stringify(interaction)), credentials);

/** 2026-11-24 12:00 UTC, as Discord's ids have it. */
export const ID = String(BigInt(NOW - 1_420_070_400_000) << 22n);

export const inServer = {
  id: ID,
  application_id: "700",
  type: 2,
  token: "aW50ZXJhY3Rpb24.token_1",
  version: 1,
  guild_id: "900",
  channel_id: "100",
  channel: { id: "100", type: 0 },
  member: { user: { id: "5", username: "ann", global_name: "Ann" }, nick: "Annie" },
  app_permissions: String((1n << 10n) | (1n << 11n)),
  authorizing_integration_owners: { "0": "900" },
  context: 0,
  locale: "zh-CN",
};

const STRING = 3;

export function ask(text: string, more: object = {}): object {
  return { ...inServer, data: { id: "1", name: "ask", type: 1, options: [{ name: "message", type: STRING, value: text }] }, ...more };
}

export const run = (name: string, options: readonly object[] = [], more: object = {}): object => ({
  ...inServer,
  data: { id: "1", name, type: 1, options, ...more },
});

export function onlyDelivery(parsed: ParsedWebhook): Delivery {
  const [delivery, ...rest] = parsed.kind === "deliveries" ? parsed.deliveries : [];
  if (!delivery || rest.length > 0) throw new Error(`This is not one delivery: ${JSON.stringify(parsed)}`);
  return delivery;
}

export const read = (interaction: object): Delivery => onlyDelivery(parse(interaction));
