import { createHmac } from "node:crypto";
import type { Delivery, ParsedWebhook, WebhookRequest } from "../../../src/app/channels/channel";
import { type SlackCredentials, slackCredentials } from "../../../src/channels/slack/credentials";
import { slack } from "../../../src/channels/slack/slack";

export const NOW = Date.UTC(2026, 10, 24, 12);
export const BOT = "U0BOT";
export const credentials: SlackCredentials = slackCredentials.parse({ signing_secret: "secret", bot_token: "xoxb-1", bot_user_id: BOT });

interface Posted {
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const bytes = (body: string | Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(typeof body === "string" ? Buffer.from(body) : body);

export function post(body: string | Uint8Array, { type = "application/json", headers = {} }: Posted = {}): WebhookRequest {
  const url = new URL("https://chat.example/webhook");
  return { method: "POST", url, headers: new Headers({ "content-type": type, ...headers }), body: bytes(body) };
}

export const sign = (secret: string, timestamp: string, body: string): string =>
  `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex")}`;

export function callback(event: object, more: object = {}): string {
  return JSON.stringify({ type: "event_callback", event_id: "Ev1", event_time: 1, event, ...more });
}

export const form = (fields: Readonly<Record<string, string>>): WebhookRequest =>
  post(new URLSearchParams(fields).toString(), {
    type: "application/x-www-form-urlencoded",
    headers: { "x-slack-request-timestamp": "1764000000" },
  });

export const parse = (request: WebhookRequest): ParsedWebhook => slack.parse(request, credentials);

/** The one delivery of an event. */
export function read(event: object, more: object = {}): Delivery {
  return onlyDelivery(parse(post(callback(event, more))));
}

export function onlyDelivery(parsed: ParsedWebhook): Delivery {
  const [delivery, ...rest] = parsed.kind === "deliveries" ? parsed.deliveries : [];
  if (!delivery || rest.length > 0) throw new Error(`This is not one delivery: ${JSON.stringify(parsed)}`);
  return delivery;
}
