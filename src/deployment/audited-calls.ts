/**
 * The calls by which the deployment is changed. Each makes its entry in the audit log in the same transaction, so that nothing is done without
 * an entry, and no entry says what was not done.
 */
import { type Act, type PastAct, toAuditSubject } from "../app/audit-chain";
import { type Audited, auditing } from "../audit/audit-log";
import { err, ok, type Result } from "../lib/result";
import type { Deployment, DeploymentCalls } from "./deployment";

/** Makes the change and its entry in one transaction. */
const change = <T, E>({ sql, audit }: Deployment, audited: Audited<T>, body: () => Result<T, E>): Result<T, E> =>
  sql.transaction(auditing(audit, audited, body));

const toPastAct = ({ actor, request_id }: Act, at: number): PastAct => ({ actor, request_id, at });

const addAdminKey: DeploymentCalls["addAdminKey"] = async (deployment, act, key) => {
  const { id, role, expires_at } = key;
  // A repeated request returns the key that the first one made.
  const describe = (made: { readonly id: string }) =>
    made.id === id ? toAuditSubject("admin_key.created", "admin_key", { id, role, expires_at }) : null;
  return change(deployment, { act, describe }, () => deployment.adminKeys.add(key, Date.now()));
};

const rotateAdminKey: DeploymentCalls["rotateAdminKey"] = async (deployment, act, rotation) => {
  const { old: id, next, overlap: overlap_ms } = rotation;
  const entry = toAuditSubject("admin_key.rotated", "admin_key", { id, replaced_by: next.id, overlap_ms });
  const describe = (made: { readonly id: string }) => (made.id === next.id ? entry : null);
  return change(deployment, { act, describe }, () => deployment.adminKeys.rotate(rotation, Date.now()));
};

const revokeAdminKey: DeploymentCalls["revokeAdminKey"] = async (deployment, act, revocation) => {
  const { id } = revocation;
  const before = deployment.adminKeys.find(id);
  const wasRevoked = before.ok && before.value.revoked_at !== null;
  const describe = () => (wasRevoked ? null : toAuditSubject("admin_key.revoked", "admin_key", { id }));
  return change(deployment, { act, describe }, () => deployment.adminKeys.revoke(revocation, Date.now()));
};

const putPlan: DeploymentCalls["putPlan"] = async (deployment, act, input) => {
  const { plans, assignments, pushes } = deployment;
  const { name: id } = input;
  const before = plans.find(id);
  const known = before.ok ? before.value.version : null;
  const describe = ({ version }: { readonly version: number }) =>
    version === known ? null : toAuditSubject("plan.put", "plan", { id, version });
  const put = change(deployment, { act, describe }, () => {
    const now = Date.now();
    const stored = plans.put(input, toPastAct(act, now));
    if (known !== null && stored.ok && stored.value.version !== known) assignments.noteChanged(id, now);
    return stored;
  });
  pushes.arm();
  return put;
};

const deletePlan: DeploymentCalls["deletePlan"] = async (deployment, act, id, condition) => {
  const describe = () => toAuditSubject("plan.deleted", "plan", { id });
  return change(deployment, { act, describe }, () => {
    const tenants = deployment.assignments.countWith(id);
    return tenants > 0 ? err({ code: "plan_in_use", tenants }) : deployment.plans.remove(id, condition);
  });
};

const assignPlan: DeploymentCalls["assignPlan"] = async (deployment, act, assigned) => {
  const { assignments, pushes } = deployment;
  const { tenant: id, ...named } = assigned;
  const before = assignments.find(id).version;
  const describe = ({ version, plan }: { readonly version: number; readonly plan: string | null }) =>
    version === before ? null : toAuditSubject("limits.changed", "tenant", { id, fields: Object.keys(named).sort(), plan, version });
  const changed = change(deployment, { act, describe }, () => assignments.change(assigned, toPastAct(act, Date.now())));
  if (!changed.ok || changed.value.confirmed) return changed;
  await pushes.tellNow(id);
  return ok(assignments.find(id));
};

const rebuildTenantList: DeploymentCalls["rebuildTenantList"] = async ({ sql, tenants, audit, id }, act, listed) =>
  sql.transaction(() => {
    const added = listed.filter((tenant) => tenants.register(tenant)).length;
    audit.append(act, toAuditSubject("tenant_list.rebuilt", "deployment", { id, number: added }));
    return { added };
  });

export const auditedDeploymentCalls = {
  addAdminKey,
  rotateAdminKey,
  revokeAdminKey,
  putPlan,
  deletePlan,
  assignPlan,
  rebuildTenantList,
} satisfies Partial<DeploymentCalls>;
