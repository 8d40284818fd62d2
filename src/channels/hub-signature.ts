/**
 * `X-Hub-Signature-256`, as Meta (https://developers.facebook.com/docs/graph-api/webhooks/getting-started) and GitHub
 * (https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries) sign a body. No time is signed, so that no request is `expired`.
 */
import type { Verification, WebhookRequest } from "../app/channels/channel";
import { signHex } from "../lib/hmac";
import { isSameText } from "../lib/same-text";

/** Also refuses a header that was sent twice: the two values are joined by a comma. */
const SIGNATURE = /^sha256=[0-9a-f]{64}$/i;

export async function verifyHubSignature({ headers, body }: WebhookRequest, secret: string): Promise<Verification> {
  const signature = headers.get("x-hub-signature-256");
  if (!signature) return "unsigned";
  if (!SIGNATURE.test(signature)) return "wrong";
  return isSameText(`sha256=${await signHex(secret, body)}`, signature.toLowerCase()) ? "verified" : "wrong";
}
