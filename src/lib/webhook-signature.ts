/** Signatures of webhooks as Standard Webhooks 1.0.0 has them. */
import { fromBase64, toBase64 } from "./base64";

const SECRET_PREFIX = "whsec_";
/** The specification asks for 24 to 64. */
const SECRET_BYTES = 32;

export const generateWebhookSecret = (): string => `${SECRET_PREFIX}${toBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))}`;

interface Signed {
  readonly id: string;
  /** Seconds. */
  readonly timestamp: number;
  readonly body: string;
}

async function signOnce({ id, timestamp, body }: Signed, secret: string): Promise<string> {
  const bytes = fromBase64(secret.slice(SECRET_PREFIX.length));
  if (!bytes) throw new TypeError("A stored secret is malformed");
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${id}.${timestamp}.${body}`));
  return `v1,${toBase64(new Uint8Array(signature))}`;
}

/** The header `webhook-signature`: one signature for each secret. A receiver accepts any of them. */
export async function signWebhook(signed: Signed, secrets: readonly string[]): Promise<string> {
  return (await Promise.all(secrets.map((secret) => signOnce(signed, secret)))).join(" ");
}
