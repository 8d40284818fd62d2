/**
 * The parts of an Update that the adapter reads: https://core.telegram.org/bots/api#update. A part of another shape counts as absent, since an
 * update that is refused would be delivered again for a day, and hold up those behind it.
 */
import { z } from "zod";

const id = z.int();

const user = z.object({
  id,
  is_bot: z.boolean(),
  first_name: z.string(),
  last_name: z.string().optional().catch(undefined),
  username: z.string().optional().catch(undefined),
  language_code: z.string().optional().catch(undefined),
});
export type TelegramUser = z.infer<typeof user>;

const chat = z.object({ id, type: z.string(), title: z.string().optional().catch(undefined) });

/** `offset` and `length` count UTF-16 units. */
const entity = z.object({
  type: z.string(),
  offset: z.int().min(0),
  length: z.int().min(0),
  user: z.object({ id }).optional().catch(undefined),
});
export type TelegramEntity = z.infer<typeof entity>;

const file = z.object({
  file_id: z.string(),
  file_name: z.string().optional().catch(undefined),
  mime_type: z.string().optional().catch(undefined),
  file_size: z.int().min(0).optional().catch(undefined),
});
export type TelegramFile = z.infer<typeof file>;

const origin = z.object({
  type: z.string(),
  sender_user: user.optional().catch(undefined),
  sender_user_name: z.string().optional().catch(undefined),
  sender_chat: chat.optional().catch(undefined),
  chat: chat.optional().catch(undefined),
});
export type TelegramOrigin = z.infer<typeof origin>;

const list = <T extends z.ZodType>(of: T) => z.array(of).optional().catch(undefined);

const message = z.object({
  message_id: id,
  message_thread_id: id.optional().catch(undefined),
  is_topic_message: z.boolean().optional().catch(undefined),
  is_automatic_forward: z.boolean().optional().catch(undefined),
  from: user.optional().catch(undefined),
  chat,
  /** Seconds. 0: the message is too old to be shown. */
  date: z.int(),
  edit_date: z.int().optional().catch(undefined),
  text: z.string().optional().catch(undefined),
  caption: z.string().optional().catch(undefined),
  entities: list(entity),
  caption_entities: list(entity),
  reply_to_message: z
    .object({ from: user.optional().catch(undefined) })
    .optional()
    .catch(undefined),
  forward_origin: origin.optional().catch(undefined),
  photo: list(file.extend({ width: z.int(), height: z.int() })),
  document: file.optional().catch(undefined),
  voice: file.optional().catch(undefined),
  audio: file.optional().catch(undefined),
  video: file.optional().catch(undefined),
  video_note: file.optional().catch(undefined),
  animation: file.optional().catch(undefined),
  sticker: z
    .object({ emoji: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
  location: z.object({ latitude: z.number(), longitude: z.number() }).optional().catch(undefined),
});
export type TelegramMessage = z.infer<typeof message>;

const callbackQuery = z.object({
  id: z.string(),
  from: user,
  message: message.optional().catch(undefined),
  data: z.string().optional().catch(undefined),
});
export type TelegramCallbackQuery = z.infer<typeof callbackQuery>;

export const telegramUpdate = z.object({
  update_id: id,
  message: message.optional().catch(undefined),
  edited_message: message.optional().catch(undefined),
  callback_query: callbackQuery.optional().catch(undefined),
});
