/**
 * The `Credentials` port of model calls: the tenant's sealed credential, opened for each call,
 * or the deployment's key. Only the sealed form is cached; the plain key lives as long as the call.
 */
import { type DeploymentKeys, findKeySource, needsKey } from "../../app/key-source";
import type { Credentials, Log, MissingKey } from "../../app/ports";
import type { TenantApi } from "../../app/tenant-api";
import { assertNever } from "../../lib/assert-never";
import type { MasterKeys } from "../../lib/master-keys";
import { openCredential } from "./credential-seal";

const MISSING: MissingKey = { missing: true };

/**
 * Opens the tenant's credential of that name. Null when it is gone or cannot be opened. Throws when the tenant's object
 * is out of reach and no earlier answer is cached.
 */
type OpenCredential = (name: string) => Promise<string | null>;

interface OpenCredentialDeps {
  readonly tenant: string;
  /** Null: there is no such credential. */
  readonly find: TenantApi["sealedCredential"];
  /** Read when a key is needed: with a wrong variable, models that need no key can still be called. */
  readonly masterKeys: () => MasterKeys;
  readonly log: Log;
}

export function createOpenCredential({ tenant, find, masterKeys, log }: OpenCredentialDeps): OpenCredential {
  return async (name) => {
    const sealed = await find(name);
    if (!sealed) return null;
    const secret = await openCredential(sealed, masterKeys(), { tenant, name });
    if (secret === null) log.error("credential.unreadable", { tenant_id: tenant, credential: name, key_id: sealed.kid });
    return secret;
  };
}

interface CredentialsDeps {
  readonly open: OpenCredential;
  /** Read when a key is needed. */
  readonly deploymentKeys: () => DeploymentKeys;
}

/**
 * A credential that is gone or cannot be opened is reported as missing. The deployment's key never takes its place
 * (docs/decisions/0010).
 */
export function createCredentials({ open, deploymentKeys }: CredentialsDeps): Credentials {
  return async (model) => {
    const source = findKeySource(model);
    switch (source.from) {
      case "tenant":
        return (await open(source.credential)) ?? MISSING;
      case "deployment":
        return deploymentKeys()[source.key] ?? (needsKey(model) ? MISSING : null);
      case "none":
        return null;
      default:
        return assertNever(source);
    }
  };
}
