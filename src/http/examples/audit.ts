/** An entry of the audit log whose hashes are true: a test verifies it. */
import { buildGenesis, chainEntry } from "../../app/audit-chain";
import type { AuditEntry, AuditPlace } from "../../contract/audit";
import { ADMIN_KEY_ID, AT, KEY, TENANT } from "./shared";

export const auditPlaceExample: AuditPlace = buildGenesis(TENANT);

export const auditExample: AuditEntry = chainEntry(auditPlaceExample, {
  act: { actor: { kind: "admin", id: ADMIN_KEY_ID }, request_id: "0b0f1f5e-6f0c-4c57-9b3a-8f6c2f1f7a11" },
  subject: { action: "key.created", target: { type: "key", id: KEY }, details: { scopes: ["audit:read"], expires_at: null } },
  at: AT,
});
