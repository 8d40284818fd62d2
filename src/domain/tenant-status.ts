/** Whether a tenant is served. A suspended one keeps everything, and none of its keys opens anything. */
export const TENANT_STATUSES = ["active", "suspended", "deleted"] as const;
export type TenantStatus = (typeof TENANT_STATUSES)[number];

export interface Standing {
  readonly status: TenantStatus;
  /** Null unless the tenant is suspended. */
  readonly suspended_at: number | null;
  readonly reason: string | null;
}
