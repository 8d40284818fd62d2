/** The calls that the deployment's object answers: one table, from which the object takes its methods. */
import type { DeploymentApi } from "../app/deployment-api";
import { err, ok } from "../lib/result";
import type { SyncSql } from "../lib/sync-sql";
import { type AdminKeys, createAdminKeys } from "./admin-keys";
import { type Assignments, createAssignments } from "./assignments";
import { migrateDeployment } from "./deployment-schema";
import { createLimitPushes, type LimitPushes, type PushDeps } from "./limit-pushes";
import { createTenantList, type TenantList } from "./tenant-list";
import { createTenantPlans, type TenantPlans } from "./tenant-plans";

export interface Deployment {
  readonly sql: SyncSql;
  readonly tenants: TenantList;
  readonly adminKeys: AdminKeys;
  readonly plans: TenantPlans;
  readonly assignments: Assignments;
  readonly pushes: LimitPushes;
  readonly overwrite: () => Promise<void>;
}

/** What the object brings: how to reach tenants' objects, its alarm, and how to overwrite what deleted rows left in its files. */
type Reach = Omit<PushDeps, "sql" | "assignments"> & Pick<Deployment, "overwrite">;

type Calls = {
  readonly [Name in keyof DeploymentApi]: DeploymentApi[Name] extends (...args: infer A) => Promise<infer T>
    ? (deployment: Deployment, ...args: A) => Promise<T>
    : never;
};

/** The deployment over its database, whose tables are brought up to date. */
export function openDeployment(sql: SyncSql, { overwrite, ...reach }: Reach): Deployment {
  sql.transaction(() => migrateDeployment(sql));
  const plans = createTenantPlans(sql);
  const assignments = createAssignments(sql, plans);
  const pushes = createLimitPushes({ ...reach, sql, assignments });
  return { sql, tenants: createTenantList(sql), adminKeys: createAdminKeys(sql), plans, assignments, pushes, overwrite };
}

export const deploymentCalls = {
  registerTenants: async ({ sql, tenants }, listed) => ({
    added: sql.transaction(() => listed.filter((tenant) => tenants.register(tenant)).length),
  }),
  closeTenant: async ({ sql, tenants, overwrite }, tenant, at) => {
    sql.transaction(() => tenants.close(tenant, at));
    // The tenant's object repeats the call until it is answered.
    await overwrite();
  },
  listTenants: async ({ tenants }, query) => tenants.list(query),

  addAdminKey: async ({ sql, adminKeys }, key) => sql.transaction(() => adminKeys.add(key, Date.now())),
  listAdminKeys: async ({ adminKeys }) => adminKeys.list(),
  getAdminKey: async ({ adminKeys }, id) => adminKeys.find(id),
  revokeAdminKey: async ({ sql, adminKeys }, revocation) => sql.transaction(() => adminKeys.revoke(revocation, Date.now())),
  rotateAdminKey: async ({ sql, adminKeys }, rotation) => sql.transaction(() => adminKeys.rotate(rotation, Date.now())),
  authenticateAdmin: async ({ sql, adminKeys }, hash, beside) =>
    sql.transaction(() => adminKeys.authenticate({ hash, beside }, Date.now())),
  noteAdminUse: async ({ adminKeys }, id) => adminKeys.noteUse(id, Date.now()),

  putPlan: async ({ sql, plans, assignments, pushes }, change) => {
    const put = sql.transaction(() => {
      const before = plans.find(change.name);
      const stored = plans.put(change, Date.now());
      if (before.ok && stored.ok && stored.value.version !== before.value.version) assignments.noteChanged(change.name, Date.now());
      return stored;
    });
    pushes.arm();
    return put;
  },
  getPlan: async ({ plans }, name) => plans.find(name),
  listPlans: async ({ plans }) => plans.list(),
  deletePlan: async ({ sql, plans, assignments }, name, condition) =>
    sql.transaction(() => {
      const tenants = assignments.countWith(name);
      return tenants > 0 ? err({ code: "plan_in_use", tenants }) : plans.remove(name, condition);
    }),
  assignPlan: async ({ sql, assignments, pushes }, change) => {
    const changed = sql.transaction(() => assignments.change(change, Date.now()));
    if (!changed.ok || changed.value.confirmed) return changed;
    await pushes.tellNow(change.tenant);
    return ok(assignments.find(change.tenant));
  },
} satisfies Calls;
