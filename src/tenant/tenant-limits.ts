/** The limits that apply to the tenant, as the deployment last told its object. */
import type { LimitSet } from "../contract/limits";
import type { SyncSql } from "../lib/sync-sql";

export interface TenantLimits {
  /** Null: the tenant has no limit at all. */
  read(): LimitSet | null;
  /** Keeps the newest: a call that was late or repeated changes nothing. Call it inside a transaction. Returns the newest revision. */
  write(input: { readonly limits: LimitSet; readonly revision: number }): number;
}

const hasLimit = (limits: LimitSet): boolean => Object.values(limits).some((set) => Object.values(set).some((limit) => limit != null));

export function createTenantLimits(sql: SyncSql): TenantLimits {
  return {
    read: () => {
      const [row] = sql.rows<{ limits: string }>("SELECT limits FROM tenant_limits");
      return row ? JSON.parse(row.limits) : null;
    },
    write: ({ limits, revision }) => {
      const [row] = sql.rows<{ revision: number }>(
        `INSERT INTO tenant_limits (one, limits, revision) VALUES (1, ?1, ?2)
         ON CONFLICT (one) DO UPDATE SET limits = iif(revision < ?2, ?1, limits), revision = max(revision, ?2) RETURNING revision`,
        JSON.stringify(hasLimit(limits) ? limits : null),
        revision,
      );
      return row?.revision ?? revision;
    },
  };
}
