/** Slack's Web API as far as bots use it: https://docs.slack.dev/reference/methods */
import { checkMessage } from "./block-check.ts";
import type { Conversations, SeenMessage } from "./conversations.ts";

export interface ApiAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the call did, of which Slack sends an event too. */
  readonly did?: { readonly type: "posted" | "changed"; readonly channel: string; readonly message: SeenMessage };
}

export interface SlackRates {
  /** How many messages a channel takes at once. It then takes one a second. */
  readonly burst: number;
  /** chat.update, for the whole workspace. */
  readonly updates_per_minute: number;
}

interface Workspace {
  readonly token: string;
  readonly bot: string;
  readonly rates: SlackRates;
  readonly conversations: Conversations;
  readonly now: () => number;
}

type Fields = Readonly<Record<string, unknown>>;

const POST_BYTES = 40_000;
const UPDATE_BYTES = 4_000;
const TS = /^\d+\.\d{6}$/;
const STATUS_MS = 120_000;

const fail = (error: string, more: Fields = {}): ApiAnswer => ({ status: 200, body: { ok: false, error, ...more } });

export class WebApi {
  readonly #workspace: Workspace;
  readonly #buckets = new Map<string, { room: number; at: number }>();
  readonly #statuses = new Map<string, { readonly status: string; readonly until: number }>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Null: the bot shows no status there. */
  findStatus(channel: string, thread: string): string | null {
    const shown = this.#statuses.get(`${channel}:${thread}`);
    return shown && shown.until > this.#workspace.now() ? shown.status : null;
  }

  call(method: string, authorization: string | undefined, body: unknown): ApiAnswer {
    if (!authorization) return fail("not_authed");
    if (authorization !== `Bearer ${this.#workspace.token}`) return fail("invalid_auth");
    if (typeof body !== "object" || body === null) return fail("invalid_json");
    const fields = body as Fields;
    switch (method) {
      case "auth.test":
        return { status: 200, body: { ok: true, user_id: this.#workspace.bot, user: "longhand", team: "Stand-in", team_id: "T0STANDIN" } };
      case "chat.postMessage":
        return this.#post(fields);
      case "chat.update":
        return this.#update(fields);
      case "assistant.threads.setStatus":
        return this.#setStatus(fields);
      default:
        return fail("unknown_method");
    }
  }

  #post(fields: Fields): ApiAnswer {
    const { channel, thread_ts } = fields;
    const refused = this.#checkChannel(channel);
    if (refused || typeof channel !== "string") return refused ?? fail("channel_not_found");
    if (thread_ts !== undefined && !(typeof thread_ts === "string" && TS.test(thread_ts))) return fail("invalid_thread_ts");
    const checked = checkMessage(fields, POST_BYTES);
    if (!checked.ok) return fail(checked.error, { response_metadata: { messages: checked.messages } });
    const wait = this.#take(`post:${channel}`, this.#workspace.rates.burst, 1);
    if (wait > 0) return toLimited(wait);
    const { conversations, bot } = this.#workspace;
    const thread = thread_ts ?? null;
    const message = conversations.post({ channel, thread_ts: thread, user: bot, text: checked.text, blocks: checked.blocks });
    if (thread) this.#statuses.delete(`${channel}:${thread}`);
    return { status: 200, body: { ok: true, channel, ts: message.ts, message }, did: { type: "posted", channel, message } };
  }

  #update(fields: Fields): ApiAnswer {
    const { channel, ts } = fields;
    const refused = this.#checkChannel(channel);
    if (refused || typeof channel !== "string") return refused ?? fail("channel_not_found");
    const message = this.#workspace.conversations.findMessage(channel, String(ts));
    if (!message) return fail("message_not_found");
    if (message.user !== this.#workspace.bot) return fail("cant_update_message");
    const checked = checkMessage(fields, UPDATE_BYTES);
    if (!checked.ok) return fail(checked.error, { response_metadata: { messages: checked.messages } });
    const perMinute = this.#workspace.rates.updates_per_minute;
    const wait = this.#take("update", perMinute, perMinute / 60);
    if (wait > 0) return toLimited(wait);
    this.#workspace.conversations.change(message, checked);
    return { status: 200, body: { ok: true, channel, ts, text: checked.text }, did: { type: "changed", channel, message } };
  }

  #setStatus({ channel_id: channel, thread_ts, status }: Fields): ApiAnswer {
    const refused = this.#checkChannel(channel);
    if (refused) return refused;
    if (typeof thread_ts !== "string" || !TS.test(thread_ts)) return fail("invalid_thread_ts");
    if (typeof status !== "string") return fail("invalid_arguments");
    this.#statuses.set(`${channel}:${thread_ts}`, { status, until: this.#workspace.now() + STATUS_MS });
    return { status: 200, body: { ok: true } };
  }

  #checkChannel(id: unknown): ApiAnswer | null {
    const channel = this.#workspace.conversations.find(String(id));
    if (!channel) return fail("channel_not_found");
    if (channel.isArchived) return fail("is_archived");
    return channel.hasBot ? null : fail("not_in_channel");
  }

  /** Milliseconds until there is room. 0: it was taken. */
  #take(name: string, most: number, perSecond: number): number {
    const now = this.#workspace.now();
    const bucket = this.#buckets.get(name) ?? { room: most, at: now };
    const room = Math.min(most, bucket.room + ((now - bucket.at) / 1_000) * perSecond);
    const isRoom = room >= 1;
    this.#buckets.set(name, { room: isRoom ? room - 1 : room, at: now });
    return isRoom ? 0 : ((1 - room) / perSecond) * 1_000;
  }
}

function toLimited(wait: number): ApiAnswer {
  return { status: 429, headers: { "retry-after": String(Math.ceil(wait / 1_000)) }, body: { ok: false, error: "ratelimited" } };
}
