/** The deployment in its object: the stores over its SQLite. */
import type { DeploymentApi } from "../app/deployment-api";
import { type AuditLog, createAuditLog } from "../audit/audit-log";
import type { SyncSql } from "../lib/sync-sql";
import { type AdminKeys, createAdminKeys } from "./admin-keys";
import { type Assignments, createAssignments } from "./assignments";
import { migrateDeployment } from "./deployment-schema";
import { createLimitPushes, type LimitPushes, type PushDeps } from "./limit-pushes";
import { createTenantList, type TenantList } from "./tenant-list";
import { createTenantPlans, type TenantPlans } from "./tenant-plans";

/** At about 800 bytes an entry with its indexes, 800 MB of the object's 10 GB: the acts on all tenants are in this one log. */
const MAX_AUDIT_ENTRIES = 1_000_000;

export interface Deployment {
  readonly sql: SyncSql;
  /** To which the chain of the audit log belongs. */
  readonly id: string;
  readonly audit: AuditLog;
  readonly tenants: TenantList;
  readonly adminKeys: AdminKeys;
  readonly plans: TenantPlans;
  readonly assignments: Assignments;
  readonly pushes: LimitPushes;
  readonly scrub: () => Promise<unknown>;
}

/** What the object brings: how to reach tenants' objects, its alarm, and how to scrub what deleted rows left in its files. */
type Reach = Omit<PushDeps, "sql" | "assignments"> & Pick<Deployment, "scrub">;

export type DeploymentCalls = {
  readonly [Name in keyof DeploymentApi]: DeploymentApi[Name] extends (...args: infer A) => Promise<infer T>
    ? (deployment: Deployment, ...args: A) => Promise<T>
    : never;
};

function readId(sql: SyncSql): string {
  const [row] = sql.rows<{ id: string }>("SELECT id FROM deployment");
  if (!row) throw new Error("The row of the deployment is missing");
  return row.id;
}

/** The deployment over its database, whose tables are brought up to date. */
export function openDeployment(sql: SyncSql, { scrub, ...reach }: Reach): Deployment {
  sql.transaction(() => migrateDeployment(sql));
  const plans = createTenantPlans(sql);
  const assignments = createAssignments(sql, plans);
  const pushes = createLimitPushes({ ...reach, sql, assignments });
  const id = readId(sql);
  const audit = createAuditLog({ sql, owner: () => id, now: reach.now, maxEntries: MAX_AUDIT_ENTRIES });
  return { sql, id, audit, tenants: createTenantList(sql), adminKeys: createAdminKeys(sql), plans, assignments, pushes, scrub };
}
