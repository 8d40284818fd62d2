/** The calls that the deployment's object answers: one table, from which the object takes its methods. */
import type { DeploymentApi } from "../app/deployment-api";
import type { SyncSql } from "../lib/sync-sql";
import { type AdminKeys, createAdminKeys } from "./admin-keys";
import { migrateDeployment } from "./deployment-schema";
import { createTenantList, type TenantList } from "./tenant-list";
import { createTenantPlans, type TenantPlans } from "./tenant-plans";

export interface Deployment {
  readonly sql: SyncSql;
  readonly tenants: TenantList;
  readonly adminKeys: AdminKeys;
  readonly plans: TenantPlans;
}

type Calls = {
  readonly [Name in keyof DeploymentApi]: DeploymentApi[Name] extends (...args: infer A) => Promise<infer T>
    ? (deployment: Deployment, ...args: A) => Promise<T>
    : never;
};

/** The deployment over its database, whose tables are brought up to date. */
export function openDeployment(sql: SyncSql): Deployment {
  sql.transaction(() => migrateDeployment(sql));
  return { sql, tenants: createTenantList(sql), adminKeys: createAdminKeys(sql), plans: createTenantPlans(sql) };
}

export const deploymentCalls = {
  registerTenants: async ({ sql, tenants }, listed) => ({
    added: sql.transaction(() => listed.filter((tenant) => tenants.register(tenant)).length),
  }),
  closeTenant: async ({ sql, tenants }, tenant, at) => sql.transaction(() => tenants.close(tenant, at)),
  listTenants: async ({ tenants }, query) => tenants.list(query),

  addAdminKey: async ({ sql, adminKeys }, key) => sql.transaction(() => adminKeys.add(key, Date.now())),
  listAdminKeys: async ({ adminKeys }) => adminKeys.list(),
  getAdminKey: async ({ adminKeys }, id) => adminKeys.find(id),
  revokeAdminKey: async ({ sql, adminKeys }, revocation) => sql.transaction(() => adminKeys.revoke(revocation, Date.now())),
  rotateAdminKey: async ({ sql, adminKeys }, rotation) => sql.transaction(() => adminKeys.rotate(rotation, Date.now())),
  authenticateAdmin: async ({ sql, adminKeys }, hash, beside) =>
    sql.transaction(() => adminKeys.authenticate({ hash, beside }, Date.now())),
  noteAdminUse: async ({ adminKeys }, id) => adminKeys.noteUse(id, Date.now()),

  putPlan: async ({ sql, plans }, change) => sql.transaction(() => plans.put(change, Date.now())),
  getPlan: async ({ plans }, name) => plans.find(name),
  listPlans: async ({ plans }) => plans.list(),
  deletePlan: async ({ sql, plans }, name, condition) => sql.transaction(() => plans.remove(name, condition)),
} satisfies Calls;
