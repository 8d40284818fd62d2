/** Makes pairing codes and their keyed hashes. A code is read aloud and typed by people: it has no look-alikes, and case does not matter. */
import type { TenantId } from "../../domain/ids";
import { toHex } from "../../lib/hex";
import { signWithPepper } from "../../lib/peppered";
import { acceptedBeside, type Peppers } from "../../lib/peppers";

/** Without 0 and O, 1, I and L, and U, which is heard as V. */
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 8;
/** Bytes from here on would favour the first letters. */
const FAIR = 256 - (256 % ALPHABET.length);
const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

export function makePairingCode(): string {
  let code = "";
  while (code.length < LENGTH) {
    const fair = crypto.getRandomValues(new Uint8Array(2 * LENGTH)).filter((byte) => byte < FAIR);
    for (const byte of fair) code += ALPHABET.charAt(byte % ALPHABET.length);
  }
  return code.slice(0, LENGTH);
}

/** What people put into a code, because they copied or spoke it in parts. */
const SEPARATORS = /[\s-]/g;

/** The code in a text that a user sent. Null: the text has not the form of one. */
export function readPairingCode(text: string): string | null {
  if (text.length > 2 * LENGTH + 2) return null;
  const code = text.replace(SEPARATORS, "").toUpperCase();
  return CODE.test(code) ? code : null;
}

interface Coded {
  readonly tenant: TenantId;
  readonly channel: string;
  readonly code: string;
}

/** A database that is lost tells no code: 30^8 of them could be tried against a hash without a key. */
const hash = async ({ tenant, channel, code }: Coded, pepper: string): Promise<string> =>
  toHex(await signWithPepper(`longhand/pairing-code/1\n${tenant}\n${channel}\n${code}`, pepper));

export const hashPairingCode = (coded: Coded, { current }: Peppers): Promise<string> => hash(coded, current);

/** Under each pepper that is accepted now. */
export function hashesOfPairingCode(coded: Coded, peppers: Peppers, now: number): Promise<readonly string[]> {
  const beside = acceptedBeside(peppers, now);
  return Promise.all([peppers.current, ...(beside === null ? [] : [beside])].map((pepper) => hash(coded, pepper)));
}
