/** What an update means. Channels' posts, other bots and changes of membership are ignored. */
import type { ChatEvent, ChatPlace, ChatUser, Delivery, ParsedWebhook, WebhookRequest } from "../../app/channels/channel";
import { listFiles, readTelegramText } from "./message-content";
import { type TelegramCallbackQuery, type TelegramMessage, type TelegramUser, telegramUpdate } from "./update";

const ANSWER = { status: 200 } as const;
const ignore = (reason: string): ParsedWebhook => ({ kind: "ignored", reason, answer: ANSWER });

/** The account in whose name Telegram copies a channel's posts into its group. */
const TELEGRAM_ITSELF = 777_000;

export function parseUpdate({ method, body }: WebhookRequest, username: string): ParsedWebhook {
  if (method !== "POST") return { kind: "malformed", detail: "body: is sent by POST" };
  const json = readJson(body);
  const update = telegramUpdate.safeParse(json);
  if (!update.success) return { kind: "malformed", detail: "body: is no Update of Telegram, which has an update_id" };
  const { update_id, message, edited_message, callback_query } = update.data;
  const id = String(update_id);
  if (message) return parseMessage(message, { id, username, isEdit: false });
  if (edited_message) return parseMessage(edited_message, { id, username, isEdit: true });
  if (callback_query) return parseButton(callback_query);
  return ignore(`no message: ${listKinds(json)}`);
}

function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
}

const KINDS = /^[a-z_]{1,40}$/;

/** The names of what Telegram sent, for the channel's log. Their contents are not shown. */
function listKinds(json: unknown): string {
  const names = typeof json === "object" && json !== null ? Object.keys(json) : [];
  return names
    .filter((name) => name !== "update_id" && KINDS.test(name))
    .slice(0, 3)
    .join(", ");
}

interface Reading {
  readonly id: string;
  readonly username: string;
  readonly isEdit: boolean;
}

function parseMessage(message: TelegramMessage, { id, username, isEdit }: Reading): ParsedWebhook {
  const { from, chat } = message;
  if (chat.type === "channel") return ignore("a post of a channel");
  if (!from) return ignore("a message without a sender");
  if (from.is_bot) return ignore("a message of a bot");
  if (from.id === TELEGRAM_ITSELF || message.is_automatic_forward) return ignore("a channel's post in its group");
  const event = isEdit ? toEdit(message, username) : toMessage(message, username);
  return event
    ? deliver({ id, place: toPlace(message), user: toUser(from), at: (message.edit_date ?? message.date) * 1_000, event })
    : ignore("a message without a text or file");
}

const deliver = (delivery: Delivery): ParsedWebhook => ({ kind: "deliveries", deliveries: [delivery], answer: ANSWER });

function toMessage(message: TelegramMessage, username: string): ChatEvent | null {
  const { text, command, isMentioned } = readTelegramText(message, username);
  const files = listFiles(message);
  if (text === "" && files.length === 0) return null;
  const isReply = message.reply_to_message?.from?.username?.toLowerCase() === username.toLowerCase();
  const is_addressed = message.chat.type === "private" || isMentioned || isReply;
  return { type: "message", message: String(message.message_id), text, files, command, is_addressed };
}

function toEdit(message: TelegramMessage, username: string): ChatEvent | null {
  const { text } = readTelegramText(message, username);
  return text === "" ? null : { type: "edit", message: String(message.message_id), text };
}

/** The id of a button's delivery is the query's, which `answerCallbackQuery` needs. The prefix keeps it apart from ids of updates. */
export const BUTTON_PREFIX = "callback:";

function parseButton({ id, from, message, data }: TelegramCallbackQuery): ParsedWebhook {
  if (from.is_bot) return ignore("a button that a bot pressed");
  if (!message || data === undefined) return ignore("a button without a message or data");
  // Telegram does not say when a button was pressed, only when its message was sent.
  const at = message.date * 1_000;
  const event = { type: "button", message: String(message.message_id), data } as const;
  return deliver({ id: BUTTON_PREFIX + id, place: toPlace(message), user: toUser(from), at, event });
}

/** Replies in an ordinary group have a `message_thread_id` too, without being in a topic. */
function toPlace({ chat, is_topic_message, message_thread_id }: TelegramMessage): ChatPlace {
  const thread_id = is_topic_message && message_thread_id !== undefined ? message_thread_id : null;
  const thread = thread_id === null ? null : String(thread_id);
  return { chat: String(chat.id), thread, is_private: chat.type === "private", target: { chat_id: chat.id, thread_id } };
}

function toUser({ id, first_name, last_name, language_code }: TelegramUser): ChatUser {
  const name = [first_name, last_name ?? ""].join(" ").trim();
  return { id: String(id), name: name === "" ? null : name, language: language_code ?? null };
}
