/**
 * Telegram on 127.0.0.1: the Bot API over HTTP, and people who write to the bot. It keeps what they see. Time and waits are the caller's.
 * https://core.telegram.org/bots/api
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Chat, Chats, type Fields, type Person, Refusal, type Seen } from "./chats.ts";
import { RateCounter, TELEGRAM_RATES, type TelegramRates } from "./rates.ts";
import { toCallback, toWireMessage } from "./said.ts";
import { Updates } from "./updates.ts";

export interface TelegramOptions {
  readonly token?: string;
  readonly username?: string;
  /** Null: nothing is limited. */
  readonly rates?: TelegramRates | null;
  readonly now?: () => number;
  /** Waits before an update is delivered again. */
  readonly wait?: (ms: number) => Promise<void>;
  readonly port?: number;
}

/** What happens to the next call in place of an ordinary answer. */
export type TelegramMishap =
  | {
      readonly type: "refuse";
      readonly status: number;
      readonly description: string;
      readonly parameters?: Readonly<Record<string, number>>;
    }
  /** The connection closes after the call took effect. */
  | { readonly type: "lose_answer" }
  /** The call takes no effect, and is never answered. */
  | { readonly type: "hang" }
  /** A gateway answers, in HTML. */
  | { readonly type: "gateway"; readonly status: number };

export interface TelegramCall {
  readonly method: string;
  readonly fields: Fields;
  readonly status: number;
}

interface StoredFile {
  readonly bytes: Uint8Array;
  readonly size: number;
}

export interface Said {
  readonly from: Person;
  readonly text?: string;
  readonly chat?: Chat;
  readonly thread?: number;
  /** More fields of the message: a photo, what it replies to. */
  readonly extra?: object;
}

const BIGGEST_FILE = 20 * 1_024 * 1_024;

export class TelegramStandIn {
  readonly token: string;
  readonly bot: Person;
  readonly calls: TelegramCall[] = [];
  readonly updates: Updates;
  readonly #chats = new Chats();
  readonly #rates: RateCounter | null;
  readonly #now: () => number;
  readonly #server: Server;
  readonly #mishaps: TelegramMishap[] = [];
  readonly #files = new Map<string, StoredFile>();
  readonly #callbacks = new Set<string>();
  #waiting: (() => void)[] = [];
  #ids = 0;
  #port = 0;

