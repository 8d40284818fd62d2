/** Meta's signature and check of an address: https://developers.facebook.com/docs/graph-api/webhooks/getting-started */
import type { Verification, WebhookRequest } from "../../app/channels/channel";
import { signHex } from "../../lib/hmac";
import { isSameText } from "../../lib/same-text";
import type { WhatsAppCredentials } from "./credentials";

/** Also refuses a header that was sent twice: the two values are joined by a comma. */
const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

/** A GET is Meta's check of the address, which shows the token that the tenant chose. Meta signs no time, so that no request is `expired`. */
export async function verifyWhatsApp(request: WebhookRequest, credentials: WhatsAppCredentials): Promise<Verification> {
  if (request.method === "GET") return verifyToken(request.url, credentials.verify_token);
  const signature = request.headers.get("x-hub-signature-256");
  if (signature === null) return "unsigned";
  if (!SIGNATURE.test(signature)) return "wrong";
  return isSameText(`sha256=${await signHex(credentials.app_secret, request.body)}`, signature) ? "verified" : "wrong";
}

function verifyToken({ searchParams }: URL, expected: string): Verification {
  const [token, ...more] = searchParams.getAll("hub.verify_token");
  if (token === undefined) return "unsigned";
  return more.length === 0 && isSameText(token, expected) ? "verified" : "wrong";
}
