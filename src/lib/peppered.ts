/**
 * What a deployment signs under its pepper (KEY_PEPPER), and keys that end with such a signature: a secret, and a checksum of all before it.
 * An invented key lacks a valid checksum, and is refused before an object is addressed (docs/decisions/0013).
 */
import { toHex } from "./hex";
import { acceptedBeside, type Peppers } from "./peppers";
import { isSameText } from "./same-text";

/** Secrets are base62, because an underscore separates a key's parts: 62^43 > 2^256. */
const SECRET_BYTES = 32;
const RANDOM_LENGTH = 43;
/** 62^11 > 2^64: an attacker must try as many keys, each with a request, to reach one object. */
const CHECKSUM_BYTES = 8;
const CHECKSUM_LENGTH = 11;
/** The random part and the checksum. */
export const SECRET_LENGTH = RANDOM_LENGTH + CHECKSUM_LENGTH;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function toBase62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${toHex(bytes)}`);
  let text = "";
  for (let i = 0; i < length; i++) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
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

interface Signer {
  readonly pepper: string;
  /** The use of the checksum, so that it is never part of a key's hash or the checksum of another kind of key. */
  readonly label: string;
}

async function computeChecksum(unsigned: string, { pepper, label }: Signer): Promise<string> {
  const sum = await signWithPepper(`${label}\n${unsigned}`, pepper);
  return toBase62(sum.slice(0, CHECKSUM_BYTES), CHECKSUM_LENGTH);
}

/** The text with a checksum at its end, which `isSignedKey` verifies. It is the same whenever it is made. */
export const addChecksum = async (text: string, signer: Signer): Promise<string> => text + (await computeChecksum(text, signer));

/** Makes a new key that begins with `start`. */
export const makeSignedKey = (start: string, signer: Signer): Promise<string> =>
  addChecksum(start + toBase62(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)), RANDOM_LENGTH), signer);

async function hasChecksum(key: string, signer: Signer): Promise<boolean> {
  const expected = await computeChecksum(key.slice(0, -CHECKSUM_LENGTH), signer);
  return isSameText(key.slice(-CHECKSUM_LENGTH), expected);
}

/**
 * True when this deployment made the key. Only an object knows whether it is still valid. `key` must have the form of a key. The checksum is
 * part of a key for life, so that one under the previous pepper counts for as long as that is configured (docs/decisions/0020). It only saves
 * calls: it opens nothing.
 */
export const isSignedKey = async (key: string, label: string, { current, previous }: Peppers): Promise<boolean> =>
  (await hasChecksum(key, { pepper: current, label })) ||
  (previous !== null && (await hasChecksum(key, { pepper: previous.pepper, label })));

/** HMAC-SHA-256 of a whole key under the deployment's pepper, in hex: what is stored and looked up. */
export async function hashKey(key: string, pepper: string): Promise<string> {
  return toHex(await signWithPepper(key, pepper));
}

/** The key's hash under the pepper that is accepted beside the current one: a key that was not used since the rotation is stored under it. */
export async function hashBeside(key: string, peppers: Peppers, now: number): Promise<string | null> {
  const beside = acceptedBeside(peppers, now);
  return beside === null ? null : await hashKey(key, beside);
}
