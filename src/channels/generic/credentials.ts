/** What a tenant enters for a generic channel: how its system signs, and where replies go. */
import { z } from "zod";
import { fromBase64 } from "../../lib/base64";

/** The bounds of https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme */
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;
const PREFIX = "whsec_";

/** The key in a secret of Standard Webhooks. Null: it is none. */
export function readWebhookKey(secret: string): Uint8Array<ArrayBuffer> | null {
  const bytes = secret.startsWith(PREFIX) ? fromBase64(secret.slice(PREFIX.length)) : null;
  return bytes && bytes.length >= MIN_KEY_BYTES && bytes.length <= MAX_KEY_BYTES ? bytes : null;
}

const WEBHOOK_SECRET = `${PREFIX} and ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes in base64`;
const webhookSecret = z.string().refine((secret) => readWebhookKey(secret) !== null, WEBHOOK_SECRET);
const MAX_URL = 2_048;
const replyUrl = z.url({ protocol: /^https?$/, error: "must be an https URL" }).max(MAX_URL);

export const genericCredentials = z.discriminatedUnion("signature", [
  z.strictObject({
    signature: z.literal("standard_webhooks"),
    secret: webhookSecret,
    reply_url: replyUrl,
    /** Absent: `secret` signs replies, too. */
    reply_secret: webhookSecret.optional(),
  }),
  z.strictObject({
    signature: z.literal("github"),
    secret: z.string().regex(/^[\x20-\x7e]{16,256}$/, "16 to 256 visible ASCII characters and spaces"),
    reply_url: replyUrl,
    reply_secret: webhookSecret,
  }),
]);
export type GenericCredentials = z.infer<typeof genericCredentials>;
