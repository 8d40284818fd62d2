/** The calls that the deployment's object answers: one table, from which the object takes its methods. */
import { auditedDeploymentCalls } from "./audited-calls";
import type { DeploymentCalls } from "./deployment";

export const deploymentCalls = {
  ...auditedDeploymentCalls,
  registerTenants: async ({ sql, tenants }, listed) => ({
    added: sql.transaction(() => listed.filter((tenant) => tenants.register(tenant)).length),
  }),
  closeTenant: async ({ sql, tenants, scrub }, tenant, at) => {
    sql.transaction(() => tenants.close(tenant, at));
    // The tenant's object repeats the call until it is answered.
    await scrub();
  },
  listTenants: async ({ tenants }, query) => tenants.list(query),

  listAdminKeys: async ({ adminKeys }) => adminKeys.list(),
  getAdminKey: async ({ adminKeys }, id) => adminKeys.find(id),
  authenticateAdmin: async ({ sql, adminKeys }, hash, beside) =>
    sql.transaction(() => adminKeys.authenticate({ hash, beside }, Date.now())),
  noteAdminUse: async ({ adminKeys }, id) => adminKeys.noteUse(id, Date.now()),

  getPlan: async ({ plans }, name) => plans.find(name),
  listPlans: async ({ plans }) => plans.list(),

  readAudit: async ({ audit }, query) => audit.read(query),
  findAuditStart: async ({ audit, id }, seq) => ({ owner: id, anchor: audit.findPlace(seq) }),
  recordTenantActs: async ({ sql, audit }, tenant, acts) =>
    sql.transaction(() => {
      for (const { seq, at, actor, request_id, subject } of acts)
        audit.append({ actor, request_id, nonce: `${tenant}:${seq}` }, subject, at);
    }),
} satisfies DeploymentCalls;
