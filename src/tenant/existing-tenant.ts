/** What calls to a tenant's object have in common: their types, and that a tenant which was never created answers without storing anything. */
import type { TenantError, TenantOutcome } from "../app/tenant-api";
import type { WholeTenantApi } from "../app/whole-tenant-api";
import { err } from "../lib/result";
import type { Tenant } from "./core/tenant";
import { loadPrices } from "./settings/price-package";

export type Call<A extends readonly unknown[], T> = (tenant: Tenant, ...args: A) => Promise<T>;
export type Calls = {
  readonly [Name in keyof WholeTenantApi]: WholeTenantApi[Name] extends (...args: infer A) => Promise<infer T> ? Call<A, T> : never;
};

/** A call to an existing tenant, before it is one of the table. */
export type Existing<Name extends keyof WholeTenantApi> = (
  tenant: Tenant,
  ...args: Parameters<WholeTenantApi[Name]>
) => ReturnType<WholeTenantApi[Name]> | Awaited<ReturnType<WholeTenantApi[Name]>>;

const NOT_FOUND: TenantError = { code: "tenant_not_found" };

/** The deployment's audit log has what an admin did before the admin has the answer, if its object can be reached. */
export async function withActsDelivered<T>({ upkeep }: Tenant, work: () => T | Promise<T>): Promise<T> {
  const answer = await work();
  await upkeep.adminActs.deliver();
  return answer;
}

/** As `existing`, and of a deleted tenant, too: for its sessions' last calls, and for the receipt. */
export const lasting =
  <A extends readonly unknown[], T>(call: (tenant: Tenant, ...args: A) => TenantOutcome<T> | Promise<TenantOutcome<T>>) =>
  async (tenant: Tenant, ...args: A): Promise<TenantOutcome<T>> =>
    tenant.isCreated ? withActsDelivered(tenant, () => call(tenant, ...args)) : err(NOT_FOUND);

/** A call to a tenant that exists and is not deleted. For any other nothing is read or written. */
export const existing =
  <A extends readonly unknown[], T>(
    call: (tenant: Tenant, ...args: A) => TenantOutcome<T> | Promise<TenantOutcome<T>>,
  ): Call<A, TenantOutcome<T>> =>
  async (tenant, ...args) =>
    tenant.isOpen ? withActsDelivered(tenant, () => call(tenant, ...args)) : err(NOT_FOUND);

/** A look-up. It returns null for a tenant that was never created. */
export const lookUpExisting =
  <A extends readonly unknown[], T>(find: (tenant: Tenant, ...args: A) => T | null | Promise<T | null>): Call<A, T | null> =>
  async (tenant, ...args) =>
    tenant.isOpen ? find(tenant, ...args) : null;

export const prices = () => loadPrices(Date.now);

/** A call in the name of the tenant. While the tenant is suspended nothing is read or written. */
export const served = <A extends readonly unknown[], T>(
  call: (tenant: Tenant, ...args: A) => TenantOutcome<T> | Promise<TenantOutcome<T>>,
) =>
  existing<A, T>((tenant, ...args) =>
    tenant.standings.read().status === "active" ? call(tenant, ...args) : err({ code: "tenant_suspended" }),
  );
