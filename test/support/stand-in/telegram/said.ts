/** What people write, as the messages of updates. */
import type { Chat, Person, Seen } from "./chats.ts";

/** The entities that Telegram's apps find in a text. */
function findEntities(text: string): readonly object[] {
  const kinds = [
    ["mention", /(?<![\w@])@\w{3,64}/g],
    ["bot_command", /(?<![\w/])\/\w{1,64}(?:@\w{3,64})?/g],
  ] as const;
  return kinds.flatMap(([type, pattern]) =>
    [...text.matchAll(pattern)].map(({ index, 0: { length } }) => ({ type, offset: index, length })),
  );
}

export function toWireMessage(chat: Chat, seen: Seen, extra: object = {}): object {
  const topic = seen.thread === null ? {} : { message_thread_id: seen.thread, is_topic_message: true };
  const entities = seen.from.is_bot ? seen.entities : findEntities(seen.text);
  const markup = seen.keys.length > 0 ? { reply_markup: { inline_keyboard: seen.keys } } : {};
  const text = seen.text === "" ? {} : { text: seen.text, ...(entities.length > 0 && { entities }) };
  return { message_id: seen.message_id, from: seen.from, chat, date: seen.date, ...topic, ...text, ...markup, ...extra };
}

export function toCallback(id: string, from: Person, message: object, data: string): object {
  return { callback_query: { id, from, message, chat_instance: "1", data } };
}
