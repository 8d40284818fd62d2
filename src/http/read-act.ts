/** Reads who acts, and by which request, for the audit log. */
import type { Act } from "../app/audit-chain";
import type { AuditActor } from "../contract/audit";
import { readPrincipal } from "./auth";
import type { Asker } from "./deps";

function readActor(c: Asker): AuditActor {
  const admin = c.get("admin");
  if (admin) return { kind: "admin", id: admin.key };
  const { key, access_token } = readPrincipal(c);
  return access_token ? { kind: "access_token", id: access_token.id, key } : { kind: "key", id: key };
}

/** A request below `/v1/admin` has an admin, every other one a principal. Their absence is a defect. */
export const readAct = (c: Asker): Act => ({ actor: readActor(c), request_id: c.get("requestId") });
