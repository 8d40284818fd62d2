/** The text, the command and the files of a message. */
import type { ChatFile } from "../../app/channels/channel";
import type { TelegramEntity, TelegramFile, TelegramMessage, TelegramOrigin } from "./update";

interface MessageText {
  readonly text: string;
  readonly command: { readonly name: string; readonly args: string } | null;
  /** The text has the bot's name, or a command with it. */
  readonly isMentioned: boolean;
}

/** A mention of the bot at the beginning is not part of what is said. */
export function readTelegramText(message: TelegramMessage, username: string): MessageText {
  const raw = message.text ?? message.caption ?? "";
  const entities = (message.text === undefined ? message.caption_entities : message.entities) ?? [];
  const bot = `@${username.toLowerCase()}`;
  const mentions = entities.filter((entity) => entity.type === "mention" && readEntity(raw, entity).toLowerCase() === bot);
  const { command, isForBot, isForOther } = readCommand(raw, entities, bot);
  const first = mentions.find(({ offset }) => raw.slice(0, offset).trim() === "");
  const behind = first ? raw.slice(first.offset + first.length).replace(/^[\s,:]+/, "") : "";
  const said = behind === "" ? raw : behind;
  const text = [readOrigin(message.forward_origin), said, describe(message)].filter((part) => part !== "").join("\n");
  return { text, command: isForOther || message.forward_origin ? null : command, isMentioned: mentions.length > 0 || isForBot };
}

const readEntity = (text: string, { offset, length }: TelegramEntity): string => text.slice(offset, offset + length);

interface ReadCommand {
  readonly command: MessageText["command"];
  readonly isForBot: boolean;
  readonly isForOther: boolean;
}

/** A command is one at the beginning only. `/start@other_bot` is another bot's. */
function readCommand(text: string, entities: readonly TelegramEntity[], bot: string): ReadCommand {
  const entity = entities.find(({ type, offset }) => type === "bot_command" && offset === 0);
  const [name = "", target] = entity ? readEntity(text, entity).slice(1).toLowerCase().split("@") : [];
  if (!entity || name === "") return { command: null, isForBot: false, isForOther: false };
  const isForBot = target !== undefined && `@${target}` === bot;
  return { command: { name, args: text.slice(entity.length).trim() }, isForBot, isForOther: target !== undefined && !isForBot };
}

/** Whose words a forwarded message has. */
function readOrigin(origin: TelegramOrigin | undefined): string {
  if (!origin) return "";
  const { sender_user, sender_user_name, sender_chat, chat } = origin;
  const name = sender_user?.first_name ?? sender_user_name ?? sender_chat?.title ?? chat?.title;
  return name === undefined ? "Forwarded:" : `Forwarded from ${name}:`;
}

function describe({ sticker, location }: TelegramMessage): string {
  if (sticker) return sticker.emoji ?? "[sticker]";
  return location ? `[location ${location.latitude}, ${location.longitude}]` : "";
}

/** An animation is sent as a document too. */
export function listFiles(message: TelegramMessage): readonly ChatFile[] {
  const { document, animation, voice, audio, video, video_note } = message;
  const largest = message.photo?.toSorted((a, b) => a.width * a.height - b.width * b.height).at(-1);
  const found = [
    largest && toFile(largest, "image/jpeg"),
    animation ? toFile(animation, "video/mp4") : document && toFile(document, null),
    voice && toFile(voice, "audio/ogg"),
    audio && toFile(audio, "audio/mpeg"),
    video && toFile(video, "video/mp4"),
    video_note && toFile(video_note, "video/mp4"),
  ];
  return found.filter((file) => file !== undefined);
}

/** `usual`: the type that Telegram's documents name for this kind. */
function toFile({ file_id, file_name, mime_type, file_size }: TelegramFile, usual: string | null): ChatFile {
  return { ref: file_id, name: file_name ?? null, media_type: mime_type ?? usual, bytes: file_size ?? null };
}
