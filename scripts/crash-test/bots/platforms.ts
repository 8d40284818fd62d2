/** The stand-ins of the platforms, each with its chats, its failures and its way to sign. They outlive the server. */
import { createHmac, randomBytes } from "node:crypto";
import { startChatPlatform, type TakenReply } from "../../../test/support/stand-in/chat-platform.ts";
import { signSlack } from "../../../test/support/stand-in/slack/deliver.ts";
import { type SlackMishap, startSlack } from "../../../test/support/stand-in/slack/slack.ts";
import { type TelegramMishap, TelegramStandIn } from "../../../test/support/stand-in/telegram/telegram.ts";
import { startWhatsApp, type WhatsAppMishap } from "../../../test/support/stand-in/whatsapp/whatsapp.ts";
import type { Failure, PlatformName } from "./plan.ts";
import type { Posted } from "./post-box.ts";

export interface Platform {
  readonly name: PlatformName;
  /** The channel's credentials. */
  readonly credentials: object;
  /** How long it waits for the answer to a webhook. */
  readonly deadlineMs: number;
  say(chat: number, text: string): Promise<void>;
  /** What is visible of the bot in a chat, oldest first. */
  show(chat: number): Promise<readonly string[]>;
  /** Happens to the next call. */
  fail(failure: Failure): Promise<void>;
  sign(posted: Posted, attempt: number): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export interface Scenery {
  /** Where a platform sends its webhooks. */
  readonly hook: (name: PlatformName) => string;
  readonly chats: number;
}

const numbers = (chats: number): readonly number[] => Array.from({ length: chats }, (_, index) => index + 1);
const asSent = ({ headers }: Posted) => headers;

const TELEGRAM: Readonly<Record<Failure, TelegramMishap>> = {
  limit: { type: "refuse", status: 429, description: "Too Many Requests: retry after 1", parameters: { retry_after: 1 } },
  refuse: { type: "gateway", status: 502 },
  gateway: { type: "gateway", status: 504 },
  lose_answer: { type: "lose_answer" },
  hang: { type: "hang" },
};

async function openTelegram({ hook, chats }: Scenery): Promise<Platform> {
  const telegram = await new TelegramStandIn().listen();
  const people = new Map(numbers(chats).map((chat) => [chat, telegram.addPerson(`Person ${chat}`)]));
  const secret = randomBytes(24).toString("hex");
  telegram.updates.hook = { url: hook("telegram"), secret };
  const find = (chat: number) => {
    const person = people.get(chat);
    if (!person) throw new Error(`Telegram has no chat ${chat}.`);
    return person;
  };
  return {
    name: "telegram",
    credentials: { bot_token: telegram.token, secret_token: secret, bot_username: telegram.bot.username, api_url: telegram.url },
    deadlineMs: 20_000,
    say: async (chat, text) => void telegram.say({ from: find(chat), text }),
    show: async (chat) =>
      telegram
        .seen(find(chat))
        .filter(({ from }) => from.is_bot)
        .map(({ text }) => text),
    fail: async (failure) => telegram.mishap(TELEGRAM[failure]),
    sign: asSent,
    close: () => telegram.close(),
  };
}

const SLACK: Readonly<Record<Failure, SlackMishap>> = {
  limit: { type: "limit", seconds: 1 },
  refuse: { type: "error", error: "service_unavailable", status: 503 },
  gateway: { type: "error", error: "fatal_error", isDone: true },
  lose_answer: { type: "lose_answer" },
  hang: { type: "hang" },
};

/** More edits than Slack lets a workspace have, which would make the run take an hour. */
const SLACK_RATES = { burst: 5, updates_per_minute: 600 };

async function openSlack({ hook, chats }: Scenery): Promise<Platform> {
  const slack = await startSlack({ url: hook("slack"), rates: SLACK_RATES });
  const toChannel = (chat: number): string => `D${chat}`;
  for (const chat of numbers(chats)) slack.addChannel({ id: toChannel(chat) });
  return {
    name: "slack",
    credentials: { signing_secret: slack.signingSecret, bot_token: slack.token, bot_user_id: slack.bot, api_url: slack.apiUrl },
    deadlineMs: 3_000,
    say: async (chat, text) => void (await slack.say({ channel: toChannel(chat), user: `U1${chat}`, text })),
    show: async (chat) =>
      slack
        .seen(toChannel(chat))
        .filter(({ user }) => user === slack.bot)
        .map(({ text }) => text),
    fail: async (failure) => slack.mishap(SLACK[failure]),
    sign: ({ body, headers }, attempt) => {
      const timestamp = String(Math.floor(Date.now() / 1_000));
      const repeated = attempt === 0 ? {} : { "x-slack-retry-num": String(attempt), "x-slack-retry-reason": "http_error" };
      const signature = signSlack(slack.signingSecret, timestamp, body);
      return { ...headers, ...repeated, "x-slack-request-timestamp": timestamp, "x-slack-signature": signature };
    },
    close: () => slack.close(),
  };
}

const WHATSAPP: Readonly<Record<Failure, WhatsAppMishap>> = {
  limit: { type: "error", code: 131_056, status: 400 },
  refuse: { type: "error", code: 2, status: 503 },
  gateway: { type: "page", status: 502 },
  lose_answer: { type: "lose_answer" },
  hang: { type: "hang" },
};

async function openWhatsApp({ hook }: Scenery): Promise<Platform> {
  const whatsapp = await startWhatsApp({ url: hook("whatsapp") });
  const toNumber = (chat: number): string => `4915100${String(chat).padStart(5, "0")}`;
  return {
    name: "whatsapp",
    credentials: {
      app_secret: whatsapp.appSecret,
      access_token: whatsapp.accessToken,
      verify_token: whatsapp.verifyToken,
      phone_number_id: whatsapp.phoneNumberId,
      api_url: whatsapp.apiUrl,
    },
    deadlineMs: 10_000,
    say: async (chat, text) => void (await whatsapp.say(toNumber(chat), text)),
    show: async (chat) => whatsapp.seen(toNumber(chat)).map(({ text }) => text),
    fail: async (failure) => whatsapp.mishap(WHATSAPP[failure]),
    sign: asSent,
    close: () => whatsapp.close(),
  };
}

const GENERIC: Readonly<Record<Failure, object>> = {
  limit: { status: 429, headers: { "retry-after": "1" } },
  refuse: { status: 503 },
  gateway: { status: 502 },
  lose_answer: { lost: true },
  hang: { ignored: true },
};

/** A system of one's own, which recognises a reply that is sent again by its operation. */
async function openGeneric({ hook }: Scenery): Promise<Platform> {
  const platform = await startChatPlatform();
  const room = `${platform.url}/bots`;
  const key = randomBytes(32);
  const post = (url: string, body: unknown) => fetch(url, { method: "POST", body: JSON.stringify(body) });
  let messages = 0;
  return {
    name: "generic",
    credentials: { signature: "standard_webhooks", secret: `whsec_${key.toString("base64")}`, reply_url: room },
    deadlineMs: 10_000,
    say: async (chat, text) => {
      const id = `g${++messages}`;
      const user = { id: `person-${chat}`, language: "en" };
      await post(hook("generic"), { id, conversation: `chat-${chat}`, user, message: { id, text } });
    },
    show: async (chat) => {
      const taken = (await (await fetch(`${room}/log`)).json()) as readonly TakenReply[];
      const own = taken.filter(({ conversation }) => conversation === `chat-${chat}`);
      return [...new Map(own.map(({ operation, text }) => [operation, text])).values()];
    },
    fail: async (failure) => void (await post(`${room}/script`, [GENERIC[failure]])),
    sign: ({ body, headers }) => {
      const [id, timestamp] = [`msg_${createHmac("sha256", key).update(body).digest("hex")}`, String(Math.floor(Date.now() / 1_000))];
      const signature = `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
      return { ...headers, "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
    },
    close: () => platform.close(),
  };
}

export const openPlatforms = (scenery: Scenery): Promise<readonly Platform[]> =>
  Promise.all([openTelegram(scenery), openSlack(scenery), openWhatsApp(scenery), openGeneric(scenery)]);
