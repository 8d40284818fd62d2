/** Calls to a tenant that exists. For any other nothing is read or written: clients can address an object by a made-up name. */
import type { TenantError, TenantOutcome } from "../app/tenant-api";
import { err } from "../lib/result";
import type { Tenant } from "./tenant";

const NOT_FOUND: TenantError = { code: "tenant_not_found" };

/** As `existing`, and of a deleted tenant, too: for its sessions' last calls, and for the receipt. */
export const lasting =
  <A extends readonly unknown[], T>(call: (tenant: Tenant, ...args: A) => TenantOutcome<T> | Promise<TenantOutcome<T>>) =>
  async (tenant: Tenant, ...args: A): Promise<TenantOutcome<T>> =>
    tenant.isCreated ? call(tenant, ...args) : err(NOT_FOUND);

export const existing =
  <A extends readonly unknown[], T>(call: (tenant: Tenant, ...args: A) => TenantOutcome<T> | Promise<TenantOutcome<T>>) =>
  async (tenant: Tenant, ...args: A): Promise<TenantOutcome<T>> =>
    tenant.isOpen ? call(tenant, ...args) : err(NOT_FOUND);
