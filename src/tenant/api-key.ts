/**
 * API keys: `lh_<env>_<tenant>_<secret>`. The key names its tenant (the id without its prefix), so that finding its
 * owner needs no search. Nothing here is stored; the hash is.
 */
import { parseId, type TenantId } from "../domain/ids";

/** 62^43 > 2^256: base62, because an underscore separates the key's parts. */
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY = /^lh_([a-z0-9]{2,12})_([0-9A-Z]{26})_[0-9A-Za-z]{43}$/;
const MAX_LENGTH = "lh_".length + 12 + 1 + 26 + 1 + SECRET_LENGTH;

export interface ApiKeyParts {
  /** The deployment's environment: 2 to 12 lower-case letters and digits. */
  readonly env: string;
  readonly tenant: TenantId;
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function toBase62(bytes: Uint8Array): string {
  let rest = BigInt(`0x${toHex(bytes)}`);
  let text = "";
  for (let i = 0; i < SECRET_LENGTH; i++) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/** A fresh key; shown once, to the person who asked for it. */
export function generateApiKey({ env, tenant }: ApiKeyParts): string {
  const secret = toBase62(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  return `lh_${env}_${tenant.slice("ten_".length)}_${secret}`;
}

/** Where the key says it belongs; null: it does not have the form of a key. Says nothing about its validity. */
export function parseApiKey(text: string): ApiKeyParts | null {
  if (text.length > MAX_LENGTH) return null;
  const [, env, ulid] = KEY.exec(text) ?? [];
  const tenant = parseId("ten", `ten_${ulid}`);
  return env !== undefined && tenant ? { env, tenant } : null;
}

interface Hmac {
  readonly pepper: string;
  readonly key: CryptoKey;
}

/** A deployment has one pepper; importing it for each request costs more than the hash. */
let imported: Hmac | null = null;

async function importPepper(pepper: string): Promise<CryptoKey> {
  if (imported?.pepper === pepper) return imported.key;
  const bytes = new TextEncoder().encode(pepper);
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  imported = { pepper, key };
  return key;
}

/** HMAC-SHA-256 of the whole key under the deployment's pepper, in hex: what is stored and looked up. */
export async function hashApiKey(key: string, pepper: string): Promise<string> {
  const hmac = await importPepper(pepper);
  return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", hmac, new TextEncoder().encode(key))));
}
