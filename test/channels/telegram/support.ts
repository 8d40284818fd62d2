/** Requests and credentials for tests of the adapter. */
import type { WebhookRequest } from "../../../src/app/channels/channel";
import { telegram } from "../../../src/channels/telegram/telegram";

export const CREDENTIALS = telegram.credentials.parse({
  bot_token: "123456:stand-in",
  secret_token: "a-secret_of-16-or-more",
  bot_username: "Longhand_bot",
});

export function toRequest(body: string, headers: Headers = new Headers()): WebhookRequest {
  return { method: "POST", url: new URL("https://chat.example/hook"), headers, body: Uint8Array.from(new TextEncoder().encode(body)) };
}

export const parse = (update: unknown) => telegram.parse(toRequest(JSON.stringify(update)), CREDENTIALS);
