/**
 * WhatsApp's Cloud API on 127.0.0.1, and people who write to its number, whose messages it signs and delivers as Meta does. It keeps what people
 * see. Time, waits and deadlines are the test's.
 */
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { whatsappMessage, whatsappRead } from "./message-check.ts";
import { People, type SeenWhatsApp } from "./people.ts";

export interface WhatsAppOptions {
  readonly url?: string;
  readonly now?: () => number;
  readonly wait?: (ms: number) => Promise<void>;
  readonly deadline?: () => AbortSignal;
  readonly burst?: number;
}

/** What happens to the next message in place of an ordinary answer. */
export type WhatsAppMishap =
  | { readonly type: "error"; readonly code: number; readonly status: number }
  /** No JSON, as from a gateway. */
  | { readonly type: "page"; readonly status: number }
  /** The connection closes after the message was sent. */
  | { readonly type: "lose_answer" }
  | { readonly type: "hang" };

export interface WhatsAppAttempt {
  readonly status: number | null;
  readonly body: string;
}

type Written = Promise<{ readonly ids: readonly string[]; readonly attempts: readonly WhatsAppAttempt[] }>;

/** Meta repeats a webhook ever more seldom, for up to 7 days. It documents no times. */
const RETRY_WAITS = [0, 60_000, 600_000, 3_600_000, 86_400_000];
const BURST = 45;
/** The WhatsApp Business Account. */
const WABA_ID = "102290129340398";

export class WhatsAppStandIn {
  readonly appSecret = "app-secret";
  readonly accessToken = "EAAJB-stand-in";
  readonly verifyToken = "verify-token";
  readonly phoneNumberId = "106540352242922";
  readonly calls: { readonly path: string; readonly body: unknown }[] = [];
  readonly #people: People;
  readonly #media = new Map<string, { readonly type: string; readonly bytes: Uint8Array }>();
  readonly #mishaps: WhatsAppMishap[] = [];
  readonly #now: () => number;
  readonly #wait: (ms: number) => Promise<void>;
  readonly #deadline: () => AbortSignal;
  readonly #server: Server;
  #url: string;
  #port = 0;

