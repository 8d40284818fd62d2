/** The calls that the deployment's object answers: one table, from which the object takes its methods. */
import type { DeploymentApi } from "../app/deployment-api";
import type { SyncSql } from "../lib/sync-sql";
import { migrateDeployment } from "./deployment-schema";
import { createTenantList, type TenantList } from "./tenant-list";

export interface Deployment {
  readonly sql: SyncSql;
  readonly tenants: TenantList;
}

type Calls = {
  readonly [Name in keyof DeploymentApi]: DeploymentApi[Name] extends (...args: infer A) => Promise<infer T>
    ? (deployment: Deployment, ...args: A) => Promise<T>
    : never;
};

/** The deployment over its database, whose tables are brought up to date. */
export function openDeployment(sql: SyncSql): Deployment {
  sql.transaction(() => migrateDeployment(sql));
  return { sql, tenants: createTenantList(sql) };
}

export const deploymentCalls = {
  registerTenants: async ({ sql, tenants }, listed) => ({
    added: sql.transaction(() => listed.filter((tenant) => tenants.register(tenant)).length),
  }),
  listTenants: async ({ tenants }, query) => tenants.list(query),
} satisfies Calls;
