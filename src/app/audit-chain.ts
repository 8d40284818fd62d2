/**
 * The hash chain of an audit log, which a reader can verify without the service (docs/audit.md). Each entry has the hash of the one before,
 * and the hash of itself: SHA-256 of its canonical JSON (RFC 8785), without the field `hash`. The first entry follows the genesis, which names
 * the owner.
 */
import type { AuditActor, AuditEntry, AuditPlace, AuditSubject } from "../contract/audit";
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

/** What was done in a session. `seq`: of the last event that the act made, which tells it from the session's other acts. */
export interface SessionAct extends Omit<Act, "nonce"> {
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly subject: AuditSubject;
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

/** The place before the first entry. `owner`: the tenant's id. */
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
