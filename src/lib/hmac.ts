/** HMAC with SHA-256, as chat platforms sign the bodies of their requests. */
import { toHex } from "./hex";

/** Hexadecimal, in lower case. */
export async function signHex(secret: string, signed: Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", key, signed)));
}
