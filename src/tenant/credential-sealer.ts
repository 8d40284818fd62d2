/** The deployment's master keys as a sealer. */
import type { CredentialSealer } from "../app/models/rotate-credentials";
import type { MasterKeys } from "../lib/master-keys";
import { resealCredential, sealCredential } from "./credential-seal";

/** Null: the deployment has no master key, and keeps no credentials. */
export function createCredentialSealer(keys: MasterKeys): CredentialSealer | null {
  const [current] = keys;
  if (!current) return null;
  return {
    currentKeyId: current.kid,
    seal: (secret, place) => sealCredential(secret, current, place),
    reseal: (sealed, place) => resealCredential(sealed, keys, place),
  };
}
