/** The chats of the stand-in, with what their people see. */
import { type Entity, HtmlFault, type ReadHtml, readHtml } from "./html.ts";

export interface Person {
  readonly id: number;
  readonly is_bot: boolean;
  readonly first_name: string;
  readonly username?: string;
  readonly language_code?: string;
}

export interface Chat {
  readonly id: number;
  readonly type: "private" | "group" | "supergroup";
  readonly title?: string;
  readonly first_name?: string;
}

export interface Key {
  readonly text: string;
  readonly callback_data: string;
}

/** A message as people see it. */
export interface Seen {
  readonly message_id: number;
  readonly from: Person;
  readonly thread: number | null;
  readonly date: number;
  text: string;
  entities: readonly Entity[];
  keys: readonly (readonly Key[])[];
  edits: number;
}

interface Room {
  readonly chat: Chat;
  readonly messages: Seen[];
  isBlocked: boolean;
  movedTo: number | null;
  readonly topics: Set<number>;
}

/** A refusal of the Bot API. */
export class Refusal extends Error {
  readonly status: number;
  readonly parameters: Readonly<Record<string, number>> | undefined;

  constructor(status: number, description: string, parameters?: Readonly<Record<string, number>>) {
    super(description);
    this.status = status;
    this.parameters = parameters;
  }
}

const bad = (description: string, parameters?: Readonly<Record<string, number>>) =>
  new Refusal(400, `Bad Request: ${description}`, parameters);

const MAX_UNITS = 4_096;
const MAX_DATA_BYTES = 64;
const MAX_KEYS = 100;

export type Fields = Readonly<Record<string, unknown>>;

export class Chats {
  readonly #rooms = new Map<number, Room>();
  #messages = 0;

  add(chat: Chat, topics: readonly number[] = []): Chat {
    this.#rooms.set(chat.id, { chat, messages: [], isBlocked: false, movedTo: null, topics: new Set(topics) });
    return chat;
  }

  block(chat: number): void {
    this.room(chat).isBlocked = true;
  }

  move(chat: number, to: Chat): void {
    this.add(to);
    this.room(chat).movedTo = to.id;
  }

  room(chat: unknown): Room {
    const room = this.#rooms.get(Number(chat));
    if (!room) throw bad("chat not found");
    return room;
  }

  /** The room that a bot may write to. */
  openRoom({ chat_id, message_thread_id }: Fields): Room {
    const room = this.room(chat_id);
    if (room.movedTo !== null) throw bad("group chat was upgraded to a supergroup chat", { migrate_to_chat_id: room.movedTo });
    if (room.isBlocked)
      throw new Refusal(
        403,
        room.chat.type === "private" ? "Forbidden: bot was blocked by the user" : "Forbidden: bot was kicked from the group chat",
      );
    if (message_thread_id !== undefined && !room.topics.has(Number(message_thread_id))) throw bad("message thread not found");
    return room;
  }

  put(room: Room, message: Omit<Seen, "message_id" | "edits">): Seen {
    const seen = { ...message, message_id: ++this.#messages, edits: 0 };
    room.messages.push(seen);
    return seen;
  }

  send(fields: Fields, from: Person, date: number): { readonly chat: Chat; readonly seen: Seen } {
    const room = this.openRoom(fields);
    const { text, entities } = readSent(fields);
    const thread = fields.message_thread_id === undefined ? null : Number(fields.message_thread_id);
    return { chat: room.chat, seen: this.put(room, { from, thread, date, text, entities, keys: readKeys(fields) }) };
  }

  edit(fields: Fields): { readonly chat: Chat; readonly seen: Seen } {
    const room = this.openRoom(fields);
    const seen = room.messages.find(({ message_id }) => message_id === Number(fields.message_id));
    if (!seen) throw bad("message to edit not found");
    if (!seen.from.is_bot) throw bad("message can't be edited");
    const { text, entities } = readSent(fields);
    const next = { text, entities, keys: readKeys(fields) };
    if (JSON.stringify(next) === JSON.stringify({ text: seen.text, entities: seen.entities, keys: seen.keys }))
      throw bad(
        "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
      );
    Object.assign(seen, next, { edits: seen.edits + 1 });
    return { chat: room.chat, seen };
  }
}

function readSent({ text, parse_mode }: Fields): ReadHtml {
  if (typeof text !== "string") throw bad("message text is empty");
  if (!text.isWellFormed()) throw bad("strings must be encoded in UTF-8");
  const read = parse_mode === "HTML" ? readMarkup(text) : { text: text.trim(), entities: [] };
  if (read.text.replace(/[\s\u200b-\u200f\u2060\ufeff]/g, "") === "") throw bad("message text is empty");
  if (read.text.length > MAX_UNITS) throw bad("message is too long");
  return read;
}

function readMarkup(text: string): ReadHtml {
  try {
    return readHtml(text);
  } catch (error) {
    if (error instanceof HtmlFault) throw bad(`can't parse entities: ${error.message}`);
    throw error;
  }
}

function readKeys({ reply_markup }: Fields): readonly (readonly Key[])[] {
  if (typeof reply_markup !== "object" || reply_markup === null || !("inline_keyboard" in reply_markup)) return [];
  const rows = reply_markup.inline_keyboard as readonly (readonly Key[])[];
  const keys = rows.flat();
  if (keys.length > MAX_KEYS) throw bad("reply markup is too long");
  if (keys.some(({ text }) => typeof text !== "string" || text.trim() === ""))
    throw bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard");
  if (keys.some(({ callback_data }) => Buffer.byteLength(callback_data) > MAX_DATA_BYTES || callback_data === ""))
    throw bad("BUTTON_DATA_INVALID");
  return rows;
}
