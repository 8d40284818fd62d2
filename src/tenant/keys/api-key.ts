/**
 * API keys: `lh_<env>_<tenant>_<secret>`. The key names its tenant (the id without its prefix), so no search is needed
 * to find its owner. The secret ends with a checksum of everything before it, under the deployment's pepper. An
 * invented key lacks a valid checksum, and is refused before a tenant's object is addressed (docs/decisions/0013). The
 * key itself is never stored, only its hash.
 */

import { parseId, type TenantId } from "../../domain/ids";
import { isSignedKey, makeSignedKey, SECRET_LENGTH } from "../../lib/peppered";
import type { Peppers } from "../../lib/peppers";

const LABEL = "longhand/api-key-checksum/1";
const KEY = /^lh_([a-z0-9]{2,12})_([0-9A-Z]{26})_[0-9A-Za-z]{54}$/;
const MAX_LENGTH = "lh_".length + 12 + 1 + 26 + 1 + SECRET_LENGTH;

interface ApiKeyParts {
  /** The deployment's environment: 2 to 12 lower-case letters and digits. */
  readonly env: string;
  readonly tenant: TenantId;
}

/** Makes a new key. It is shown once, to the person who asked for it. */
export const generateApiKey = ({ env, tenant }: ApiKeyParts, pepper: string): Promise<string> =>
  makeSignedKey(`lh_${env}_${tenant.slice("ten_".length)}_`, { pepper, label: LABEL });

/** True when this deployment made the key (`isSignedKey`). */
export const isGenuine = (key: string, peppers: Peppers): Promise<boolean> => isSignedKey(key, LABEL, peppers);

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
