/** Events of messages: https://docs.slack.dev/reference/events/message */
import { z } from "zod";
import type { ChatEvent, ChatFile, ChatPlace, Delivery } from "../../app/channels/channel";
import { findWrittenCommand } from "../text/written-command";
import { findThread, isDirectMessage, toMilliseconds, toPlace } from "./place";
import { mentionsUser, toPlainText } from "./plain-text";
import { type SlackReading, slackId, slackTs, toMalformed } from "./reading";

const message = z.object({
  subtype: z.string().nullish(),
  user: slackId.nullish(),
  bot_id: z.string().nullish(),
  text: z.string().nullish(),
  ts: slackTs,
  thread_ts: slackTs.nullish(),
  parent_user_id: z.string().nullish(),
  files: z.array(z.unknown()).nullish(),
});
type Message = z.infer<typeof message>;

const messageEvent = message.extend({
  type: z.enum(["message", "app_mention"]),
  channel: slackId,
  channel_type: z.string().nullish(),
  event_ts: slackTs.nullish(),
  message: message.nullish(),
  previous_message: message.nullish(),
  deleted_ts: slackTs.nullish(),
});
type MessageEvent = z.infer<typeof messageEvent>;

const callback = z.object({
  event_id: z.string().min(1).max(128),
  event: z.looseObject({ type: z.string() }),
  authorizations: z.array(z.object({ user_id: z.string().nullish(), is_bot: z.boolean().nullish() })).nullish(),
});

const file = z.object({
  name: z.string().nullish(),
  mimetype: z.string().nullish(),
  size: z.number().int().nonnegative().nullish(),
  url_private: z.url({ protocol: /^https?$/ }).max(2_048),
});

interface Received {
  readonly id: string;
  readonly event: MessageEvent;
  /** Null: neither the event nor the tenant says who the bot is. */
  readonly bot: string | null;
}

/** Subtypes of messages that a person wrote. */
const WRITTEN = new Set(["", "file_share", "thread_broadcast", "me_message"]);
/** What remains of a deleted message that has replies. */
const TOMBSTONE = "tombstone";

export function readCallback(body: unknown, ownBot: string | null): SlackReading {
  const envelope = callback.safeParse(body);
  if (!envelope.success) return toMalformed(envelope.error);
  const { event_id: id, event, authorizations } = envelope.data;
  if (event.type !== "message" && event.type !== "app_mention") return { ignored: `an event of the type ${event.type.slice(0, 64)}` };
  const parsed = messageEvent.safeParse(event);
  if (!parsed.success) return toMalformed(parsed.error);
  const bot = ownBot ?? authorizations?.find(({ is_bot }) => is_bot)?.user_id ?? null;
  return readMessageEvent({ id, event: parsed.data, bot });
}

function readMessageEvent(received: Received): SlackReading {
  switch (received.event.subtype) {
    case "message_changed":
      return readChange(received);
    case "message_deleted":
      return readDeletion(received);
    default:
      return readMessage(received);
  }
}

/**
 * Slack sends a mention twice, as `message` and as `app_mention`, each with an `event_id` of its own. A message that addresses the bot therefore
 * has its channel and `ts` as the delivery's id: both are one delivery, whichever arrives first, and one turn.
 */
function readMessage({ id, event, bot }: Received): SlackReading {
  if (!WRITTEN.has(event.subtype ?? "")) return { ignored: `a message of the subtype ${event.subtype?.slice(0, 64)}` };
  const author = findAuthor(event, bot);
  if ("ignored" in author) return author;
  const text = event.text ?? "";
  const isPrivate = isDirectMessage(event.channel, event.channel_type);
  const isMention = event.type === "app_mention";
  if (bot === null && !isPrivate && !isMention && text.includes("<@"))
    return { ignored: "a mention, perhaps of the bot. If it is, Slack sends it as `app_mention` too" };
  const isAddressed = isPrivate || isMention || (bot !== null && (mentionsUser(text, bot) || event.parent_user_id === bot));
  const plain = toPlainText(text, bot);
  return toReading({
    id: isAddressed ? `${event.channel}:${event.ts}` : id,
    place: placeMessage(event, event),
    user: author.user,
    at: event.ts,
    event: {
      type: "message",
      message: event.ts,
      text: plain,
      files: (event.files ?? []).flatMap(toFile),
      command: findWrittenCommand(plain),
      is_addressed: isAddressed,
    },
  });
}

/** Slack also says that a message changed when it adds the preview of a link, or when a person replies. The text is then as it was. */
function readChange(received: Received): SlackReading {
  const { id, event, bot } = received;
  const { message: changed, previous_message: before } = event;
  if (!changed) return { malformed: "message: is missing, or not as Slack documents it" };
  if (changed.subtype === TOMBSTONE) return readDeletion(received);
  const author = findAuthor(changed, bot);
  if ("ignored" in author) return author;
  if (before && (before.text ?? "") === (changed.text ?? "")) return { ignored: "a change that leaves the text as it was" };
  const text = toPlainText(changed.text ?? "", bot);
  const place = placeMessage(event, changed);
  return toReading({ id, place, user: author.user, at: event.event_ts ?? event.ts, event: { type: "edit", message: changed.ts, text } });
}

function readDeletion({ id, event, bot }: Received): SlackReading {
  const { previous_message: before } = event;
  const deleted = event.deleted_ts ?? before?.ts;
  if (!deleted) return { malformed: "deleted_ts: is missing, or not as Slack documents it" };
  if (!before) return { ignored: "a deletion that does not say whose message it was" };
  const author = findAuthor(before, bot);
  if ("ignored" in author) return author;
  const place = placeMessage(event, before);
  return toReading({ id, place, user: author.user, at: event.event_ts ?? event.ts, event: { type: "deletion", message: deleted } });
}

/** Messages of bots are never answered: two bots would answer each other for ever. */
function findAuthor({ user, bot_id, subtype }: Message, bot: string | null): { readonly user: string } | { readonly ignored: string } {
  if (user && user === bot) return { ignored: "the bot's own message" };
  if (bot_id || subtype === "bot_message") return { ignored: "a message of a bot" };
  return user ? { user } : { ignored: "a message without an author" };
}

function placeMessage({ channel, channel_type }: MessageEvent, { ts, thread_ts }: Message): ChatPlace {
  const isPrivate = isDirectMessage(channel, channel_type);
  return toPlace({ channel, thread_ts: findThread({ ts, thread_ts }, isPrivate) }, isPrivate);
}

interface Found {
  readonly id: string;
  readonly place: ChatPlace;
  readonly user: string;
  readonly at: string;
  readonly event: ChatEvent;
}

function toReading({ user, at, ...rest }: Found): { readonly delivery: Delivery } {
  return { delivery: { ...rest, user: { id: user, name: null, language: null }, at: toMilliseconds(at) } };
}

/** A file that Slack hides, deleted or keeps elsewhere has no address, and is left out. */
function toFile(given: unknown): readonly ChatFile[] {
  const { data } = file.safeParse(given);
  return data ? [{ ref: data.url_private, name: data.name ?? null, media_type: data.mimetype ?? null, bytes: data.size ?? null }] : [];
}
