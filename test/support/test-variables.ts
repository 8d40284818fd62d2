/** The Worker's complete configuration in the tests that run in workerd. None of it comes from the developer's files. */
import { PLAIN_VARIABLES, type Variables } from "../../scripts/support/variables.ts";

const masterKey = (byte: number): string => btoa(String.fromCharCode(byte).repeat(32));

export const TEST_VARIABLES: Variables = {
  ...PLAIN_VARIABLES,
  KEY_PEPPER: "a-pepper-for-tests-only",
  ADMIN_KEY: "an-admin-key-for-tests-only",
  ALLOW_PRIVATE_MODEL_URLS: "true",
  ALLOW_PRIVATE_TOOL_URLS: "true",
  // The current key and a previous one.
  CREDENTIALS_KEYS: `new:${masterKey(2)},old:${masterKey(1)}`,
};
