/** An entry of the audit log whose hashes are true: a test verifies it. */
import { buildGenesis, chainEntry } from "../../app/audit-chain";
import type { AuditEntry, AuditPlace } from "../../contract/audit";
import { ADMIN_KEY_ID, AT, KEY, TENANT } from "./shared";

const REQUEST = "0b0f1f5e-6f0c-4c57-9b3a-8f6c2f1f7a11";

export const auditPlaceExample: AuditPlace = buildGenesis(TENANT);

export const auditExample: AuditEntry = chainEntry(auditPlaceExample, {
  act: { actor: { kind: "admin", id: ADMIN_KEY_ID }, request_id: REQUEST },
  subject: { action: "key.created", target: { type: "key", id: KEY }, details: { scopes: ["audit:read"], expires_at: null } },
  at: AT,
});

export const deploymentPlaceExample: AuditPlace = buildGenesis("deployment_9f86d081884c7d659a2feaa0c55ad015");

export const deploymentAuditExample: AuditEntry = chainEntry(deploymentPlaceExample, {
  act: { actor: { kind: "admin", id: ADMIN_KEY_ID }, request_id: REQUEST },
  subject: {
    action: "key.created",
    target: { type: "tenant", id: TENANT },
    details: { scopes: ["audit:read"], expires_at: null, about: { type: "key", id: KEY }, audit_seq: 1 },
  },
  at: AT,
});
