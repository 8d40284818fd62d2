/** Discord's HTTP API as far as bots of this kind use it: https://docs.discord.com/developers/resources/message and /resources/webhook */
import { type Channels, findMentions, type SeenMessage } from "./channels.ts";
import type { Opened } from "./interactions.ts";
import { type CheckedContent, checkMessage, type DiscordError } from "./message-check.ts";
import { type DiscordRates, RateLimits, toLimited } from "./rate-limits.ts";

export interface ApiAnswer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

interface Platform {
  readonly application: string;
  readonly token: string;
  readonly rates: DiscordRates;
  readonly channels: Channels;
  readonly now: () => number;
}

const TOKEN_MS = 15 * 60_000;
const NONCE_MS = 5 * 60_000;
const TYPING_MS = 10_000;
const MOST_FOLLOW_UPS = 5;

const fail = (status: number, error: DiscordError): ApiAnswer => ({ status, body: error });
const UNKNOWN_CHANNEL: DiscordError = { code: 10_003, message: "Unknown Channel" };
const UNKNOWN_MESSAGE: DiscordError = { code: 10_008, message: "Unknown Message" };
const UNKNOWN_WEBHOOK: DiscordError = { code: 10_015, message: "Unknown Webhook" };
const INVALID_TOKEN: DiscordError = { code: 50_027, message: "Invalid Webhook Token" };

