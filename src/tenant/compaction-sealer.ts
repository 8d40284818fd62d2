/**
 * Seals what a client keeps for us between two requests: the compacted conversation of an item of type `compaction`. The key is derived from
 * the deployment's pepper and the tenant is bound into the seal, so that no client can write such an item or open another tenant's.
 */
import { base64url } from "jose";
import type { CompactionSealer } from "../app/ports";
import { memoize } from "../lib/memoize";
import { signWithPepper } from "./api-key";

/** The form and the label change together: a seal of another form is not opened. */
const FORM = "lhc1_";
const LABEL = "longhand/compaction-item/1";
/** The nonce length of NIST SP 800-38D §5.2.1.1. Each seal uses a fresh random nonce. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const utf8 = new TextEncoder();

const deriveKey = memoize(async (pepper: string): Promise<CryptoKey> => {
  const bytes = new Uint8Array(await signWithPepper(`${LABEL}/key`, pepper));
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
});

const toCipher = (iv: Uint8Array<ArrayBuffer>, tenant: string) => ({
  name: "AES-GCM",
  iv,
  additionalData: utf8.encode(`${LABEL}\n${tenant}`),
});

/** Null unless the text is the one that these bytes are written as: other texts may stand for the same bytes. */
function fromUrlSafe(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const bytes = new Uint8Array(base64url.decode(text));
    return base64url.encode(bytes) === text ? bytes : null;
  } catch {
    return null;
  }
}

function join(head: Uint8Array, rest: Uint8Array): Uint8Array {
  const joined = new Uint8Array(head.length + rest.length);
  joined.set(head);
  joined.set(rest, head.length);
  return joined;
}

export function createCompactionSealer(pepper: string): CompactionSealer {
  return {
    seal: async (tenant, text) => {
      const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const sealed = await crypto.subtle.encrypt(toCipher(iv, tenant), await deriveKey(pepper), utf8.encode(text));
      return FORM + base64url.encode(join(iv, new Uint8Array(sealed)));
    },
    open: async (tenant, sealed) => {
      const bytes = sealed.startsWith(FORM) ? fromUrlSafe(sealed.slice(FORM.length)) : null;
      if (!bytes || bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      try {
        const cipher = toCipher(bytes.slice(0, NONCE_BYTES), tenant);
        const opened = await crypto.subtle.decrypt(cipher, await deriveKey(pepper), bytes.slice(NONCE_BYTES));
        return new TextDecoder().decode(opened);
      } catch {
        return null;
      }
    },
  };
}
