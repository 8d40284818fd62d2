/**
 * Reseals a tenant's credentials under the deployment's current master key, so that an older key can be removed. The sealer holds the
 * master keys; the tenant's object never does.
 */
import type { RotationReport } from "../../contract/credential";
import { ok } from "../../lib/result";
import type { Act } from "../audit-chain";
import type { Resealed, SealedCredential, TenantApi, TenantMaintenance, TenantOutcome } from "../tenant-api";

/** The place of a credential. A seal is valid only for its own place. */
export interface CredentialPlace {
  readonly tenant: string;
  readonly name: string;
}

/** Seals with the deployment's master keys. */
export interface CredentialSealer {
  readonly currentKeyId: string;
  seal(secret: string, place: CredentialPlace): Promise<SealedCredential>;
  /** Seals a credential anew under the current key. Null when its master key is unknown, or it was not sealed for this place. */
  reseal(sealed: SealedCredential, place: CredentialPlace): Promise<SealedCredential | null>;
}

interface RotationPorts {
  /** Returns a new stub on each call. */
  readonly object: () => Pick<TenantApi & TenantMaintenance, "sealedCredentials" | "replaceSealed">;
  readonly sealer: CredentialSealer;
  readonly act: Act;
}

export async function rotateCredentials({ object, sealer, act }: RotationPorts, tenant: string): Promise<TenantOutcome<RotationReport>> {
  const listed = await object().sealedCredentials();
  if (!listed.ok) return listed;
  const old = listed.value.filter(({ sealed }) => sealed.kid !== sealer.currentKeyId);
  const resealed: Resealed[] = [];
  const unreadable: string[] = [];
  for (const { name, sealed: before } of old) {
    const after = await sealer.reseal(before, { tenant, name });
    if (after) resealed.push({ name, before, after });
    else unreadable.push(name);
  }
  const replaced = resealed.length === 0 ? ok({ replaced: 0 }) : await object().replaceSealed(act, resealed);
  if (!replaced.ok) return replaced;
  return ok({
    key_id: sealer.currentKeyId,
    total: listed.value.length,
    current: listed.value.length - old.length,
    resealed: replaced.value.replaced,
    changed: resealed.length - replaced.value.replaced,
    unreadable,
  });
}