export class RestApi {
  readonly #platform: Platform;
  readonly #limits: RateLimits;
  readonly #opened = new Map<string, Opened>();
  readonly #nonces = new Map<string, { readonly message: SeenMessage; readonly until: number }>();
  readonly #typing = new Map<string, number>();
  readonly commands: unknown[] = [];

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#limits = new RateLimits(platform.rates, platform.now);
  }

  open(opened: Opened): void {
    this.#opened.set(opened.token, opened);
  }

  isTyping(channel: string): boolean {
    return (this.#typing.get(channel) ?? 0) > this.#platform.now();
  }

  call(call: ApiCall): ApiAnswer {
    const [, kind = "", id = "", ...rest] = call.path.split("/").map(decodeURIComponent);
    const limit = this.#limits.take(`${call.method}:${kind}:${id}${kind === "webhooks" ? rest[0] : ""}:${rest.length}`);
    if (limit.wait_ms > 0) return toLimited(limit.wait_ms / 1_000, false, limit.headers);
    const answer = this.#route({ ...call, kind, id, rest });
    return { ...answer, headers: { ...limit.headers, ...answer.headers } };
  }

  #route(call: ApiCall & { readonly kind: string; readonly id: string; readonly rest: readonly string[] }): ApiAnswer {
    const { kind, id, rest, method, body } = call;
    const [first = "", second = ""] = rest;
    if (kind === "webhooks") return this.#callWebhook({ method, body, application: id, token: first, message: rest[2] });
    if (call.authorization !== `Bot ${this.#platform.token}`) return fail(401, { code: 0, message: "401: Unauthorized" });
    if (kind === "users" && id === "@me") return { status: 200, body: { id: this.#platform.application, username: "longhand", bot: true } };
    if (kind === "applications" && method === "PUT" && first === "commands") return this.#putCommands(body);
    if (kind !== "channels") return fail(404, { code: 0, message: "404: Not Found" });
    return this.#checkChannel(id) ?? this.#callChannel({ method, body, channel: id, what: first, message: second });
  }

  #putCommands(body: unknown): ApiAnswer {
    if (!Array.isArray(body)) return fail(400, { code: 50_035, message: "Invalid Form Body" });
    this.commands.splice(0, this.commands.length, ...body);
    return { status: 200, body };
  }

  #checkChannel(id: string): ApiAnswer | null {
    const channel = this.#platform.channels.find(id);
    if (!channel) return fail(404, UNKNOWN_CHANNEL);
    if (!channel.hasBot) return fail(403, { code: 50_001, message: "Missing Access" });
    return channel.maySend ? null : fail(403, { code: 50_013, message: "Missing Permissions" });
  }

  #callChannel({
    method,
    body,
    channel,
    what,
    message,
  }: Record<"method" | "channel" | "what" | "message", string> & { readonly body: unknown }): ApiAnswer {
    if (method === "POST" && what === "typing") {
      this.#typing.set(channel, this.#platform.now() + TYPING_MS);
      return { status: 204 };
    }
    if (what !== "messages") return fail(404, { code: 0, message: "404: Not Found" });
    const checked = checkMessage(body);
    if (!checked.ok) return fail(400, checked.error);
    return method === "POST" ? this.#create(channel, checked.value) : this.#edit({ channel, id: message, value: checked.value });
  }

  /** A nonce that the bot used in the last minutes names the message that was created with it. */
  #create(channel: string, value: CheckedContent): ApiAnswer {
    const { application, channels, now } = this.#platform;
    const known = value.enforce_nonce ? this.#nonces.get(String(value.nonce)) : undefined;
    if (known && known.until > now()) return { status: 200, body: show(channel, known.message) };
    const { content, components } = value;
    const message = channels.post(channel, { author: application, content, components, mentions: findMentions(value) });
    if (value.nonce !== undefined) this.#nonces.set(String(value.nonce), { message, until: now() + NONCE_MS });
    this.#typing.delete(channel);
    return { status: 200, body: show(channel, message) };
  }

  #edit({ channel, id, value }: { readonly channel: string; readonly id: string; readonly value: CheckedContent }): ApiAnswer {
    const { channels, application } = this.#platform;
    const message = channels.findMessage(channel, id);
    if (!message) return fail(404, UNKNOWN_MESSAGE);
    if (message.author !== application) return fail(403, { code: 50_005, message: "Cannot edit a message authored by another user" });
    channels.change(message, value);
    return { status: 200, body: show(channel, message) };
  }

  /** A token becomes valid with the answer to its interaction. */
  #findToken(token: string, application: string): Opened | ApiAnswer {
    const opened = this.#opened.get(token);
    if (!opened || application !== this.#platform.application) return fail(404, UNKNOWN_WEBHOOK);
    if (this.#platform.now() >= opened.at + TOKEN_MS) return fail(401, INVALID_TOKEN);
    return opened.state === "answered" ? opened : fail(404, UNKNOWN_WEBHOOK);
  }

  #removeOriginal({ channel, original }: Opened, message: string | undefined): ApiAnswer {
    const { channels } = this.#platform;
    if (message !== "@original" || original === null || !channels.findMessage(channel, original)) return fail(404, UNKNOWN_MESSAGE);
    channels.remove(channel, original);
    return { status: 204 };
  }

  #callWebhook(call: {
    readonly method: string;
    readonly body: unknown;
    readonly application: string;
    readonly token: string;
    readonly message: string | undefined;
  }): ApiAnswer {
    const opened = this.#findToken(call.token, call.application);
    if ("status" in opened) return opened;
    if (call.method === "DELETE") return this.#removeOriginal(opened, call.message);
    const { channel } = opened;
    const original = this.#platform.channels.findMessage(channel, opened.original ?? "");
    const checked = checkMessage(call.body);
    if (!checked.ok) return fail(400, checked.error);
    // Discord documents this as deprecated: a follow-up fills the message that says that the bot is thinking.
    const isFilling = call.method === "POST" && original?.isThinking;
    if (call.method === "PATCH" || isFilling) {
      const id = isFilling || call.message === "@original" ? (opened.original ?? "") : (call.message ?? "");
      return this.#edit({ channel, id, value: checked.value });
    }
    if (opened.isUserInstall && ++opened.followUps > MOST_FOLLOW_UPS)
      return fail(400, { code: 40_094, message: "This interaction has reached the maximum number of follow up messages" });
    return this.#create(channel, { ...checked.value, nonce: undefined, enforce_nonce: false });
  }
}

function show(channel: string, { id, author, content, components }: SeenMessage): object {
  return { id, channel_id: channel, content, components, author: { id: author, bot: true }, type: 0, mentions: [], embeds: [], flags: 4 };
}
