/**
 * Slack on 127.0.0.1: its Web API for a bot, and people who write to the bot, whose messages it signs and delivers as Slack does. It keeps what
 * people see. Time, waits and deadlines are the test's.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Conversations, type SeenMessage, type SlackChannel } from "./conversations.ts";
import { type Attempt, deliverEvent, deliverForm, type Sender } from "./deliver.ts";
import {
  type SlackFile,
  toCallback,
  toChangedEvent,
  toDeletedEvent,
  toInteractionForm,
  toMentionEvent,
  toMessageEvent,
  toSlashForm,
  toVerification,
} from "./event-bodies.ts";
import { type ApiAnswer, type SlackRates, WebApi } from "./web-api.ts";

export interface SlackOptions {
  /** Where the app receives requests. A test that starts the app later sets it with `receiveAt`. */
  readonly url?: string;
  readonly signingSecret?: string;
  readonly token?: string;
  readonly bot?: string;
  readonly rates?: SlackRates;
  readonly now?: () => number;
  readonly wait?: (ms: number) => Promise<void>;
  readonly deadline?: () => AbortSignal;
}

/** What happens to the next call in place of an ordinary answer. */
export type SlackMishap =
  /** `isDone`: the call takes effect all the same. */
  | { readonly type: "error"; readonly error: string; readonly status?: number; readonly isDone?: boolean }
  | { readonly type: "limit"; readonly seconds: number }
  /** The connection closes after the call took effect. */
  | { readonly type: "lose_answer" }
  /** The call takes no effect, and is never answered. */
  | { readonly type: "hang" };

export interface SlackCall {
  readonly method: string;
  readonly body: unknown;
  readonly headers: IncomingMessage["headers"];
}

interface Said {
  readonly channel: string;
  readonly user: string;
  /** As typed. `@bot` mentions the bot. */
  readonly text: string;
  readonly thread_ts?: string;
  readonly files?: readonly SlackFile[];
  /** Another bot writes. */
  readonly botId?: string;
  /** The kind of a message that Slack writes about the user, such as `channel_join`. */
  readonly subtype?: string;
}

const RATES: SlackRates = { burst: 5, updates_per_minute: 50 };
const DEADLINE_MS = 3_000;

export class SlackStandIn {
  readonly signingSecret: string;
  readonly token: string;
  readonly bot: string;
  readonly calls: SlackCall[] = [];
  readonly #conversations: Conversations;
  readonly #api: WebApi;
  readonly #server: Server;
  readonly #mishaps: SlackMishap[] = [];
  readonly #files = new Map<string, { readonly type: string; readonly bytes: Uint8Array }>();
  readonly #underWay = new Set<Promise<unknown>>();
  #sender: Sender;
  #ids = 0;
  #port = 0;

  constructor(options: SlackOptions) {
    const { url = "", signingSecret = "8f742231b10e8888abcd99yyyzzz85a5", token = "xoxb-stand-in", bot = "U0BOT", rates = RATES } = options;
    const { now = Date.now, deadline = () => AbortSignal.timeout(DEADLINE_MS) } = options;
    const { wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref()) } = options;
    this.signingSecret = signingSecret;
    this.token = token;
    this.bot = bot;
    this.#conversations = new Conversations(now);
    this.#api = new WebApi({ token, bot, rates, conversations: this.#conversations, now });
    this.#sender = { url, signingSecret, now, wait, deadline };
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

  /** The value for `api_url`. */
  get apiUrl(): string {
    return `http://127.0.0.1:${this.#port}/api`;
  }

  receiveAt(url: string): void {
    this.#sender = { ...this.#sender, url };
  }

  addChannel(channel: Partial<SlackChannel> & Pick<SlackChannel, "id">): void {
    this.#conversations.add(channel);
  }

  mishap(...mishaps: readonly SlackMishap[]): void {
    this.#mishaps.push(...mishaps);
  }

  /** What people see in a channel, oldest first. */
  seen(channel: string): readonly SeenMessage[] {
    return this.#conversations.list(channel);
  }

  status(channel: string, thread: string): string | null {
    return this.#api.findStatus(channel, thread);
  }

  addFile(name: string, type: string, bytes: Uint8Array): SlackFile {
    const id = `F${++this.#ids}`;
    this.#files.set(id, { type, bytes });
    return { id, name, mimetype: type, size: bytes.byteLength, url_private: `http://127.0.0.1:${this.#port}/files-pri/${id}/${name}` };
  }

