/**
 * Seals a tenant's credential for storage, with AES-256-GCM envelope encryption (docs/decisions/0008). Each credential
 * has its own data key, which one of the deployment's master keys seals. Both seals are bound to tenant and name, so a
 * row that is copied elsewhere cannot be opened. This module stores, sends and logs nothing, and no error reveals the
 * content.
 */
import type { CredentialPlace } from "../../app/models/rotate-credentials";
import type { SealedCredential } from "../../app/tenant-api";
import { fromBase64, toBase64 } from "../../lib/base64";
import type { MasterKey, MasterKeys } from "../../lib/master-keys";

/** AES-256, with the nonce length of NIST SP 800-38D §5.2.1.1. Each seal uses a fresh random nonce. */
const KEY_BYTES = 32;
const NONCE_BYTES = 12;

type Layer = "data-key" | "secret";

const encode = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(new TextEncoder().encode(text));

/** Joined by newlines, which no part can hold: names and ids are checked when they are accepted. */
const boundTo = ({ tenant, name }: CredentialPlace, layer: Layer): Uint8Array<ArrayBuffer> =>
  encode(["longhand/credential/1", layer, tenant, name].join("\n"));

const importKey = (bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);

interface Seal {
  readonly key: Uint8Array<ArrayBuffer>;
  readonly bound: Uint8Array<ArrayBuffer>;
}

/** Returns the nonce and the ciphertext with its tag, in base64. */
async function sealBytes(plain: Uint8Array<ArrayBuffer>, { key, bound }: Seal): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: bound }, await importKey(key), plain);
  return toBase64(new Uint8Array([...iv, ...new Uint8Array(sealed)]));
}

/** Null when the text was not sealed by this key for this place, or was changed since. */
async function openBytes(text: string, { key, bound }: Seal): Promise<Uint8Array<ArrayBuffer> | null> {
  const bytes = fromBase64(text);
  if (!bytes || bytes.length <= NONCE_BYTES) return null;
  try {
    const iv = bytes.slice(0, NONCE_BYTES);
    const opened = await crypto.subtle.decrypt(
      { name: "AES-GCM", iv, additionalData: bound },
      await importKey(key),
      bytes.slice(NONCE_BYTES),
    );
    return new Uint8Array(opened);
  } catch {
    return null;
  }
}

async function wrap(dataKey: Uint8Array<ArrayBuffer>, master: MasterKey, place: CredentialPlace): Promise<string> {
  return sealBytes(dataKey, { key: master.bytes, bound: boundTo(place, "data-key") });
}

async function unwrap(credential: SealedCredential, keys: MasterKeys, place: CredentialPlace): Promise<Uint8Array<ArrayBuffer> | null> {
  const master = keys.find(({ kid }) => kid === credential.kid);
  return master ? openBytes(credential.wrapped_key, { key: master.bytes, bound: boundTo(place, "data-key") }) : null;
}

export async function sealCredential(secret: string, master: MasterKey, place: CredentialPlace): Promise<SealedCredential> {
  const dataKey = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  const sealed = await sealBytes(encode(secret), { key: dataKey, bound: boundTo(place, "secret") });
  return { kid: master.kid, wrapped_key: await wrap(dataKey, master, place), sealed };
}

/** Null when its master key is no longer configured, or the row was not sealed for this place. */
export async function openCredential(credential: SealedCredential, keys: MasterKeys, place: CredentialPlace): Promise<string | null> {
  const dataKey = await unwrap(credential, keys, place);
  const secret = dataKey && (await openBytes(credential.sealed, { key: dataKey, bound: boundTo(place, "secret") }));
  return secret && new TextDecoder().decode(secret);
}

/** Seals the data key under the current master key; the credential itself stays sealed. Null in the cases of `openCredential`. */
export async function resealCredential(
  credential: SealedCredential,
  keys: MasterKeys,
  place: CredentialPlace,
): Promise<SealedCredential | null> {
  const current = keys[0];
  const dataKey = current && (await unwrap(credential, keys, place));
  return dataKey ? { ...credential, kid: current.kid, wrapped_key: await wrap(dataKey, current, place) } : null;
}
