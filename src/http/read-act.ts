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

/** The nonce of each request. */
const nonces = new WeakMap<Asker, string>();

function readNonce(c: Asker): string {
  const nonce = nonces.get(c) ?? crypto.randomUUID();
  nonces.set(c, nonce);
  return nonce;
}

const buildAct = (c: Asker, actor: AuditActor): Act => ({ actor, request_id: c.get("requestId"), nonce: readNonce(c) });

/** A request below `/v1/admin` has an admin, every other one a principal. Their absence is a defect. */
export const readAct = (c: Asker): Act => buildAct(c, readActor(c));

/** The act of a request that needs no key. */
export const readKeylessAct = (c: Asker): Act => buildAct(c, { kind: "signed_address", id: null });
