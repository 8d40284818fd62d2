import type { Act } from "../../src/app/audit-chain";

/** An act of the service itself, for calls whose entry in the audit log does not matter. */
export const ACT: Act = { actor: { kind: "system", id: null }, request_id: null };
