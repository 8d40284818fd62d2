/**
 * Sealing a tenant's credentials under the deployment's current master key, so that an older one can be taken away.
 * Whoever seals holds the master keys; the tenant's object never does.
 */
import { ok } from "../../lib/result";
import type { Resealed, SealedCredential, TenantApi, TenantMaintenance, TenantOutcome } from "../tenant-api";

/** Whose credential it is: a seal holds for this place only. */
export interface CredentialPlace {
  readonly tenant: string;
  readonly name: string;
}

/** Seals with the deployment's master keys, where there are any. */
export interface CredentialSealer {
  readonly currentKeyId: string;
  seal(secret: string, place: CredentialPlace): Promise<SealedCredential>;
  /** The same credential under the current key. Null: its own is not known any more, or it was not sealed for this place. */
  reseal(sealed: SealedCredential, place: CredentialPlace): Promise<SealedCredential | null>;
}

export interface RotationReport {
  /** The current key, under which all readable ones are now. */
  readonly key_id: string;
  readonly total: number;
  /** Those that were under it before. */
  readonly current: number;
  readonly resealed: number;
  /** Put anew while this ran: whoever put them sealed them by what was the current key for them. Run it again. */
  readonly changed: number;
  /** Names of those that no known key opens: their tenant must put them again. */
  readonly unreadable: readonly string[];
}

interface RotationPorts {
  /** A fresh stub at each call. */
  readonly object: () => Pick<TenantApi & TenantMaintenance, "sealedCredentials" | "replaceSealed">;
  readonly sealer: CredentialSealer;
}

export async function rotateCredentials({ object, sealer }: RotationPorts, tenant: string): Promise<TenantOutcome<RotationReport>> {
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
  const replaced = resealed.length === 0 ? ok({ replaced: 0 }) : await object().replaceSealed(resealed);
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
