/** Calls to a tenant that exists. For any other nothing is read or written: clients can address an object by a made-up name. */
import type { TenantError, TenantOutcome } from "../app/tenant-api";
import { err } from "../lib/result";
import type { Tenant } from "./tenant";

const NOT_FOUND: TenantError = { code: "tenant_not_found" };

export const existing =
  <A extends readonly unknown[], T>(call: (tenant: Tenant, ...args: A) => TenantOutcome<T> | Promise<TenantOutcome<T>>) =>
  async (tenant: Tenant, ...args: A): Promise<TenantOutcome<T>> =>
    tenant.isCreated ? call(tenant, ...args) : err(NOT_FOUND);
