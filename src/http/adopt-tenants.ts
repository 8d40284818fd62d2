/**
 * Enters tenants in the deployment's list, as their objects know them. It comes after a tenant's creation and before its first key: a tenant
 * that can be used is listed. Where a request was cut off between the two, the tenant's object enters the tenant itself
 * (docs/decisions/0021).
 */
import type { Act } from "../app/audit-chain";
import type { TenantOutcome } from "../app/tenant-api";
import type { ListedTenant } from "../contract/deployment";
import type { TenantId } from "../domain/ids";
import { callWithRetry } from "./calls";
import type { HttpDeps } from "./deps";

const identify = (deps: HttpDeps, tenant: TenantId): Promise<TenantOutcome<ListedTenant>> =>
  callWithRetry(
    () => deps.tenants(tenant),
    (api) => api.identify(),
  );

/** A tenant that does not exist is not entered. */
export async function adoptTenant(deps: HttpDeps, tenant: TenantId): Promise<TenantOutcome<ListedTenant>> {
  const known = await identify(deps, tenant);
  if (!known.ok) return known;
  await callWithRetry(
    () => deps.deployment(),
    (api) => api.registerTenants([known.value]),
  );
  return known;
}

interface Adopted {
  readonly added: number;
  /** Those that do not exist. */
  readonly unknown: readonly TenantId[];
}

/** Enters what the tenants' objects say of them, as an act of an admin. */
export async function rebuildTenantList(deps: HttpDeps, act: Act, tenants: readonly TenantId[]): Promise<Adopted> {
  const answers = await Promise.all(tenants.map(async (tenant) => ({ tenant, known: await identify(deps, tenant) })));
  const unknown = answers.flatMap(({ tenant, known }) => (known.ok ? [] : [tenant]));
  const listed = answers.flatMap(({ known }) => (known.ok ? [known.value] : []));
  const { added } = await callWithRetry(
    () => deps.deployment(),
    (api) => api.rebuildTenantList(act, listed),
  );
  return { added, unknown };
}
