/** Ids that follow from a text, for what must be found again by it: where a fresh id would make a second thing. */
import { type IdKinds, type IdPrefix, parseId } from "../domain/ids";
import { sha256 } from "../lib/sha256";

/** Crockford's base32, as ULIDs are written. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_LENGTH = 26;
/** Hexadecimal digits of 128 bits, which is what a ULID holds. */
const HEX_LENGTH = 32;

/** The same text gives the same id. It has the form of a ULID, and says nothing about a time. */
export async function deriveId<P extends IdPrefix>(prefix: P, text: string): Promise<IdKinds[P]> {
  let rest = BigInt(`0x${(await sha256(text)).slice(0, HEX_LENGTH)}`);
  let ulid = "";
  for (let i = 0; i < ULID_LENGTH; i++) {
    ulid = DIGITS.charAt(Number(rest % 32n)) + ulid;
    rest /= 32n;
  }
  const id = parseId(prefix, `${prefix}_${ulid}`);
  if (!id) throw new Error("128 bits make no ULID");
  return id;
}
