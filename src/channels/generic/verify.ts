/**
 * Verifies inbound signatures: Standard Webhooks (https://www.standardwebhooks.com), where the platform's HMAC compares in constant time, or
 * GitHub's.
 */
import type { Verification, WebhookRequest } from "../../app/channels/channel";
import { fromBase64 } from "../../lib/base64";
import { verifyHubSignature } from "../hub-signature";
import { type GenericCredentials, readWebhookKey } from "./credentials";

/** Standard Webhooks: a request that is older, or further in the future, is refused. */
const TOLERANCE_S = 300;
/** Signatures that are compared. A sender that rotates its secret sends two. */
const MAX_SIGNATURES = 8;

const utf8 = new TextEncoder();

const importKey = (bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);

function joinBytes(head: string, body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const start = utf8.encode(head);
  const joined = new Uint8Array(start.length + body.length);
  joined.set(start);
  joined.set(body, start.length);
  return joined;
}

/** The id and the time are parts of what is signed, between full stops: an id with one could be read in two ways. */
const WEBHOOK_ID = /^[\x21-\x2d\x2f-\x7e]{1,256}$/;
const TIMESTAMP = /^\d{1,12}$/;
/** A header that was sent twice has its values joined so. Spaces alone stand between the signatures of one header. */
const JOINED = /,\s/;

interface SignedHeaders {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
}

export function readSignedHeaders(headers: Headers): SignedHeaders | "unsigned" | "wrong" {
  const [id, timestamp, signature] = [headers.get("webhook-id"), headers.get("webhook-timestamp"), headers.get("webhook-signature")];
  if (!id || !timestamp || !signature) return "unsigned";
  return WEBHOOK_ID.test(id) && TIMESTAMP.test(timestamp) && !JOINED.test(signature) ? { id, timestamp, signature } : "wrong";
}

/** Signatures of versions that are not known are passed over, as the specification asks. */
const readSignatures = (header: string): readonly Uint8Array<ArrayBuffer>[] =>
  header
    .split(" ")
    .slice(0, MAX_SIGNATURES)
    .flatMap((each) => (each.startsWith("v1,") ? (fromBase64(each.slice("v1,".length)) ?? []) : []));

async function verifyStandard({ headers, body }: WebhookRequest, secret: string, now: number): Promise<Verification> {
  const signed = readSignedHeaders(headers);
  if (typeof signed === "string") return signed;
  const bytes = readWebhookKey(secret);
  if (!bytes) return "wrong";
  const key = await importKey(bytes);
  const content = joinBytes(`${signed.id}.${signed.timestamp}.`, body);
  const checks = readSignatures(signed.signature).map((signature) => crypto.subtle.verify("HMAC", key, signature, content));
  if (!(await Promise.all(checks)).includes(true)) return "wrong";
  return Math.abs(Math.floor(now / 1_000) - Number(signed.timestamp)) > TOLERANCE_S ? "expired" : "verified";
}

export const verifyGeneric = (request: WebhookRequest, { signature, secret }: GenericCredentials, now: number): Promise<Verification> =>
  signature === "github" ? verifyHubSignature(request, secret) : verifyStandard(request, secret, now);
