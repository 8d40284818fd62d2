/**
 * API keys: `lh_<env>_<tenant>_<secret>`. The key names its tenant (the id without its prefix), so no search is needed
 * to find its owner. The secret ends with a checksum of everything before it, under the deployment's pepper. An
 * invented key lacks a valid checksum, and is refused before a tenant's object is addressed (docs/decisions/0013). The
 * key itself is never stored, only its hash.
 */

import { parseId, type TenantId } from "../domain/ids";
import { toHex } from "../lib/hex";
import { acceptedBeside, type Peppers } from "../lib/peppers";
import { isSameText } from "../lib/same-text";

/** Secrets are base62, because an underscore separates the key's parts: 62^43 > 2^256. */
const SECRET_BYTES = 32;
const RANDOM_LENGTH = 43;
/** 62^11 > 2^64: an attacker must try as many keys, each with a request, to reach one object. */
const CHECKSUM_BYTES = 8;
const CHECKSUM_LENGTH = 11;
const SECRET_LENGTH = RANDOM_LENGTH + CHECKSUM_LENGTH;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY = /^lh_([a-z0-9]{2,12})_([0-9A-Z]{26})_[0-9A-Za-z]{54}$/;
const MAX_LENGTH = "lh_".length + 12 + 1 + 26 + 1 + SECRET_LENGTH;

interface ApiKeyParts {
  /** The deployment's environment: 2 to 12 lower-case letters and digits. */
  readonly env: string;
  readonly tenant: TenantId;
}

function toBase62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${toHex(bytes)}`);
  let text = "";
  for (let i = 0; i < length; i++) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/** Makes a new key. It is shown once, to the person who asked for it. */
export async function generateApiKey({ env, tenant }: ApiKeyParts, pepper: string): Promise<string> {
  const random = toBase62(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)), RANDOM_LENGTH);
  const unsigned = `lh_${env}_${tenant.slice("ten_".length)}_${random}`;
  return unsigned + (await computeChecksum(unsigned, pepper));
}

/**
 * True when this deployment made the key. Only the tenant's object knows whether it is still valid. `key` must have the form of a key.
 * The checksum is part of a key for life, so that one under the previous pepper counts for as long as that is configured
 * (docs/decisions/0020). It only saves calls: it opens nothing.
 */
export async function isGenuine(key: string, { current, previous }: Peppers): Promise<boolean> {
  return (await hasChecksum(key, current)) || (previous !== null && (await hasChecksum(key, previous.pepper)));
}

async function hasChecksum(key: string, pepper: string): Promise<boolean> {
  const expected = await computeChecksum(key.slice(0, -CHECKSUM_LENGTH), pepper);
  return isSameText(key.slice(-CHECKSUM_LENGTH), expected);
}

/** Signs under a label of its own, so that a checksum is never part of a key's hash. */
async function computeChecksum(unsigned: string, pepper: string): Promise<string> {
  const sum = await signWithPepper(`longhand/api-key-checksum/1\n${unsigned}`, pepper);
  return toBase62(sum.slice(0, CHECKSUM_BYTES), CHECKSUM_LENGTH);
}

/**
 * Reads the environment and tenant that a key names. Null when the text has not the form of a key. It does not check
 * whether the key is valid.
 */
export function parseApiKey(text: string): ApiKeyParts | null {
  if (text.length > MAX_LENGTH) return null;
  const [, env, ulid] = KEY.exec(text) ?? [];
  const tenant = parseId("ten", `ten_${ulid}`);
  return env !== undefined && tenant ? { env, tenant } : null;
}

/** Imported peppers are cached. A deployment has one or two, and importing one for each request would cost more than the hash. */
const imported = new Map<string, CryptoKey>();

async function importPepper(pepper: string): Promise<CryptoKey> {
  const known = imported.get(pepper);
  if (known) return known;
  const bytes = new TextEncoder().encode(pepper);
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  imported.set(pepper, key);
  return key;
}

/** HMAC-SHA-256 of a text. Each use has a label of its own, so that no result serves another use. */
export async function signWithPepper(text: string, pepper: string): Promise<Uint8Array> {
  const hmac = await importPepper(pepper);
  return new Uint8Array(await crypto.subtle.sign("HMAC", hmac, new TextEncoder().encode(text)));
}

/** HMAC-SHA-256 of the whole key under the deployment's pepper, in hex: what is stored and looked up. */
export async function hashApiKey(key: string, pepper: string): Promise<string> {
  return toHex(await signWithPepper(key, pepper));
}

/** The key's hash under the pepper that is accepted beside the current one: a key that was not used since the rotation is stored under it. */
export async function hashBeside(key: string, peppers: Peppers, now: number): Promise<string | null> {
  const beside = acceptedBeside(peppers, now);
  return beside === null ? null : await hashApiKey(key, beside);
}
