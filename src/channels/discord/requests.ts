/** Calls of Discord's API: https://docs.discord.com/developers/resources/message, and /resources/webhook for an interaction's token. */
import type { ChatFile, OutboundAct, PlatformRequest, RenderedText, ReplyButton } from "../../app/channels/channel";
import { assertNever } from "../../lib/assert-never";
import { sha256Sync } from "../../lib/sha256-sync";
import type { DiscordCredentials } from "./credentials";
import { readDiscordTarget } from "./place";
import { chooseWay } from "./ways";

/** The content of a message. Discord counts code points: github.com/discord/discord-api-docs/issues/1315 */
const CONTENT_CHARACTERS = 2_000;
/** https://docs.discord.com/developers/components/reference#button and #action-row */
const LABEL_CHARACTERS = 80;
const ROW = 5;
const ROWS = 5;
export const MAX_DISCORD_BUTTONS = ROW * ROWS;
const ACTION_ROW = 1;
const BUTTON = 2;
const SECONDARY = 2;
/** The flag SUPPRESS_EMBEDS: no previews of what a model links to. */
const NO_PREVIEWS = 4;
/** The longest nonce. */
const NONCE_CHARACTERS = 25;
/** Stands where a message would be empty, because Discord takes no empty content. */
const NOTHING = "…";

export function fitsDiscord(text: string): boolean {
  if (text.length > 2 * CONTENT_CHARACTERS) return false;
  return text.length <= CONTENT_CHARACTERS || Array.from(text).length <= CONTENT_CHARACTERS;
}

export function buildDiscordRequest(act: OutboundAct, credentials: DiscordCredentials): PlatformRequest | null {
  switch (act.type) {
    case "send":
      return buildSend(act, credentials);
    case "edit":
      return buildEdit(act, credentials);
    case "typing":
      return buildTyping(act, credentials);
    case "withdraw":
      return buildWithdrawal(act, credentials);
    case "acknowledge_button":
      // The answer to the interaction ends the waiting state.
      return null;
    default:
      return assertNever(act);
  }
}

function buildSend(act: Extract<OutboundAct, { type: "send" }>, credentials: DiscordCredentials): PlatformRequest {
  const content = toContent(act);
  const way = chooseWay(act);
  switch (way) {
    case "original":
      return call(credentials, { method: "PATCH", path: `${toWebhookPath(act, credentials)}/messages/@original`, body: content });
    case "follow_up":
      return call(credentials, { method: "POST", path: toWebhookPath(act, credentials), body: content });
    case "channel": {
      const nonce = sha256Sync(act.operation).slice(0, NONCE_CHARACTERS);
      return call(credentials, {
        method: "POST",
        path: `${toChannelPath(act)}/messages`,
        body: { ...content, nonce, enforce_nonce: true },
      });
    }
    default:
      return assertNever(way);
  }
}

/** The bot is the author of what it sent by a token too, so that it may edit all its messages in a channel where it may write. */
function buildEdit(act: Extract<OutboundAct, { type: "edit" }>, credentials: DiscordCredentials): PlatformRequest {
  const base = chooseWay(act) === "channel" ? toChannelPath(act) : toWebhookPath(act, credentials);
  return call(credentials, { method: "PATCH", path: `${base}/messages/${encodeURIComponent(act.message)}`, body: toContent(act) });
}

/** Discord shows that the bot is thinking where it waits for the first reply. */
function buildTyping(act: Extract<OutboundAct, { type: "typing" }>, credentials: DiscordCredentials): PlatformRequest | null {
  const { is_thinking, may_write, token } = readDiscordTarget(act.place);
  if (is_thinking || (token !== null && !may_write)) return null;
  return call(credentials, { method: "POST", path: `${toChannelPath(act)}/typing` });
}

/** The message that shows that the bot is thinking stays until it is filled or deleted. */
function buildWithdrawal({ place }: Placed, credentials: DiscordCredentials): PlatformRequest | null {
  const { is_thinking, token } = readDiscordTarget(place);
  if (!is_thinking || token === null) return null;
  return call(credentials, { method: "DELETE", path: `${toWebhookPath({ place }, credentials)}/messages/@original` });
}

type Placed = Pick<OutboundAct, "place">;

const toChannelPath = ({ place }: Placed): string => `/channels/${encodeURIComponent(readDiscordTarget(place).channel)}`;

const toWebhookPath = ({ place }: Placed, { application_id }: DiscordCredentials): string =>
  `/webhooks/${application_id}/${encodeURIComponent(readDiscordTarget(place).token ?? "")}`;

interface Call {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: object;
}

/** Discord asks for a user agent of this form, with an address and a version: https://docs.discord.com/developers/reference#user-agent */
function call({ api_url, bot_token, application_id }: DiscordCredentials, { method, path, body }: Call): PlatformRequest {
  const url = `${api_url.endsWith("/") ? api_url.slice(0, -1) : api_url}${path}`;
  const headers = {
    authorization: `Bot ${bot_token}`,
    "user-agent": `DiscordBot (https://discord.com/developers/applications/${application_id}, 1)`,
  };
  if (body === undefined) return { method, url, headers };
  return { method, url, headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** The addresses of attachments are signed, and need no token. Only Discord's are fetched, whatever an interaction names. */
export function buildDiscordFileRequest({ ref }: ChatFile, { api_url }: DiscordCredentials): PlatformRequest | null {
  if (!URL.canParse(ref)) return null;
  const url = new URL(ref);
  const isDiscord = url.protocol === "https:" && /^(?:cdn\.discordapp\.com|media\.discordapp\.net)$/.test(url.host);
  return isDiscord || url.origin === new URL(api_url).origin ? { method: "GET", url: url.href, headers: {} } : null;
}

interface Content {
  readonly text: RenderedText;
  readonly buttons: readonly ReplyButton[];
}

/** `allowed_mentions`: whatever a model writes, it calls no person and no role. */
function toContent({ text, buttons }: Content): object {
  const content = text.text.trim() === "" ? NOTHING : text.text;
  return { content, components: toRows(buttons), allowed_mentions: { parse: [] }, flags: NO_PREVIEWS };
}

/** Discord refuses a message in which two buttons have one `custom_id`. */
function toRows(buttons: readonly ReplyButton[]): readonly object[] {
  const unlike = [...new Map(buttons.map((button) => [button.data, button])).values()].slice(0, MAX_DISCORD_BUTTONS).map(toButton);
  const starts = Array.from({ length: Math.ceil(unlike.length / ROW) }, (_, row) => row * ROW);
  return starts.map((start) => ({ type: ACTION_ROW, components: unlike.slice(start, start + ROW) }));
}

function toButton({ label, data }: ReplyButton): object {
  const words = Array.from(label.toWellFormed()).slice(0, LABEL_CHARACTERS).join("").trim();
  return { type: BUTTON, style: SECONDARY, label: words === "" ? NOTHING : words, custom_id: data };
}
