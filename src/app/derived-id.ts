/** Derives ids from a text, for things that a repeated request must find again: a fresh id would create a duplicate. */
import { type IdKinds, type IdPrefix, parseId } from "../domain/ids";
import { sha256 } from "../lib/sha256";

/** Crockford's base32, the alphabet of ULIDs. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_LENGTH = 26;
/** Hexadecimal digits of 128 bits, the size of a ULID. */
const HEX_LENGTH = 32;

/** One text always gives one id. The id has the form of a ULID, but contains no time. */
export async function deriveId<P extends IdPrefix>(prefix: P, text: string): Promise<IdKinds[P]> {
  let rest = BigInt(`0x${(await sha256(text)).slice(0, HEX_LENGTH)}`);
  let ulid = "";
  for (let i = 0; i < ULID_LENGTH; i++) {
    ulid = DIGITS.charAt(Number(rest % 32n)) + ulid;
    rest /= 32n;
  }
  const id = parseId(prefix, `${prefix}_${ulid}`);
  if (!id) throw new Error("128 bits did not form a ULID");
  return id;
}
