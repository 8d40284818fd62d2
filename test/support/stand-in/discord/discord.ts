/**
 * Discord on 127.0.0.1: its API for a bot, and people who use the bot, whose interactions it signs and delivers as Discord does. It keeps what
 * people see. Time and the deadline are the test's.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Channels, type DiscordChannel, type SeenMessage } from "./channels.ts";
import {
  type DiscordAttachment,
  type DiscordKeys,
  type DiscordOption,
  makeKeys,
  type Opened,
  signDiscord,
  toCommand,
  toPing,
  toPress,
  toToken,
} from "./interactions.ts";
import { type DiscordMishap, toMishapAnswer } from "./mishaps.ts";
import type { DiscordRates } from "./rate-limits.ts";
import { type ApiAnswer, RestApi } from "./rest-api.ts";

export interface DiscordOptions {
  /** Where the application receives interactions. A test that starts it later sets it with `receiveAt`. */
  readonly url?: string;
  readonly application?: string;
  readonly token?: string;
  readonly rates?: DiscordRates;
  readonly now?: () => number;
  /** Aborts when Discord no longer waits for an answer. */
  readonly deadline?: () => AbortSignal;
}

export interface DiscordCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers: IncomingMessage["headers"];
}

/** What came of an interaction. `isFailed`: the person reads that the application did not respond. */
export interface Interacted {
  readonly id: string;
  readonly token: string;
  readonly status: number | null;
  readonly answer: unknown;
  readonly isFailed: boolean;
}

interface Asked {
  readonly channel: string;
  readonly user: string;
  readonly name: string;
  readonly options?: readonly DiscordOption[];
  readonly attachments?: readonly DiscordAttachment[];
  readonly isAutocomplete?: boolean;
  readonly isUserInstall?: boolean;
}

const RATES: DiscordRates = { requests: 5, window_ms: 5_000 };
const DEADLINE_MS = 3_000;
const EPHEMERAL = 64;

export class DiscordStandIn {
  readonly application: string;
  readonly token: string;
  readonly keys: DiscordKeys = makeKeys();
  readonly calls: DiscordCall[] = [];
  readonly #channels: Channels;
  readonly #api: RestApi;
  readonly #server: Server;
  readonly #mishaps: DiscordMishap[] = [];
  readonly #files = new Map<string, { readonly type: string; readonly bytes: Uint8Array }>();
  readonly #now: () => number;
  readonly #deadline: () => AbortSignal;
  #url: string;
  #port = 0;

  constructor({ url = "", application = "700", token = "bot.token-1", rates = RATES, ...clock }: DiscordOptions) {
    const { now = Date.now, deadline = () => AbortSignal.timeout(DEADLINE_MS) } = clock;
    this.application = application;
    this.token = token;
    this.#url = url;
    this.#now = now;
    this.#deadline = deadline;
    this.#channels = new Channels(now);
    this.#api = new RestApi({ application, token, rates, channels: this.#channels, now });
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
    return `http://127.0.0.1:${this.#port}/api/v10`;
  }

  receiveAt(url: string): void {
    this.#url = url;
  }

  addChannel(channel: Partial<DiscordChannel> & Pick<DiscordChannel, "id">): void {
    this.#channels.add(channel);
  }

  addFile(filename: string, content_type: string, bytes: Uint8Array): DiscordAttachment {
    const id = this.#channels.nextId();
    this.#files.set(id, { type: content_type, bytes });
    return {
      id,
      filename,
      content_type,
      size: bytes.byteLength,
      url: `http://127.0.0.1:${this.#port}/ephemeral-attachments/${id}/${filename}`,
    };
  }

  mishap(...mishaps: readonly DiscordMishap[]): void {
    this.#mishaps.push(...mishaps);
  }

  /** What people see in a channel, oldest first. */
  seen(channel: string): readonly SeenMessage[] {
    return this.#channels.list(channel);
  }

  delete(channel: string, message: string): void {
    this.#channels.remove(channel, message);
  }

  isTyping(channel: string): boolean {
    return this.#api.isTyping(channel);
  }

  /** The bot's commands, as its owner registered them. */
  get commands(): readonly unknown[] {
    return this.#api.commands;
  }

