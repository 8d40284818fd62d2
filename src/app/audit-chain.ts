/**
 * The hash chain of an audit log, which a reader can verify without the service (docs/audit.md). Each entry has the hash of the one before,
 * and the hash of itself: SHA-256 of its canonical JSON (RFC 8785), without the field `hash`. The first entry follows the genesis, which names
 * the owner.
 */
import type { AuditActor, AuditEntry, AuditPlace, AuditSubject } from "../contract/audit";
import { GENERATED_TARGETS } from "../domain/audit-actions";
import type { TenantId } from "../domain/ids";
import { sha256Sync } from "../lib/sha256-sync";

/** The name of this form of the chain, which is part of each genesis. */
export const CHAIN = "longhand-audit-1";

/** Who acts, and by which request. A null `request_id`: no request. */
export interface Act {
  readonly actor: AuditActor;
  readonly request_id: string | null;
  /**
   * Made by this service, once for each request or delivery. The log takes one entry of an action on a target with it, however often the call
   * is repeated. A client can choose `request_id`, so that does not say which requests are one. Absent: every call makes an entry.
   */
  readonly nonce?: string;
}

/** An act that was done elsewhere. `at`: epoch milliseconds. */
export interface PastAct extends Omit<Act, "nonce"> {
  readonly at: number;
}

/** What was done in a session. `seq`: of the last event that the act made, which tells it from the session's other acts. */
export interface SessionAct extends PastAct {
  readonly seq: number;
  readonly subject: AuditSubject;
}

/** What an admin did to a tenant, for the deployment's log. `seq`: of the entry in the tenant's own log. */
export interface TenantAct extends PastAct {
  readonly seq: number;
  readonly subject: AuditSubject;
}

export const toAuditSubject = (
  action: AuditSubject["action"],
  type: AuditSubject["target"]["type"],
  { id, ...details }: AuditSubject["details"] & { readonly id: string },
): AuditSubject => ({ action, target: { type, id }, details });

/** The acts of the service itself that end what an admin began. */
const FINISHED: readonly AuditSubject["action"][] = ["erasure.finished"];
/** The deployment's own log has them already: its object does them, and reports them to the tenant. */
const FROM_DEPLOYMENT: readonly AuditSubject["action"][] = ["limits.changed"];

/**
 * What the deployment's log says of an entry of a tenant's log. Null: the tenant's own people did it. It names the tenant by its id, and in it
 * only what has a generated id, because the deployment's log keeps its entries when the tenant is deleted.
 */
export function toTenantAct(tenant: TenantId, { seq, at, actor, request_id, action, target, details }: AuditEntry): TenantAct | null {
  const isEnd = actor.kind === "system" && FINISHED.includes(action) && target.id === tenant;
  if (!(actor.kind === "admin" || isEnd) || FROM_DEPLOYMENT.includes(action)) return null;
  const about = GENERATED_TARGETS.includes(target.type) && { about: target };
  const subject = { action, target: { type: "tenant", id: tenant } as const, details: { ...details, ...about, audit_seq: seq } };
  return { seq, at, actor, request_id, subject };
}

type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [name: string]: Json };

/** RFC 8785: names in order of their UTF-16 code units, no spaces, texts and numbers as ECMAScript writes them. An absent value is left out. */
function toCanonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toCanonicalJson(member)}`).join(",")}}`;
}

/** The place before the first entry. `owner`: the id of the tenant, or of the deployment. */
export const buildGenesis = (owner: string): AuditPlace => ({ seq: 0, hash: sha256Sync(toCanonicalJson({ chain: CHAIN, owner })) });

const hashEntry = (entry: Omit<AuditEntry, "hash">): string => sha256Sync(toCanonicalJson(entry));

interface ChainedAct {
  readonly act: Act;
  readonly subject: AuditSubject;
  readonly at: number;
  /** Absent: at the time of the act. */
  readonly recorded_at?: number;
}

/** The entry that follows `before`. */
export function chainEntry(before: AuditPlace, { act: { actor, request_id }, subject, at, recorded_at }: ChainedAct): AuditEntry {
  const late = recorded_at !== undefined && recorded_at !== at && { recorded_at };
  const entry = { seq: before.seq + 1, at, ...late, actor, request_id, ...subject, prev: before.hash };
  return { ...entry, hash: hashEntry(entry) };
}
