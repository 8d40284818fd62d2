/** Makes a key of a tenant. The tenant's object gets its hash; the key itself is in the answer and nowhere else. */
import type { KeyView, Scope, TenantOutcome } from "../app/tenant-api";
import type { TenantId } from "../domain/ids";
import { ok } from "../lib/result";
import type { HttpDeps } from "./deps";

export interface KeyOrder {
  readonly tenant: TenantId;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Epoch milliseconds; null: never. */
  readonly expires_at: number | null;
}

export async function issueKey(
  deps: HttpDeps,
  { tenant, name, scopes, expires_at }: KeyOrder,
): Promise<TenantOutcome<{ readonly view: KeyView; readonly key: string }>> {
  const key = deps.generateKey(tenant);
  const hash = await deps.hashKey(key);
  const added = await deps.tenants(tenant).addKey({ id: deps.newId("key"), hash, name, scopes, expires_at });
  return added.ok ? ok({ view: added.value, key }) : added;
}

/** What is wrong with the time, or null. */
export function refuseExpiry(expiresAt: number | null, now: number): string | null {
  return expiresAt !== null && expiresAt <= now ? "must be in the future" : null;
}