  /** What the developer portal does before it stores the address: a PING that is signed, and one that is not. */
  async verifyEndpoint(): Promise<boolean> {
    const body = JSON.stringify(toPing(this.#channels.nextId(), this.application));
    const [right, wrong] = [await this.#send(body), await this.#send(body, makeKeys())];
    const isPong = typeof right.answer === "object" && right.answer !== null && "type" in right.answer && right.answer.type === 1;
    return right.status === 200 && isPong && wrong.status === 401;
  }

  async command({
    channel: id,
    user,
    name,
    options = [],
    attachments = [],
    isAutocomplete = false,
    isUserInstall = false,
  }: Asked): Promise<Interacted> {
    const channel = this.#find(id);
    const opened = this.#open(id, user, isUserInstall);
    const interaction = toCommand({ application: this.application, opened, channel }, { name, options, attachments, isAutocomplete });
    return this.#interact(opened, interaction);
  }

  async press(
    channel: string,
    user: string,
    { message: id, label }: { readonly message: string; readonly label: string },
  ): Promise<Interacted> {
    const message = this.#channels.findMessage(channel, id);
    const button = message?.components.flatMap((row) => row.components).find((each) => each.label === label);
    if (!message || !button) throw new Error(`There is no button "${label}".`);
    const opened = this.#open(channel, user, false);
    opened.original = message.id;
    return this.#interact(
      opened,
      toPress({ application: this.application, opened, channel: this.#find(channel) }, message, button.custom_id),
    );
  }

  #find(id: string): DiscordChannel {
    const channel = this.#channels.find(id);
    if (!channel) throw new Error(`The stand-in has no channel ${id}.`);
    return channel;
  }

  #open(channel: string, user: string, isUserInstall: boolean): Opened {
    const id = this.#channels.nextId();
    const opened: Opened = {
      id,
      token: toToken(id),
      channel,
      user,
      at: this.#now(),
      isUserInstall,
      state: "waiting",
      original: null,
      followUps: 0,
    };
    this.#api.open(opened);
    return opened;
  }

  /** Sent once. An answer that is late or wrong makes the token worthless. */
  async #interact(opened: Opened, interaction: object): Promise<Interacted> {
    const { status, answer } = await this.#send(JSON.stringify(interaction));
    const isTaken = status === 200 && this.#take(opened, answer);
    opened.state = isTaken ? "answered" : "dead";
    return { id: opened.id, token: opened.token, status, answer, isFailed: !isTaken };
  }

  /** https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-interaction-callback-type */
  #take(opened: Opened, answer: unknown): boolean {
    const { type, data = {} } = (answer ?? {}) as {
      readonly type?: number;
      readonly data?: { readonly content?: string; readonly flags?: number };
    };
    if (type === 5 || type === 4) {
      const onlyFor = data.flags === EPHEMERAL ? opened.user : null;
      const said = { author: this.application, content: data.content ?? "", isThinking: type === 5, onlyFor };
      opened.original = this.#channels.post(opened.channel, said).id;
      return type === 5 || data.content !== undefined;
    }
    return type === 6 || (type === 8 && "choices" in data);
  }

  async #send(body: string, { privateKey } = this.keys): Promise<Pick<Interacted, "status" | "answer">> {
    const timestamp = String(Math.floor(this.#now() / 1_000));
    const signature = { "x-signature-ed25519": signDiscord(privateKey, timestamp, body), "x-signature-timestamp": timestamp };
    try {
      const headers = { "content-type": "application/json", "user-agent": "Discord-Interactions/1.0 (+https://discord.com)", ...signature };
      const response = await fetch(this.#url, { method: "POST", body, headers, signal: this.#deadline() });
      const text = await response.text();
      return { status: response.status, answer: response.headers.get("content-type")?.includes("json") ? parseJson(text) : undefined };
    } catch {
      return { status: null, answer: undefined };
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { method = "", url = "", headers } = request;
    const file = this.#files.get(/^\/ephemeral-attachments\/(\d+)\//.exec(url)?.[1] ?? "");
    if (file) return void response.writeHead(200, { "content-type": file.type }).end(file.bytes);
    const call = { method, path: url.replace("/api/v10", ""), body: parseJson(Buffer.concat(pieces).toString("utf8")), headers };
    this.calls.push(call);
    const mishap = this.#mishaps.shift();
    if (mishap?.type === "hang") return;
    if (mishap && mishap.type !== "lose_answer") return this.#write(response, toMishapAnswer(mishap));
    const answer = this.#api.call({ ...call, authorization: headers.authorization });
    if (mishap?.type === "lose_answer") return void response.destroy();
    this.#write(response, answer);
  }

  #write(response: ServerResponse, { status, body, headers = {} }: ApiAnswer & { readonly text?: string }): void {
    const date = new Date(this.#now()).toUTCString();
    if (body === undefined) return void response.writeHead(status, { date, ...headers }).end();
    response.writeHead(status, { date, "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  }
}

export const startDiscord = (options: DiscordOptions = {}): Promise<DiscordStandIn> => new DiscordStandIn(options).listen();

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
