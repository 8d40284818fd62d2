/** Seals credentials with the deployment's master keys. */
import type { CredentialSealer } from "../../app/models/rotate-credentials";
import type { MasterKeys } from "../../lib/master-keys";
import { resealCredential, sealCredential } from "./credential-seal";

/** Null when the deployment has no master key: then it stores no credentials. */
export function createCredentialSealer(keys: MasterKeys): CredentialSealer | null {
  const [current] = keys;
  if (!current) return null;
  return {
    currentKeyId: current.kid,
    seal: (secret, place) => sealCredential(secret, current, place),
    reseal: (sealed, place) => resealCredential(sealed, keys, place),
  };
}
