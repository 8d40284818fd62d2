/** The limits that apply to the tenant, as the deployment last told its object. */
import type { AssignedLimits } from "../../app/tenant-limits-api";
import type { LimitSet } from "../../contract/limits";
import type { SyncSql } from "../../lib/sync-sql";

export interface TenantLimits {
  /** Null: the tenant has no limit at all. */
  read(): LimitSet | null;
  /** Keeps the newest: a call that was late or repeated changes nothing. Call it inside a transaction. Returns the newest revision. */
  write(assigned: AssignedLimits): number;
  /** Null: the deployment told nothing. */
  readAssigned(): AssignedLimits | null;
}

type LimitsRow = { readonly limits: string; readonly revision: number; readonly plan: string | null; readonly budgets: string };

const NO_LIMITS: LimitSet = { tenant: {}, key: {}, end_user: {} };

const hasLimit = (limits: LimitSet): boolean => Object.values(limits).some((set) => Object.values(set).some((limit) => limit != null));

export function createTenantLimits(sql: SyncSql): TenantLimits {
  return {
    read: () => {
      const [row] = sql.rows<{ limits: string }>("SELECT limits FROM tenant_limits");
      return row ? JSON.parse(row.limits) : null;
    },
    readAssigned: () => {
      const [row] = sql.rows<LimitsRow>("SELECT limits, revision, plan, budgets FROM tenant_limits");
      if (!row) return null;
      const limits: LimitSet = JSON.parse(row.limits) ?? NO_LIMITS;
      return { revision: row.revision, plan: row.plan, limits, budgets: JSON.parse(row.budgets) };
    },
    write: ({ limits, revision, plan = null, budgets = [] }) => {
      const [row] = sql.rows<{ revision: number }>(
        `INSERT INTO tenant_limits (one, limits, revision, plan, budgets) VALUES (1, ?1, ?2, ?3, ?4)
         ON CONFLICT (one) DO UPDATE SET limits = iif(revision < ?2, ?1, limits), plan = iif(revision < ?2, ?3, plan),
           budgets = iif(revision < ?2, ?4, budgets), revision = max(revision, ?2) RETURNING revision`,
        JSON.stringify(hasLimit(limits) ? limits : null),
        revision,
        plan,
        JSON.stringify(budgets),
      );
      return row?.revision ?? revision;
    },
  };
}
