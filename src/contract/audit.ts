/** Entries of the audit log: who did what to what, when, and by which request. They hold ids, names and numbers, never content. */
import { z } from "@hono/zod-openapi";
import { ADMIN_ROLES } from "../domain/admin-roles";
import { AUDIT_ACTIONS, AUDIT_ACTORS, AUDIT_TARGETS } from "../domain/audit-actions";
import { ERASURE_KINDS } from "../domain/erasure-kinds";
import { SCOPES } from "../domain/scopes";
import { time } from "./ids";
import { listView } from "./page";

const auditActor = z
  .strictObject({
    kind: z.enum(AUDIT_ACTORS),
    id: z
      .string()
      .nullable()
      .openapi({ description: "Of the key, access token or admin key. Null for ADMIN_KEY, a signed address and the service itself" }),
    key: z.string().optional().openapi({ description: "The key that made the access token. Absent otherwise" }),
  })
  .openapi("AuditActor");

const auditTarget = z
  .strictObject({
    type: z.enum(AUDIT_TARGETS),
    id: z.string().openapi({ description: "Its id, or the name that the tenant, or an admin, gave to it" }),
  })
  .openapi("AuditTarget");

/** A closed list of ids, numbers and fixed words: there is no field that could hold a text of a client. */
const auditDetails = z
  .strictObject({
    fields: z
      .array(z.string().regex(/^[a-z_]{1,40}$/))
      .readonly()
      .optional()
      .openapi({ description: "The names of the fields that the request named" }),
    scopes: z.array(z.enum(SCOPES)).readonly().optional().openapi({ description: "The scopes of the new key" }),
    expires_at: time.nullable().optional().openapi({ description: "The end of the new key. Null if it does not expire" }),
    replaced_by: z.string().optional().openapi({ description: "The id of the key that comes in its place" }),
    overlap_ms: z.int().optional().openapi({ description: "How long both keys are valid" }),
    number: z.int().optional().openapi({ description: "How many were changed" }),
    from_database: z.string().optional().openapi({ description: "The database that the tenant leaves" }),
    to_database: z.string().optional().openapi({ description: "The database that the tenant is moved to" }),
    of: z.enum(ERASURE_KINDS).optional().openapi({ description: "What the erasure or export is of" }),
    erasure: z.string().optional().openapi({ description: "The id of the erasure" }),
    forks: z.boolean().optional().openapi({ description: "Whether the forks of the session are erased, too" }),
    session: z.string().optional().openapi({ description: "The id of the session that is exported" }),
    message: z.string().optional().openapi({ description: "The id of the message that was redacted" }),
    compaction: z.string().optional().openapi({ description: "The id of the compaction or draft" }),
    event_seq: z.int().optional().openapi({ description: "The last event of the session that the act made" }),
    from_seq: z.int().optional().openapi({ description: "The first event that was read" }),
    to_seq: z.int().optional().openapi({ description: "The last event that was read" }),
    role: z.enum(ADMIN_ROLES).optional().openapi({ description: "The role of the new admin key" }),
    plan: z.string().nullable().optional().openapi({ description: "The tenant plan that the tenant has. Null: none" }),
    version: z.int().optional().openapi({ description: "Counts all changes of plans, and of what tenants may use" }),
    about: auditTarget.optional().openapi({ description: "In the deployment's log: what of the tenant it was done to" }),
    audit_seq: z.int().optional().openapi({ description: "In the deployment's log: the entry of the tenant's own log" }),
  })
  .openapi("AuditDetails");

const hash = (description: string) =>
  z.string().openapi({ description, example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" });

export const auditEntry = z
  .strictObject({
    seq: z.int().openapi({ description: "Counts the entries from 1, without a gap" }),
    at: time,
    recorded_at: time.optional().openapi({ description: "When the entry was made. Absent: at the time of the act" }),
    actor: auditActor,
    action: z.enum(AUDIT_ACTIONS),
    target: auditTarget,
    request_id: z.string().nullable().openapi({ description: "The `x-request-id` of the request. Null if there was none" }),
    details: auditDetails,
    prev: hash("The hash of the entry before"),
    hash: hash("SHA-256 of the entry without this field, as canonical JSON"),
  })
  .openapi("AuditEntry");

/** A place in the chain, and the hash there. */
const auditPlace = z.strictObject({ seq: z.int(), hash: hash("The hash of that entry") }).openapi("AuditPlace");

export const auditPage = listView(auditEntry)
  .extend({
    anchor: auditPlace.openapi({ description: "The place before the oldest entry that is kept. seq 0: none was removed" }),
    head: auditPlace.openapi({ description: "The newest entry. Keep it elsewhere: it shows later that no entry was removed at the end" }),
  })
  .openapi("AuditPage");

export type AuditEntry = z.infer<typeof auditEntry>;
export type AuditPlace = z.infer<typeof auditPlace>;
export type AuditActor = z.infer<typeof auditActor>;
export type AuditSubject = Pick<AuditEntry, "action" | "target" | "details">;
