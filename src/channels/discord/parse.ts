/** What a verified request means: an interaction, https://docs.discord.com/developers/interactions/receiving-and-responding */
import { z } from "zod";
import type { ChatUser, DeliveryAnswer, ParsedWebhook, WebhookRequest } from "../../app/channels/channel";
import { CHAT_INPUT, commandData, readCommand } from "./command";
import { interactionPlace, placeInteraction } from "./place";
import { type DiscordReading, discordId, toMalformedInteraction, toSnowflakeTime } from "./reading";

const answer = (json: object): DeliveryAnswer => ({ status: 200, json });

const PONG = answer({ type: 1 });
/** Shows that the bot is thinking, until the reply takes the place of that. */
const THINKING = answer({ type: 5 });
/** Ends the waiting state of the button. The message stays as it is. */
const TAKEN = answer({ type: 6 });
const NO_CHOICES = answer({ type: 8, data: { choices: [] } });
/** For the eyes of the person alone. */
const NOT_KNOWN = answer({ type: 4, data: { content: "The bot does not know this command.", flags: 64, allowed_mentions: { parse: [] } } });

const PING = 1;
const COMMAND = 2;
const COMPONENT = 3;
const AUTOCOMPLETE = 4;
const BUTTON = 2;

const head = z.object({ type: z.number(), application_id: z.string().nullish() });

const user = z.object({ id: discordId, username: z.string().nullish(), global_name: z.string().nullish() });

const interaction = interactionPlace.extend({
  member: z.object({ user, nick: z.string().nullish() }).nullish(),
  user: user.nullish(),
  locale: z.string().max(32).nullish(),
});
type Interaction = z.infer<typeof interaction>;

const commandInteraction = interaction.extend({ data: commandData });

const componentInteraction = interaction.extend({
  data: z.object({ component_type: z.number(), custom_id: z.string().min(1).max(100) }),
  message: z.object({ id: discordId }),
});

export function parseDiscord(request: WebhookRequest, application: string): ParsedWebhook {
  if (request.method !== "POST") return malformed("Discord sends its requests with POST.");
  const body = decode(request.body);
  const start = head.safeParse(body);
  if (!start.success) return malformed("The body is not a JSON object with a `type`.");
  const { type, application_id } = start.data;
  if (application_id && application_id !== application)
    return malformed("`application_id` is of another application than the channel's credentials.");
  if (type === PING) return { kind: "handshake", answer: PONG };
  return toParsed(readInteraction(type, body));
}

function readInteraction(type: number, body: unknown): DiscordReading {
  switch (type) {
    case COMMAND:
      return readCommandInteraction(body);
    case COMPONENT:
      return readComponent(body);
    case AUTOCOMPLETE:
      return { ignored: "a request for choices", answer: NO_CHOICES };
    default:
      return { ignored: `an interaction of the type ${String(type).slice(0, 16)}`, answer: TAKEN };
  }
}

function readCommandInteraction(body: unknown): DiscordReading {
  const parsed = commandInteraction.safeParse(body);
  if (!parsed.success) return toMalformedInteraction(parsed.error);
  const { id, data } = parsed.data;
  if (data.type !== CHAT_INPUT) return { ignored: `a command of the type ${String(data.type).slice(0, 16)}`, answer: NOT_KNOWN };
  const author = findUser(parsed.data);
  if (!author) return NO_USER;
  const place = placeInteraction(parsed.data, true);
  return { delivery: { id, place, user: author, at: toSnowflakeTime(id), event: readCommand(data, id) }, answer: THINKING };
}

function readComponent(body: unknown): DiscordReading {
  const parsed = componentInteraction.safeParse(body);
  if (!parsed.success) return toMalformedInteraction(parsed.error);
  const { id, data, message } = parsed.data;
  if (data.component_type !== BUTTON) return { ignored: "a component that is no button", answer: TAKEN };
  const author = findUser(parsed.data);
  if (!author) return NO_USER;
  const place = placeInteraction(parsed.data, false);
  const event = { type: "button", message: message.id, data: data.custom_id } as const;
  return { delivery: { id, place, user: author, at: toSnowflakeTime(id), event }, answer: TAKEN };
}

const NO_USER: DiscordReading = { malformed: "`member.user` and `user` are missing." };

/** Discord sends `member` in a server, and `user` in a direct message. */
function findUser({ member, user: direct, locale }: Interaction): ChatUser | null {
  const found = member?.user ?? direct;
  if (!found) return null;
  return { id: found.id, name: member?.nick || found.global_name || found.username || null, language: locale || null };
}

function toParsed(reading: DiscordReading): ParsedWebhook {
  if ("malformed" in reading) return malformed(reading.malformed);
  if ("ignored" in reading) return { kind: "ignored", reason: reading.ignored, answer: reading.answer };
  return { kind: "deliveries", deliveries: [reading.delivery], answer: reading.answer };
}

const malformed = (detail: string): ParsedWebhook => ({ kind: "malformed", detail });

/** Undefined: the body is not JSON in UTF-8. */
function decode(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    return undefined;
  }
}
