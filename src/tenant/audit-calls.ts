/** The calls about the audit log itself: reading it, and entries of acts that were done elsewhere. */
import type { TenantAuditApi } from "../app/audit-api";
import { ok } from "../lib/result";
import { type Calls, existing, lasting } from "./existing-tenant";

export const auditCalls = {
  recordAct: existing((tenant, act, entry) => {
    tenant.transaction(() => tenant.audit.append(act, entry));
    return ok(null);
  }),
  // A deleted tenant's sessions deliver what they have before they are erased.
  recordSessionActs: lasting((tenant, session, acts) => {
    tenant.transaction(() => {
      for (const { seq, at, actor, request_id, subject } of acts)
        tenant.audit.append({ actor, request_id, nonce: `${session}:${seq}` }, subject, at);
    });
    return ok(null);
  }),
  readAudit: existing(({ audit }, query) => ok(audit.read(query))),
  findAuditPlace: existing(({ audit }, seq) => ok(audit.findPlace(seq))),
} satisfies Pick<Calls, keyof TenantAuditApi>;
