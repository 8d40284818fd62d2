/** Meta's signature and check of an address: https://developers.facebook.com/docs/graph-api/webhooks/getting-started */
import type { Verification, WebhookRequest } from "../../app/channels/channel";
import { isSameText } from "../../lib/same-text";
import { verifyHubSignature } from "../hub-signature";
import type { WhatsAppCredentials } from "./credentials";

/** A GET is Meta's check of the address, which shows the token that the tenant chose. */
export async function verifyWhatsApp(request: WebhookRequest, credentials: WhatsAppCredentials): Promise<Verification> {
  if (request.method === "GET") return verifyToken(request.url, credentials.verify_token);
  return verifyHubSignature(request, credentials.app_secret);
}

function verifyToken({ searchParams }: URL, expected: string): Verification {
  const [token, ...more] = searchParams.getAll("hub.verify_token");
  if (token === undefined) return "unsigned";
  return more.length === 0 && isSameText(token, expected) ? "verified" : "wrong";
}
