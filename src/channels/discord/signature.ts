/** Discord's signature of a request: https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint */
import type { Verification, WebhookRequest } from "../../app/channels/channel";

/** Discord names no window. It sends an interaction once and waits for 3 s, so that five minutes are for clocks that differ. */
const WINDOW_S = 300;
const SIGNATURE = /^[0-9a-f]{128}$/i;
/** Also the form that a header sent twice does not have: the two values are joined by a comma. */
const TIMESTAMP = /^\d{1,12}$/;

/** A request without a signature is `unsigned`. One whose headers are repeated or malformed is `wrong`. */
export async function verifyDiscord(request: WebhookRequest, publicKey: string, now: number): Promise<Verification> {
  const signature = request.headers.get("x-signature-ed25519");
  const timestamp = request.headers.get("x-signature-timestamp");
  if (signature === null) return "unsigned";
  if (timestamp === null || !SIGNATURE.test(signature) || !TIMESTAMP.test(timestamp)) return "wrong";
  if (!(await isSigned({ publicKey, signature, timestamp, body: request.body }))) return "wrong";
  return Math.abs(now / 1_000 - Number(timestamp)) > WINDOW_S ? "expired" : "verified";
}

interface Signed {
  readonly publicKey: string;
  readonly signature: string;
  readonly timestamp: string;
  readonly body: Uint8Array;
}

/** False also for a key that is no point of the curve, which some runtimes refuse to import. */
async function isSigned({ publicKey, signature, timestamp, body }: Signed): Promise<boolean> {
  const prefix = new TextEncoder().encode(timestamp);
  const signed = new Uint8Array(prefix.byteLength + body.byteLength);
  signed.set(prefix);
  signed.set(body, prefix.byteLength);
  try {
    const key = await crypto.subtle.importKey("raw", fromHex(publicKey), { name: "Ed25519" }, false, ["verify"]);
    return await crypto.subtle.verify({ name: "Ed25519" }, key, fromHex(signature), signed);
  } catch {
    return false;
  }
}

const fromHex = (digits: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: digits.length / 2 }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16));