  /** The attempts of each event that the message causes: `message`, and `app_mention` for a mention outside of a direct message. */
  async say({
    channel: id,
    user,
    text,
    thread_ts,
    files = [],
    ...marks
  }: Said): Promise<SeenMessage & { readonly attempts: readonly (readonly Attempt[])[] }> {
    const channel = this.#find(id);
    const message = this.#conversations.post({ channel: id, thread_ts: thread_ts ?? null, user, text: toWireText(text, this.bot) });
    const where = { channel, message, bot: this.bot };
    const isMention = channel.type !== "im" && text.includes("@bot");
    const events = [...(isMention ? [toMentionEvent(where, files)] : []), toMessageEvent(where, files)];
    return { ...message, attempts: await Promise.all(events.map((event) => this.#deliver({ ...event, ...toMarks(marks) }))) };
  }

  edit(channel: string, ts: string, text: string): Promise<readonly Attempt[]> {
    const message = this.#findMessage(channel, ts);
    const before = { ...message };
    this.#conversations.change(message, { text: toWireText(text, this.bot) });
    return this.#deliver(toChangedEvent({ channel: this.#find(channel), message, bot: this.bot }, before, this.#conversations.nextTs()));
  }

  delete(channel: string, ts: string): Promise<readonly Attempt[]> {
    const message = this.#findMessage(channel, ts);
    this.#conversations.remove(channel, ts);
    return this.#deliver(toDeletedEvent({ channel: this.#find(channel), message, bot: this.bot }, this.#conversations.nextTs()));
  }

  slash(channel: string, user: string, typed: string): Promise<Attempt> {
    const [command = "", ...words] = typed.split(" ");
    return deliverForm(
      this.#sender,
      toSlashForm({ command, text: words.join(" "), channel: this.#find(channel), user, trigger: this.#trigger() }),
    );
  }

  press(channel: string, user: string, { ts, label }: { readonly ts: string; readonly label: string }): Promise<Attempt> {
    const message = this.#findMessage(channel, ts);
    const buttons = message.blocks.flatMap((block) => (block.type === "actions" ? block.elements : []));
    const button = buttons.find(({ text }) => text.text === label);
    if (!button) throw new Error(`The message has no button "${label}".`);
    const press = { channel: this.#find(channel), message, user, button, trigger: this.#trigger(), ts: this.#conversations.nextTs() };
    return deliverForm(this.#sender, toInteractionForm(press));
  }

  /** What Slack does when the request URL is entered. True: the app returned the challenge. */
  async verifyUrl(challenge: string): Promise<boolean> {
    const [attempt] = await deliverEvent({ ...this.#sender, wait: async () => undefined }, toVerification(challenge));
    return attempt?.status === 200 && (attempt.body === challenge || attempt.body === JSON.stringify({ challenge }));
  }

  /** Resolves when the events of the bot's own messages were delivered. */
  async settle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #deliver(event: object): Promise<readonly Attempt[]> {
    const id = `Ev${String(++this.#ids).padStart(8, "0")}`;
    return deliverEvent(this.#sender, toCallback(event, { id, at: this.#sender.now(), bot: this.bot }));
  }

  #trigger(): string {
    return `${++this.#ids}.47445629121.803a0bc887a14d10d2c447fce8b6703c`;
  }

  #find(id: string): SlackChannel {
    const channel = this.#conversations.find(id);
    if (!channel) throw new Error(`There is no channel ${id}.`);
    return channel;
  }

  #findMessage(channel: string, ts: string): SeenMessage {
    const message = this.#conversations.findMessage(channel, ts);
    if (!message) throw new Error(`There is no message ${ts} in ${channel}.`);
    return message;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const path = request.url ?? "";
    const file = /^\/files-pri\/([^/]+)\//.exec(path)?.[1];
    if (file) return this.#answerFile(file, request, response);
    const call = { method: path.replace("/api/", ""), body: parseJson(Buffer.concat(pieces).toString("utf8")), headers: request.headers };
    this.calls.push(call);
    const mishap = this.#mishaps.shift();
    if (mishap?.type === "hang") return;
    if (mishap?.type === "limit")
      return send(response, { status: 429, headers: { "retry-after": String(mishap.seconds) }, body: { ok: false, error: "ratelimited" } });
    const isDone = mishap?.type !== "error" || mishap.isDone === true;
    const answer = isDone ? this.#api.call(call.method, request.headers.authorization, call.body) : null;
    if (answer?.did) this.#echo(answer.did);
    if (mishap?.type === "lose_answer") return void response.destroy();
    if (mishap?.type === "error") return send(response, { status: mishap.status ?? 200, body: { ok: false, error: mishap.error } });
    if (answer) send(response, answer);
  }

  /** Slack sends an app the events of its own messages too. */
  #echo({ type, channel, message }: NonNullable<ApiAnswer["did"]>): void {
    if (this.#sender.url === "") return;
    const where = { channel: this.#find(channel), message: { ...message }, bot: this.bot };
    const before = { ...message, text: "…" };
    const event = type === "posted" ? toMessageEvent(where, []) : toChangedEvent(where, before, this.#conversations.nextTs());
    const delivered: Promise<unknown> = this.#deliver(event).finally(() => this.#underWay.delete(delivered));
    this.#underWay.add(delivered);
  }

  /** Without the token Slack answers with its sign-in page, and status 200. */
  #answerFile(id: string, { headers }: IncomingMessage, response: ServerResponse): void {
    const file = this.#files.get(id);
    if (headers.authorization !== `Bearer ${this.token}`)
      return void response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>");
    if (!file) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": file.type }).end(file.bytes);
  }
}

export const startSlack = (options: SlackOptions = {}): Promise<SlackStandIn> => new SlackStandIn(options).listen();

const toMarks = ({ botId, subtype }: Pick<Said, "botId" | "subtype">): object => ({
  ...(botId !== undefined && { bot_id: botId }),
  ...(subtype !== undefined && { subtype }),
});

function send(response: ServerResponse, { status, body, headers }: ApiAnswer): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers }).end(JSON.stringify(body));
}

/** Slack escapes what a person types, and turns mentions and addresses into references. */
function toWireText(typed: string, bot: string): string {
  const escaped = typed.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  return escaped.replace(/https?:\/\/\S+/g, (url) => `<${url}>`).replaceAll("@bot", `<@${bot}>`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
