/**
 * Admin keys: `lhadm_<env>_<secret>`. The secret ends with a checksum of everything before it, under the deployment's pepper, so that an
 * invented key is refused before the deployment's object is asked. The key itself is never stored, only its hash.
 */
import { isSignedKey, makeSignedKey } from "../lib/peppered";
import type { Peppers } from "../lib/peppers";

const LABEL = "longhand/admin-key-checksum/1";
const KEY = /^lhadm_[a-z0-9]{2,12}_[0-9A-Za-z]{54}$/;

/** Makes a new key. It is shown once, to the admin who asked for it. */
export const generateAdminKey = (env: string, pepper: string): Promise<string> => makeSignedKey(`lhadm_${env}_`, { pepper, label: LABEL });

/** True when the text has the form of an admin key. It says nothing about who made it. */
export const isAdminKeyShaped = (text: string): boolean => KEY.test(text);

/** True when this deployment made the key (`isSignedKey`). */
export const isGenuineAdminKey = (key: string, peppers: Peppers): Promise<boolean> => isSignedKey(key, LABEL, peppers);
