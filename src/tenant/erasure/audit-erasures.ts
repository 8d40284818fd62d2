/** What the audit log and the tenant's events say of erasures. An end user is named by the erasure's id alone: the log cannot forget. */
import type { AuditLog } from "../../audit/audit-log";
import type { AuditSubject } from "../../contract/audit";
import { toSessionId } from "../shared/directory";
import type { TenantEvents } from "../shared/tenant-events";
import type { AskedErasure } from "./erasure-receipts";
import type { ErasureNotes } from "./erasures";

function describeErasure({ id, kind, target, forks }: AskedErasure): Pick<AuditSubject, "target" | "details"> {
  const details = { erasure: id, of: kind };
  if (kind === "end_user") return { target: { type: "erasure", id }, details };
  return { target: { type: kind, id: target }, details: { ...details, ...(kind === "session" && { forks }) } };
}

/** The notes of erasures that were asked for, and of those that are done. An erasure that is done again after a repeated request is noted once. */
export function auditErasures(audit: Pick<AuditLog, "append" | "forget">, events?: Pick<TenantEvents, "append">): ErasureNotes {
  return {
    asked: (erasure, act) => {
      if (erasure.kind === "tenant") audit.forget();
      if (act) audit.append(act, { action: "erasure.requested", ...describeErasure(erasure) });
    },
    done: (erasure) => {
      const act = { actor: { kind: "system", id: null }, request_id: null, nonce: erasure.id } as const;
      audit.append(act, { action: "erasure.finished", ...describeErasure(erasure) });
      const { id, kind, target } = erasure;
      const session_id = kind === "session" ? toSessionId(target) : null;
      events?.append({ at: Date.now(), type: "erasure.completed", data: { id, of: kind, session_id } });
    },
  };
}
