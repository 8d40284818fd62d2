/** Slack's signature of a request: https://docs.slack.dev/authentication/verifying-requests-from-slack */
import type { Verification, WebhookRequest } from "../../app/channels/channel";
import { signHex } from "../../lib/hmac";
import { isSameText } from "../../lib/same-text";

/** Slack's documents advise five minutes. */
const WINDOW_S = 300;
const SIGNATURE = /^v0=[0-9a-f]{64}$/;
/** Also the form that a header sent twice does not have: the two values are joined by a comma. */
const TIMESTAMP = /^\d{1,12}$/;

/** A request without a signature is `unsigned`. One whose headers are repeated or malformed is `wrong`. */
export async function verifySlack(request: WebhookRequest, secret: string, now: number): Promise<Verification> {
  const signature = request.headers.get("x-slack-signature");
  const timestamp = request.headers.get("x-slack-request-timestamp");
  if (signature === null) return "unsigned";
  if (timestamp === null || !SIGNATURE.test(signature) || !TIMESTAMP.test(timestamp)) return "wrong";
  if (!isSameText(`v0=${await signBody(secret, timestamp, request.body)}`, signature)) return "wrong";
  return Math.abs(now / 1_000 - Number(timestamp)) > WINDOW_S ? "expired" : "verified";
}

async function signBody(secret: string, timestamp: string, body: Uint8Array): Promise<string> {
  const prefix = new TextEncoder().encode(`v0:${timestamp}:`);
  const signed = new Uint8Array(prefix.byteLength + body.byteLength);
  signed.set(prefix);
  signed.set(body, prefix.byteLength);
  return signHex(secret, signed);
}
