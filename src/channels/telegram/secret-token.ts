/** The header that Telegram sends with each update: https://core.telegram.org/bots/api#setwebhook */
import type { Verification, WebhookRequest } from "../../app/channels/channel";
import { isSameText } from "../../lib/same-text";
import { sha256 } from "../../lib/sha256";

/** Digests have one length, so that the comparison tells nothing of the secret. A header that is sent twice is joined by a comma, and wrong. */
export async function verifySecretToken({ headers }: WebhookRequest, secret: string): Promise<Verification> {
  const sent = headers.get("x-telegram-bot-api-secret-token");
  if (sent === null) return "unsigned";
  return isSameText(await sha256(sent), await sha256(secret)) ? "verified" : "wrong";
}
