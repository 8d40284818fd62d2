/** Parses the deployment's master keys from their variable. No error message quotes the text, because it holds the keys. */
import { fromBase64 } from "./base64";
import { err, ok, type Result } from "./result";

/** AES-256. */
const KEY_BYTES = 32;
const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;

export interface MasterKey {
  /** Stored with everything that the key sealed, and shown to tenants. */
  readonly kid: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The first key seals; every key can open. */
export type MasterKeys = readonly MasterKey[];

/** Parses `kid:base64,…`. An empty text means no keys. */
export function parseMasterKeys(text: string): Result<MasterKeys, string> {
  const keys: MasterKey[] = [];
  const entries = text.trim() === "" ? [] : text.split(",");
  for (const [index, entry] of entries.entries()) {
    const [, kid = "", encoded = ""] = /^([^:]*):(.*)$/.exec(entry.trim()) ?? [];
    const bytes = fromBase64(encoded);
    const where = `entry ${index + 1}`;
    if (!KEY_ID.test(kid)) return err(`${where}: the key's id must be 1 to 32 letters, digits and . _ -, then a colon`);
    if (bytes?.length !== KEY_BYTES) return err(`${where}: not ${KEY_BYTES} bytes in base64`);
    if (keys.some((key) => key.kid === kid)) return err(`${where}: its id is there already`);
    keys.push({ kid, bytes });
  }
  return ok(keys);
}
