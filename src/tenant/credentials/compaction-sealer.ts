/**
 * Seals what a client keeps for us between two requests: the compacted conversation of an item of type `compaction`, or where it is recorded.
 * The keys are derived from the deployment's pepper and the tenant is bound into the seal, so that no client can write such an item or open
 * another tenant's.
 */
import { base64url } from "jose";
import type { Clock, CompactionSealer } from "../../app/ports";
import { memoize } from "../../lib/memoize";
import { signWithPepper } from "../../lib/peppered";
import { openUnder, type Peppers } from "../../lib/peppers";

/** The form and the label change together: a seal of another form is not opened. Each form has a key of its own. */
interface SealForm {
  readonly form: string;
  readonly label: string;
}
const FRESH: SealForm = { form: "lhc1_", label: "longhand/compaction-item/1" };
const ALIKE: SealForm = { form: "lhr1_", label: "longhand/compaction-reference/1" };

/** The nonce length of NIST SP 800-38D §5.2.1.1. A nonce is random, or the beginning of a keyed hash of the tenant and the text. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const utf8 = new TextEncoder();

const createKeys = ({ label }: SealForm) =>
  memoize(async (pepper: string): Promise<CryptoKey> => {
    const bytes = new Uint8Array(await signWithPepper(`${label}/key`, pepper));
    return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
  });
const KEYS = new Map([FRESH, ALIKE].map((form) => [form, createKeys(form)] as const));

function deriveKey(form: SealForm, pepper: string): Promise<CryptoKey> {
  const derive = KEYS.get(form);
  if (!derive) throw new TypeError("a form has a key");
  return derive(pepper);
}

/** Only the same text for the same tenant has the same nonce, so that no nonce serves two texts. */
async function deriveNonce({ tenant, text }: Sealing, pepper: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(await signWithPepper(`${ALIKE.label}/nonce\n${tenant}\n${text}`, pepper));
  return bytes.slice(0, NONCE_BYTES);
}

interface Sealing {
  readonly tenant: string;
  readonly text: string;
}

const toCipher = ({ label }: SealForm, iv: Uint8Array<ArrayBuffer>, tenant: string) => ({
  name: "AES-GCM",
  iv,
  additionalData: utf8.encode(`${label}\n${tenant}`),
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

interface Given extends Sealing {
  readonly form: SealForm;
  readonly iv: Uint8Array<ArrayBuffer>;
}

async function sealWith({ form, iv, tenant, text }: Given, pepper: string): Promise<string> {
  const sealed = await crypto.subtle.encrypt(toCipher(form, iv, tenant), await deriveKey(form, pepper), utf8.encode(text));
  return form.form + base64url.encode(join(iv, new Uint8Array(sealed)));
}

interface Sealed {
  readonly form: SealForm;
  readonly tenant: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Null when the bytes were not sealed under this pepper for this tenant. */
async function openWith({ form, tenant, bytes }: Sealed, pepper: string): Promise<string | null> {
  try {
    const cipher = toCipher(form, bytes.slice(0, NONCE_BYTES), tenant);
    const opened = await crypto.subtle.decrypt(cipher, await deriveKey(form, pepper), bytes.slice(NONCE_BYTES));
    return new TextDecoder().decode(opened);
  } catch {
    return null;
  }
}

export function createCompactionSealer(peppers: Peppers, now: Clock): CompactionSealer {
  const { current } = peppers;
  return {
    seal: (tenant, text) => sealWith({ form: FRESH, iv: crypto.getRandomValues(new Uint8Array(NONCE_BYTES)), tenant, text }, current),
    sealAlike: async (tenant, text) => sealWith({ form: ALIKE, iv: await deriveNonce({ tenant, text }, current), tenant, text }, current),
    open: async (tenant, sealed) => {
      const form = [FRESH, ALIKE].find((each) => sealed.startsWith(each.form));
      const bytes = form ? fromUrlSafe(sealed.slice(form.form.length)) : null;
      if (!form || !bytes || bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      return openUnder(peppers, now(), (pepper) => openWith({ form, tenant, bytes }, pepper));
    },
  };
}
