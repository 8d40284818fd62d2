/** The read model of tenants, as their objects write it. */
import type { SessionId, TenantId } from "../domain/ids";
import type { ErasedSessionUsage, TenantChange } from "./tenant-api";

/** A write replaces what the tenant's last write said. It may throw, and is then repeated. */
export interface TenantProjection {
  write(change: TenantChange): Promise<void>;
  /** Rows that are there are replaced. */
  writeUsage(tenant: TenantId, usage: readonly ErasedSessionUsage[]): Promise<void>;
  /** Removes a part of the usage from before a time, and lets none of it come back. Returns true when none is left. */
  removeUsage(tenant: TenantId, before: number): Promise<boolean>;
  /** Removes the tenant's row and its models. Its sessions go with their erasures, some at a time. */
  close(tenant: TenantId, at: number): Promise<void>;
  /** Removes a part of what is left of the tenant's sessions. Returns true when nothing is left. */
  sweep(tenant: TenantId, at: number): Promise<boolean>;
  /** Takes sessions out of the lists, and refuses what is still sent of them. */
  hide(tenant: TenantId, sessions: readonly SessionId[], at: number): Promise<void>;
}