  constructor({ token = "123456:stand-in", username = "longhand_bot", rates = TELEGRAM_RATES, ...rest }: TelegramOptions = {}) {
    const { now = Date.now, wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref()) } = rest;
    this.token = token;
    this.bot = { id: Number(token.split(":", 1)[0]), is_bot: true, first_name: "Longhand", username };
    this.#now = now;
    this.#rates = rates && new RateCounter(rates, now);
    this.updates = new Updates(wait);
    this.#server = createServer((request, response) => {
      this.#take(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
    });
  }

  /** The credential `api_url`. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    const address = this.#server.address();
    if (typeof address === "object" && address !== null) this.#port = address.port;
    return this;
  }

  async close(): Promise<void> {
    this.updates.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  addPerson(first_name: string, language_code = "en"): Person {
    const person = { id: 500_000 + ++this.#ids, is_bot: false, first_name, language_code };
    this.#chats.add({ id: person.id, type: "private", first_name });
    return person;
  }

  addGroup(title: string, topics: readonly number[] = []): Chat {
    const id = topics.length > 0 ? -1_001_000_000_000 - ++this.#ids : -1_000 - ++this.#ids;
    return this.#chats.add({ id, type: topics.length > 0 ? "supergroup" : "group", title }, topics);
  }

  /** A person blocks the bot, or a group removes it. */
  block({ id }: { readonly id: number }): void {
    this.#chats.block(id);
  }

  /** The group becomes a supergroup, with another id. */
  upgrade(group: Chat): Chat {
    const to = { id: -1_001_500_000_000 - ++this.#ids, type: "supergroup", title: group.title ?? "" } as const;
    this.#chats.move(group.id, to);
    return to;
  }

  /** A person writes. Absent `chat`: in the private chat with the bot. */
  say({ from, text = "", chat, thread, extra }: Said): { readonly update_id: number } {
    const room = this.#chats.room(chat?.id ?? from.id);
    const seen = this.#chats.put(room, { from, thread: thread ?? null, date: this.#seconds(), text, entities: [], keys: [] });
    return this.updates.add({ message: toWireMessage(room.chat, seen, extra) });
  }

  /** A person changes the last message that he or she wrote in the private chat. */
  rewrite(from: Person, text: string): { readonly update_id: number } {
    const room = this.#chats.room(from.id);
    const seen = room.messages.findLast((each) => each.from.id === from.id);
    if (!seen) throw new Error("There is no message.");
    seen.text = text;
    return this.updates.add({ edited_message: toWireMessage(room.chat, seen, { edit_date: this.#seconds() }) });
  }

  /** A person presses a button of a message that has one with this label. */
  press(from: Person, label: string, chat: { readonly id: number } = from): { readonly update_id: number } {
    const room = this.#chats.room(chat.id);
    for (const seen of room.messages.toReversed()) {
      const key = seen.keys.flat().find(({ text }) => text === label);
      if (!key) continue;
      const id = `${4_382_000_000_000 + ++this.#ids}`;
      this.#callbacks.add(id);
      return this.updates.add(toCallback(id, from, toWireMessage(room.chat, seen), key.callback_data));
    }
    throw new Error(`There is no button ${label}.`);
  }

  /** `size`: what Telegram says that it has, when the bytes themselves do not matter. */
  putFile(bytes: Uint8Array, size = bytes.length): string {
    const id = `file-${++this.#ids}`;
    this.#files.set(id, { bytes, size });
    return id;
  }

  /** What is seen in a chat, from the first message on. */
  seen({ id }: { readonly id: number }): readonly Seen[] {
    return this.#chats.room(id).messages;
  }

  /** Resolves when `isThere` is true, which is asked behind each call. */
  async until(isThere: () => boolean): Promise<void> {
    while (!isThere()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  mishap(...mishaps: readonly TelegramMishap[]): void {
    this.#mishaps.push(...mishaps);
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1_000);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://telegram");
    const body = await readBody(request);
    const [, isFile, token, name = ""] = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(pathname) ?? [];
    if (token === undefined) return sendJson(response, 404, { ok: false, error_code: 404, description: "Not Found" });
    if (token !== this.token) return sendJson(response, 401, { ok: false, error_code: 401, description: "Unauthorized" });
    if (isFile) return this.#sendFile(name, response);
    const fields = { ...Object.fromEntries(searchParams), ...readFields(request, body) };
    const mishap = this.#mishaps.shift();
    if (mishap?.type === "hang") return void this.calls.push({ method: name, fields, status: 0 });
    if (mishap?.type === "gateway") {
      this.calls.push({ method: name, fields, status: mishap.status });
      return void response.writeHead(mishap.status, { "content-type": "text/html" }).end("<html><title>Bad Gateway</title></html>");
    }
    const { status, json } = this.#answer(name, fields, mishap);
    this.calls.push({ method: name, fields, status });
    for (const wake of this.#waiting.splice(0)) wake();
    if (mishap?.type === "lose_answer") return void response.destroy();
    sendJson(response, status, json);
  }

  #answer(method: string, fields: Fields, mishap: TelegramMishap | undefined): { readonly status: number; readonly json: object } {
    try {
      if (mishap?.type === "refuse") throw new Refusal(mishap.status, mishap.description, mishap.parameters);
      return { status: 200, json: { ok: true, result: this.#call(method, fields) } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, message, parameters } = error;
      return { status, json: { ok: false, error_code: status, description: message, ...(parameters && { parameters }) } };
    }
  }

  #call(method: string, fields: Fields): unknown {
    switch (method) {
      case "getMe":
        return { ...this.bot, can_join_groups: true, can_read_all_group_messages: false, supports_inline_queries: false };
      case "setWebhook":
        return this.#setWebhook(fields);
      case "deleteWebhook":
        this.updates.hook = null;
        return true;
      case "getWebhookInfo":
        return { url: this.updates.hook?.url ?? "", has_custom_certificate: false, pending_update_count: this.updates.pending };
      case "setMyCommands":
        return true;
      case "sendMessage":
        return this.#write(fields, () => this.#chats.send(fields, this.bot, this.#seconds()));
      case "editMessageText":
        return this.#write(fields, () => this.#chats.edit(fields));
      case "sendChatAction":
        this.#chats.openRoom(fields);
        return true;
      case "answerCallbackQuery":
        if (!this.#callbacks.delete(String(fields.callback_query_id)))
          throw new Refusal(400, "Bad Request: query is too old and response timeout expired or query ID is invalid");
        return true;
      case "getFile":
        return this.#findFile(String(fields.file_id));
      default:
        throw new Refusal(404, "Not Found: method not found");
    }
  }

  #setWebhook({ url, secret_token }: Fields): true {
    const secret = typeof secret_token === "string" && secret_token !== "" ? secret_token : null;
    if (secret !== null && !/^[A-Za-z0-9_-]{1,256}$/.test(secret))
      throw new Refusal(400, "Bad Request: secret token contains unallowed characters");
    this.updates.hook = typeof url === "string" && url !== "" ? { url, secret } : null;
    this.updates.start();
    return true;
  }

  /** A message that is refused for its content counts too. */
  #write(fields: Fields, act: () => { readonly chat: Chat; readonly seen: Seen }): object {
    const seconds = this.#rates?.take(Number(fields.chat_id)) ?? 0;
    if (seconds > 0) throw new Refusal(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
    const { chat, seen } = act();
    return toWireMessage(chat, seen);
  }

  #findFile(id: string): object {
    const file = this.#files.get(id);
    if (!file) throw new Refusal(400, "Bad Request: wrong file_id or the file is temporarily unavailable");
    if (file.size > BIGGEST_FILE) throw new Refusal(400, "Bad Request: file is too big");
    return { file_id: id, file_unique_id: `unique-${id}`, file_size: file.size, file_path: `documents/${id}.bin` };
  }

  #sendFile(path: string, response: ServerResponse): void {
    const file = this.#files.get(/^documents\/(.+)\.bin$/.exec(path)?.[1] ?? "");
    if (!file) return sendJson(response, 404, { ok: false, error_code: 404, description: "Not Found" });
    response.writeHead(200, { "content-type": "application/octet-stream" }).end(file.bytes);
  }
}

/** Calls carry their fields as JSON or as a form, as the documents allow. */
function readFields(request: IncomingMessage, body: string): Fields {
  if (body === "") return {};
  const isJson = request.headers["content-type"]?.startsWith("application/json");
  return isJson ? (JSON.parse(body) as Fields) : Object.fromEntries(new URLSearchParams(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

function sendJson(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
}