  constructor({ url = "", now = Date.now, burst = BURST, wait, deadline }: WhatsAppOptions) {
    this.#people = new People(now, burst);
    this.#now = now;
    this.#wait = wait ?? ((ms) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref()));
    this.#deadline = deadline ?? (() => AbortSignal.timeout(10_000));
    this.#url = url;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("The stand-in has no port.");
    this.#port = address.port;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The value for `api_url`. */
  get apiUrl(): string {
    return `http://127.0.0.1:${this.#port}/v25.0`;
  }

  receiveAt(url: string): void {
    this.#url = url;
  }

  mishap(...mishaps: readonly WhatsAppMishap[]): void {
    this.#mishaps.push(...mishaps);
  }

  /** What a person sees of the bot, oldest first. */
  seen(person: string): readonly SeenWhatsApp[] {
    return this.#people.list(person);
  }

  isTyping(person: string): boolean {
    return this.#people.isTyping(person);
  }

  addMedia(id: string, type: string, bytes: Uint8Array): void {
    this.#media.set(id, { type, bytes });
  }

  /** Several messages in one request. `person`: a phone number, or the id of one who hides it, which begins with two letters and a dot. */
  async write(person: string, contents: readonly object[]): Written {
    const isNumber = /^\d+$/.test(person);
    const from = isNumber ? { from: person } : { from_user_id: person };
    const messages = contents.map((content) => ({ ...from, id: this.#people.write(person), timestamp: this.#seconds(), ...content }));
    const contact = { profile: { name: `Name of ${person}` }, ...(isNumber ? { wa_id: person } : { user_id: person }) };
    const attempts = await this.#deliver({ contacts: [contact], messages });
    return { ids: messages.map(({ id }) => id), attempts };
  }

  say(person: string, text: string): Written {
    return this.write(person, [{ type: "text", text: { body: text } }]);
  }

  press(person: string, { id, title }: { readonly id: string; readonly title: string }): Written {
    const message = this.seen(person).find((each) => each.id === id);
    const choice = message?.choices.find((each) => each.title === title);
    if (!choice) throw new Error(`The message has no button "${title}".`);
    const interactive = { type: "button_reply", button_reply: choice };
    return this.write(person, [{ type: "interactive", context: { from: "15550783881", id }, interactive }]);
  }

  /** The states of a sent message, which Meta reports too. */
  report(person: string, id: string, status: "sent" | "delivered" | "read"): Promise<readonly WhatsAppAttempt[]> {
    return this.#deliver({ statuses: [{ id, status, timestamp: this.#seconds(), recipient_id: person }] });
  }

  /** What Meta does when the callback URL is entered. */
  async verifyUrl(challenge: string, token = this.verifyToken): Promise<boolean> {
    const query = new URLSearchParams({ "hub.mode": "subscribe", "hub.verify_token": token, "hub.challenge": challenge });
    const response = await fetch(`${this.#url}?${query}`);
    return response.status === 200 && (await response.text()) === challenge;
  }

  #seconds(): string {
    return String(Math.floor(this.#now() / 1_000));
  }

  async #deliver(value: object): Promise<readonly WhatsAppAttempt[]> {
    const metadata = { display_phone_number: "15550783881", phone_number_id: this.phoneNumberId };
    const change = { value: { messaging_product: "whatsapp", metadata, ...value }, field: "messages" };
    const body = JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: WABA_ID, changes: [change] }] });
    const attempts = [await this.#post(body)];
    for (const ms of RETRY_WAITS) {
      if (attempts.at(-1)?.status === 200) break;
      await this.#wait(ms);
      attempts.push(await this.#post(body));
    }
    return attempts;
  }

  async #post(body: string): Promise<WhatsAppAttempt> {
    const signature = `sha256=${createHmac("sha256", this.appSecret).update(body).digest("hex")}`;
    const headers = { "content-type": "application/json", "x-hub-signature-256": signature };
    try {
      const response = await fetch(this.#url, { method: "POST", body, headers, signal: this.#deadline() });
      return { status: response.status, body: await response.text() };
    } catch {
      return { status: null, body: "" };
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const path = new URL(request.url ?? "/", "http://graph").pathname;
    const body = parseJson(Buffer.concat(pieces).toString("utf8"));
    this.calls.push({ path, body });
    if (request.headers.authorization !== `Bearer ${this.accessToken}`) return fail(response, 190, 401);
    if (request.method === "GET") return this.#answerMedia(path, request, response);
    if (path === `/v25.0/${WABA_ID}/subscribed_apps`) return sendJson(response, 200, { success: true });
    if (path !== `/v25.0/${this.phoneNumberId}/messages`) return fail(response, 100, 400);
    this.#answerMessage(body, response);
  }

  #answerMessage(body: unknown, response: ServerResponse): void {
    const read = whatsappRead.safeParse(body);
    if (read.success)
      return this.#people.showTyping(read.data.message_id) ? sendJson(response, 200, { success: true }) : fail(response, 100, 400);
    const mishap = this.#mishaps.shift();
    if (mishap?.type === "hang") return;
    if (mishap?.type === "error") return fail(response, mishap.code, mishap.status);
    if (mishap?.type === "page") return void response.writeHead(mishap.status, { "content-type": "text/html" }).end("<html>");
    const message = whatsappMessage.safeParse(body);
    if (!message.success) return fail(response, 131_009, 400);
    const id = this.#people.take(message.data);
    if (typeof id === "number") return fail(response, id, 400);
    if (mishap?.type === "lose_answer") return void response.destroy();
    const input = message.data.to ?? message.data.recipient;
    sendJson(response, 200, { messaging_product: "whatsapp", contacts: [{ input, wa_id: input }], messages: [{ id }] });
  }

  /** First the address of a file, then, at that address, the bytes, which a client without a name does not get. */
  #answerMedia(path: string, request: IncomingMessage, response: ServerResponse): void {
    const [, part, id = ""] = path.split("/");
    const media = this.#media.get(id);
    if (!media) return fail(response, 100, 400);
    if (part === "v25.0") {
      const url = `http://127.0.0.1:${this.#port}/download/${id}`;
      return sendJson(response, 200, {
        messaging_product: "whatsapp",
        url,
        mime_type: media.type,
        sha256: "x",
        file_size: media.bytes.byteLength,
        id,
      });
    }
    const client = request.headers["user-agent"];
    if (!client || client === "node") return void response.writeHead(403).end();
    response.writeHead(200, { "content-type": media.type }).end(media.bytes);
  }
}

export const startWhatsApp = (options: WhatsAppOptions = {}): Promise<WhatsAppStandIn> => new WhatsAppStandIn(options).listen();

function fail(response: ServerResponse, code: number, status: number): void {
  const error = {
    message: `(#${code}) refused`,
    type: "OAuthException",
    code,
    error_data: { messaging_product: "whatsapp", details: "x" },
  };
  sendJson(response, status, { error: { ...error, error_subcode: 2_494_010, fbtrace_id: "Az8or2yhqkZfEZ-_4Qn_Bam" } });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json; charset=UTF-8" }).end(JSON.stringify(body));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
